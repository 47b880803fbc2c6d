//go:build !chaos

package main

import "time"

// The size of the long tests, small enough for every run of the tests. "make chaos" runs long ones.
const (
	stormSchedules = 300
	stormChats     = 30
	stormTime      = 12 * time.Second
	stormInterval  = 2500 * time.Millisecond // between two kills
	stormRestarts  = 1
	approvalKills  = 6 // rounds with a question, each with one to three kills
	rounds         = 4 // of messages to rooms that change
	pooledRounds   = 2 // the same through a pooler
	stopEvery      = 4 // multis init is stopped at one question of so many, and at the last
	signalsEach    = 3 // how often a signal ends multis init
)
