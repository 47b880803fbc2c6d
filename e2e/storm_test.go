//go:build e2e && !chaos

package e2e

// How big the storms are: enough to see every way in which they can go wrong, short enough for every change.
const (
	kills   = 20
	burst   = 60  // more than one poll of the sync holds
	history = 300 // lines of one chat
	chats   = 1   // that bring a history
)
