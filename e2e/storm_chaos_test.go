//go:build e2e && chaos

package e2e

// How big the storms are when there is time.
const (
	kills   = 50
	burst   = 300
	history = 500
	chats   = 20
)
