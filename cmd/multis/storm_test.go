//go:build !chaos

package main

import "time"

// The size of the load test of schedules, small enough for every run of the tests. "make chaos" runs a long one.
const (
	stormSchedules = 300
	stormChats     = 30
	stormTime      = 12 * time.Second
	stormInterval  = 2500 * time.Millisecond // between two kills
	stormRestarts  = 1
	approvalKills  = 6 // rounds with a question, each with one to three kills
)
