// Package e2e tests multis end to end: with Synapse, a bridge built on mautrix' bridgev2 over a simulated network, a Matrix client of
// the owner, and multis as a process that is killed, doubled and disconnected. The tests share a few worlds and talk in chats of their
// own; each starts its own multis on a database of its own. The build tag e2e turns them on.
package e2e
