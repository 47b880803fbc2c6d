package store

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// BridgeBot is a bot that claims rooms the way a bridge does.
type BridgeBot struct {
	ID          int64
	Bot         id.UserID
	Protocol    string // of its first claim
	MetAt       time.Time
	ConfirmedAt *time.Time // nil until the owner confirms that it is a bridge
	RefusedAt   *time.Time
}

const bridgeBotColumns = "b.id, b.bot, b.protocol, b.met_at, b.confirmed_at, b.refused_at"

const bridgeBotOfSQL = "select " + bridgeBotColumns + " from bridge_bots b where b.bot = $1"

const addBridgeBotSQL = `insert into bridge_bots as b (bot, protocol, confirmed_at) select $1, $2, case when $3
		or exists (select from chats where bridge_bot = $1) or exists (select from bridge_changes where accepted and new_bot = $1) then now() end
	on conflict do nothing returning ` + bridgeBotColumns

const proveBridgeBotSQL = "update bridge_bots b set confirmed_at = now() where b.bot = $1 and b.refused_at is null and b.confirmed_at is null"

// InsertBridgeBot stores a bot that claims a room, and returns it with its state. first is true if it was not stored
// before. proven confirms the bot, because the room shows that it is a bridge. A bot that already has chats, or that the
// owner accepted as the replacement of another, is confirmed too.
func InsertBridgeBot(ctx context.Context, tx Tx, bot id.UserID, protocol string, proven bool) (known BridgeBot, first bool, err error) {
	known, err = row.One[BridgeBot](ctx, tx, "bridge bot", addBridgeBotSQL, bot, protocol, proven)
	if !errors.Is(err, ErrNotFound) {
		return known, err == nil, err
	}
	if proven {
		if err := row.Exec(ctx, tx, "confirm a bridge", proveBridgeBotSQL, bot); err != nil {
			return BridgeBot{}, false, err
		}
	}
	known, err = row.One[BridgeBot](ctx, tx, "bridge bot", bridgeBotOfSQL, bot)
	return known, false, err
}

const bridgeBotByIDSQL = "select " + bridgeBotColumns + " from bridge_bots b where b.id = $1"

// BridgeBotByID returns one bot, or ErrNotFound.
func BridgeBotByID(ctx context.Context, db DB, bot int64) (BridgeBot, error) {
	return row.One[BridgeBot](ctx, db, "bridge bot", bridgeBotByIDSQL, bot)
}

const unconfirmedBotsSQL = "select " + bridgeBotColumns +
	" from bridge_bots b where b.confirmed_at is null order by b.refused_at nulls first, b.id"

// UnconfirmedBots returns the bots that are not confirmed, the undecided ones first.
func UnconfirmedBots(ctx context.Context, db DB) ([]BridgeBot, error) {
	return row.All[BridgeBot](ctx, db, "unconfirmed bridges", unconfirmedBotsSQL)
}

// MaxBridgeBots limits the bots that wait for the owner's decision, so that strangers cannot fill the admin room.
const MaxBridgeBots = 10

const decideBridgeBotSQL = `update bridge_bots set confirmed_at = case when $2 then now() end, refused_at = case when not $2 then now() end where id = $1`

const closeRefusedSQL = "update chats set closed_reason = $2, room_id = null where bridge_bot = (select bot from bridge_bots where id = $1)"

// ClosedRefused is the reason of a chat that is closed because the owner refused its bot.
const ClosedRefused = "you said that its bridge is not yours"

// DecideBridgeBot stores the owner's decision on a bot. The chats of a refused bot are closed.
func DecideBridgeBot(ctx context.Context, tx Tx, bot int64, confirmed bool) error {
	err := row.Exec(ctx, tx, "decide about a bridge", decideBridgeBotSQL, bot, confirmed)
	if err != nil {
		return err
	}
	if confirmed {
		return nil
	}
	return row.Exec(ctx, tx, "close the chats of a refused bridge", closeRefusedSQL, bot, ClosedRefused)
}

const closeUnconfirmedSQL = `update chats set channel_id = left(channel_id, 255) || ' of ' || bridge_bot, room_id = null, former_room = null, closed_reason = $2 where id = $1`

// CloseUnconfirmed closes a chat that an unconfirmed bot created for a channel, so that the real bridge can have that channel.
func CloseUnconfirmed(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "set a chat aside", closeUnconfirmedSQL, chat, ClosedOtherBridge)
}

// ClosedOtherBridge is the reason of a chat that is closed because its channel is another bridge's.
const ClosedOtherBridge = "its channel is another bridge's"
