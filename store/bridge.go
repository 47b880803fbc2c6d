package store

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// BridgeChange is a bot that claims the chats of another bot: a bridge that was installed again, or an impostor.
type BridgeChange struct {
	ID        int64
	Protocol  string
	OldBot    id.UserID
	NewBot    id.UserID
	AskedAt   time.Time
	DecidedAt *time.Time
	Accepted  bool
	// Chats is the number of the old bot's chats.
	Chats int
}

const bridgeChangeColumns = `b.id, b.protocol, b.old_bot, b.new_bot, b.asked_at, b.decided_at, b.accepted,
	(select count(*) from chats c where c.protocol = b.protocol and c.bridge_bot = b.old_bot) as chats`

const maxBridgeChanges = 10 // limits the open ones, so that strangers cannot fill the admin room

const insertBridgeChangeSQL = `insert into bridge_changes (protocol, old_bot, new_bot)
	select $1, $2, $3 where (select count(*) from bridge_changes where decided_at is null) < $4
		and not exists (select from bridge_changes where accepted and protocol = $1 and old_bot = $3 and new_bot = $2)
	on conflict do nothing returning id`

// InsertBridgeChange stores that a bot claims a chat of another one. first is true if the owner has not been asked about
// it. A claim by a bot that oldBot itself replaced is ignored.
func InsertBridgeChange(ctx context.Context, tx Tx, protocol string, oldBot, newBot id.UserID) (change int64, first bool, err error) {
	change, err = row.Value[int64](ctx, tx, "bridge change", insertBridgeChangeSQL, protocol, oldBot, newBot, maxBridgeChanges)
	if errors.Is(err, ErrNotFound) {
		return 0, false, nil
	}
	return change, err == nil, err
}

const bridgeChangeByIDSQL = "select " + bridgeChangeColumns + " from bridge_changes b where b.id = $1"

// BridgeChangeByID returns one change, or ErrNotFound.
func BridgeChangeByID(ctx context.Context, db DB, change int64) (BridgeChange, error) {
	return row.One[BridgeChange](ctx, db, "bridge change", bridgeChangeByIDSQL, change)
}

const unacceptedBridgeChangesSQL = "select " + bridgeChangeColumns +
	" from bridge_changes b where not b.accepted order by b.decided_at nulls first, b.id"

// UnacceptedBridgeChanges returns the changes that were not accepted, the undecided ones first.
func UnacceptedBridgeChanges(ctx context.Context, db DB) ([]BridgeChange, error) {
	return row.All[BridgeChange](ctx, db, "bridge changes", unacceptedBridgeChangesSQL)
}

const decideBridgeChangeSQL = "update bridge_changes set accepted = $2, decided_at = now() where id = $1"

// DecideBridgeChange stores whether the owner accepted a change of bridges.
func DecideBridgeChange(ctx context.Context, tx Tx, change int64, accepted bool) error {
	return row.Exec(ctx, tx, "decide a bridge's change", decideBridgeChangeSQL, change, accepted)
}

const setBridgeBotSQL = "update chats set bridge_bot = $3 where id = $1 and bridge_bot = $2"

// SetBridgeBot assigns a chat to newBot, because oldBot announced newBot as its successor.
func SetBridgeBot(ctx context.Context, tx Tx, chat ChatID, oldBot, newBot id.UserID) error {
	return row.Exec(ctx, tx, "move a chat to another bridge", setBridgeBotSQL, chat, oldBot, newBot)
}

// Bridge is the bot of a bridge and its protocol, with the number of its direct chats and groups in use.
type Bridge struct {
	Protocol string
	Bot      id.UserID
	Chats    int
}

const bridgesSQL = `select c.protocol, c.bridge_bot as bot, count(*) as chats from chats c
	where c.bridge_bot <> '' and c.closed_reason = '' and c.kind in ('dm', 'group') group by 1, 2 order by 3 desc, 1, 2`

// Bridges returns the bridges that have chats in use, the biggest first.
func Bridges(ctx context.Context, db DB) ([]Bridge, error) {
	return row.All[Bridge](ctx, db, "bridges", bridgesSQL)
}
