//go:build chaos

package main

import "time"

const (
	stormSchedules = 10_000
	stormChats     = 500
	stormTime      = 8 * time.Minute
	stormInterval  = 5 * time.Second
	stormRestarts  = 4
	approvalKills  = 200 // rounds with a question, each with one to three kills
	rounds         = 30
	pooledRounds   = 10
	stopEvery      = 1
	signalsEach    = 20
)
