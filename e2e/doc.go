// Package e2e holds the end-to-end tests, which the build tag e2e turns on: multis as a process, with a real Synapse and a
// real bridge.
package e2e
