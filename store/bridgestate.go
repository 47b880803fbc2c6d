package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/store/row"
)

// BridgeState is the state of a bridge's connection to its network.
type BridgeState struct {
	ID        int64
	Bot       id.UserID
	Login     string // the owner's login; empty if the bridge did not name one
	Protocol  string
	Reason    string // the problem in words; empty while it is up
	ChangedAt time.Time
	DownSince *time.Time // nil while it is up
	WasDown   *time.Time // the beginning of the last outage; nil if there was none
}

const bridgeStateColumns = "s.id, s.bot, s.login, s.protocol, s.reason, s.changed_at, s.down_since, s.was_down"

const protocolOfSQL = `select protocol from chats where bridge_bot = $1
	and not exists (select from bridge_bots where bot = $1 and confirmed_at is null) order by id limit 1`

// ProtocolOf returns the network of a confirmed bridge bot that has chats, or ErrNotFound.
func ProtocolOf(ctx context.Context, db DB, bot id.UserID) (string, error) {
	return row.Value[string](ctx, db, "bridge", protocolOfSQL, bot)
}

const isOwnLoginSQL = `select $2 = '' or not exists (select from chats where bridge_bot = $1 and receiver <> '')
	or exists (select from chats where bridge_bot = $1 and receiver = $2)`

// IsOwnLogin reports whether a login of a bridge is the owner's: chats of his belong to it, or the bridge names no logins.
func IsOwnLogin(ctx context.Context, db DB, bot id.UserID, login string) (bool, error) {
	return row.Value[bool](ctx, db, "login", isOwnLoginSQL, bot, text.Storable(login))
}

const isOfOwnerSQL = `select exists (select from outbox where chat_id = $1 and event_id = $2)
	or exists (select from messages where chat_id = $1 and event_id = $2 and author in ('owner_client', 'owner_phone', 'multis_owner'))`

// IsOfOwner reports whether the owner or multis wrote an event of a chat. Others may write in it through the bridge's relay.
func IsOfOwner(ctx context.Context, db DB, chat ChatID, event id.EventID) (bool, error) {
	return row.Value[bool](ctx, db, "author of a failed message", isOfOwnerSQL, chat, event)
}

const markBridgeDownSQL = `insert into bridge_states as s (bot, login, protocol, reason, changed_at, down_since) values (@bot, @login, @protocol, @why, @at, @at)
	on conflict (bot, login) do update set reason = excluded.reason, changed_at = excluded.changed_at, down_since = coalesce(s.down_since, excluded.down_since)
		where s.changed_at < excluded.changed_at and (s.down_since is null or (excluded.reason = @ended and s.reason <> @ended))
	returning id`

// MarkBridgeDown stores that a bridge has lost its network. first is true if the owner is to be notified: the connection was up, or it was
// down and now the network has ended the login, which never recovers by itself.
func MarkBridgeDown(ctx context.Context, tx Tx, s BridgeState) (state int64, first bool, err error) {
	state, err = row.Value[int64](ctx, tx, "bridge state", markBridgeDownSQL, pgx.NamedArgs{
		"bot": s.Bot, "login": text.Storable(s.Login), "protocol": s.Protocol, "why": text.Storable(s.Reason), "at": s.ChangedAt,
		"ended": bridgebridge.LoggedOut,
	})
	if errors.Is(err, ErrNotFound) {
		return 0, false, nil
	}
	return state, err == nil, err
}

const markBridgeUpSQL = `update bridge_states set was_down = down_since, down_since = null, reason = '', changed_at = $3
	where bot = $1 and ($2 = '' or login in ($2, '')) and down_since is not null and changed_at < $3 returning id`

// MarkBridgeUp stores that a bridge is connected again and returns the states that were down. An empty login means all logins.
func MarkBridgeUp(ctx context.Context, tx Tx, bot id.UserID, login string, at time.Time) ([]int64, error) {
	return row.Values[int64](ctx, tx, "bridge states", markBridgeUpSQL, bot, text.Storable(login), at)
}

// isRecoveredSQL is the condition that a row s of bridge_states is marked as down, although contacts of its login have written since.
const isRecoveredSQL = `s.down_since is not null and s.login <> '' and exists (select from messages m join chats c on c.id = m.chat_id
		where c.bridge_bot = s.bot and c.receiver = s.login and m.author = 'contact' and m.ts > s.changed_at + interval '1 minute')`

const markRecoveredBridgesSQL = `update bridge_states s set was_down = down_since, down_since = null, reason = '', changed_at = now()
	where ` + isRecoveredSQL + ` returning id`

// MarkRecoveredBridges marks those logins as up whose contacts have written again, and returns their states. It is needed
// because a bridge that was restarted does not announce that it is up. isRecoveredSQL waits a minute, because clocks
// differ.
func MarkRecoveredBridges(ctx context.Context, tx Tx) ([]int64, error) {
	return row.Values[int64](ctx, tx, "logins that work again", markRecoveredBridgesSQL)
}

const bridgeStateByIDSQL = "select " + bridgeStateColumns + " from bridge_states s where s.id = $1"

// BridgeStateByID returns one state, or ErrNotFound.
func BridgeStateByID(ctx context.Context, db DB, state int64) (BridgeState, error) {
	return row.One[BridgeState](ctx, db, "bridge state", bridgeStateByIDSQL, state)
}

const bridgesDownSQL = "select " + bridgeStateColumns + " from bridge_states s where s.down_since is not null order by s.down_since, s.id"

// BridgesDown returns the connections that are down, the oldest first.
func BridgesDown(ctx context.Context, db DB) ([]BridgeState, error) {
	return row.All[BridgeState](ctx, db, "bridge states", bridgesDownSQL)
}

// silentSQL selects the outbox messages o, with their chats c, that show that a bridge is silent: it confirmed messages
// before, but neither this one nor any later one.
const silentSQL = ` from outbox o join chats c on c.id = o.chat_id
	where o.state = 'sent' and o.send_as = 'owner' and o.sent_at between now() - interval '1 hour' and now() - interval '3 minutes' and c.bridge_bot <> ''
		and exists (select from outbox d join chats e on e.id = d.chat_id where e.bridge_bot = c.bridge_bot and d.delivered_at is not null)
		and not exists (select from outbox d join chats e on e.id = d.chat_id where e.bridge_bot = c.bridge_bot and d.delivered_at > o.sent_at)
		and not exists (select from bridge_states x where x.bot = c.bridge_bot and x.down_since is not null)`

const markSilentBridgesSQL = `insert into bridge_states as s (bot, login, protocol, reason, changed_at, down_since)
	select distinct on (c.bridge_bot) c.bridge_bot, '', c.protocol, $1, now(), o.sent_at` + silentSQL + `
	order by c.bridge_bot, o.sent_at
	on conflict (bot, login) do update set reason = excluded.reason, changed_at = excluded.changed_at, down_since = excluded.down_since where s.down_since is null
	returning id`

const hasChangedBridgesSQL = "select exists (select" + silentSQL + ") or exists (select from bridge_states s where " + isRecoveredSQL + ")"

// HasChangedBridges reports whether MarkSilentBridges or MarkRecoveredBridges would mark any.
func HasChangedBridges(ctx context.Context, db DB) (bool, error) {
	return row.Value[bool](ctx, db, "bridges", hasChangedBridgesSQL)
}

// SilentBridge is the reason of a bridge that no longer confirms messages, although it did before.
const SilentBridge = "no answer"

// MarkSilentBridges marks the bridges as down that have not confirmed messages for some minutes, although they did before. It returns
// their states.
func MarkSilentBridges(ctx context.Context, tx Tx) ([]int64, error) {
	return row.Values[int64](ctx, tx, "silent bridges", markSilentBridgesSQL, SilentBridge)
}
