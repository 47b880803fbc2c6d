//go:build e2e && !chaos

package e2e

// How big the storms are: enough to see every way in which they can go wrong, short enough for every change.
const (
	kills   = 20
	burst   = 30
	history = 300
)
