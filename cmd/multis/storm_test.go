//go:build !chaos

package main

import "time"

// How big the storm of schedules is: small enough for every run of the tests. "make chaos" has the long one.
const (
	stormSchedules = 300
	stormChats     = 30
	stormTime      = 12 * time.Second
	stormEvery     = 2500 * time.Millisecond // between two kills
	stormRestarts  = 1
)
