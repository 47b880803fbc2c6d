package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/store/row"
)

const chatByChannelSQL = "select " + chatColumns + " from chats c where (c.protocol, c.channel_id, c.receiver) = ($1, $2, $3)"

// ChatByChannel returns the chat of a bridge's channel, or ErrNotFound.
func ChatByChannel(ctx context.Context, db DB, protocol, channel, receiver string) (Chat, error) {
	return oneChat(ctx, db, chatByChannelSQL, protocol, channel, receiver)
}

// isAcceptedBotSQL is the condition that a chat c is of @bot, or of a bot that the owner let @bot replace.
const isAcceptedBotSQL = `(c.bridge_bot = @bot or exists (select from bridge_changes b where b.accepted and b.old_bot = c.bridge_bot and b.new_bot = @bot))`

// moveChannelSQL gives the chat of a room the channel that its bot claims now, unless another chat has it.
const moveChannelSQL = `update chats c set protocol = @protocol, channel_id = @channel, receiver = @receiver
	where (c.room_id = @room or c.id = @id) and c.kind <> 'admin' and ` + isAcceptedBotSQL + `
		and not exists (select from chats o where (o.protocol, o.channel_id, o.receiver) = (@protocol, @channel, @receiver))`

const isTakenRoomSQL = `select exists (select from chats c where c.room_id = @room and c.kind <> 'admin' and not ` + isAcceptedBotSQL + ")"

const freeRoomSQL = "update chats set room_id = null where room_id = @room and (protocol, channel_id, receiver) <> (@protocol, @channel, @receiver)"

const upsertChatSQL = `insert into chats as c (protocol, channel_id, receiver, room_id, kind, name, owner_name, contact, bridge_bot, self_ghost, encrypted, closed_reason, claimed_at)
	values (@protocol, @channel, @receiver, @room, @kind, @name, @owner_name, @contact, @bot, @ghost, @encrypted, @closed, @claimed)
	on conflict (protocol, channel_id, receiver) do update set room_id = excluded.room_id, kind = excluded.kind, name = excluded.name,
		owner_name = coalesce(nullif(excluded.owner_name, ''), c.owner_name), contact = excluded.contact, bridge_bot = excluded.bridge_bot, self_ghost = excluded.self_ghost, encrypted = case when c.room_id = excluded.room_id and c.encrypted = 'yes' then 'yes' else excluded.encrypted end, closed_reason = excluded.closed_reason,
		claimed_at = excluded.claimed_at, former_room = case when c.room_id <> excluded.room_id then c.room_id else c.former_room end,
		moved_at = case when c.room_id <> excluded.room_id then now() else c.moved_at end
		where (c.bridge_bot = excluded.bridge_bot and (c.room_id is null or c.room_id = excluded.room_id or (excluded.closed_reason = '' and excluded.claimed_at >= c.claimed_at)))
			or (excluded.closed_reason = '' and exists (select from bridge_changes b
				where b.accepted and b.old_bot = c.bridge_bot and b.new_bot = excluded.bridge_bot))
	returning ` + chatColumns

// ErrOtherRoom is returned by UpsertChat for a room that must not become the chat's room: it was claimed by another bot,
// which anybody could run, or before the chat's present room was claimed, or it is closed.
var ErrOtherRoom = errors.New("the chat lives in another room")

// UpsertChat stores what a room's state says about a chat. The chat is the one with this id, if it is not zero, or the one that the
// same bot brought into this room, else the one of this channel. It keeps its mode, memory and history, whichever of the two has changed.
func UpsertChat(ctx context.Context, tx Tx, c Chat) (Chat, error) {
	args := pgx.NamedArgs{
		"id": c.ID, "protocol": c.Protocol, "channel": c.ChannelID, "receiver": c.Login, "room": c.RoomID, "kind": c.Kind, "name": text.Storable(c.Name),
		"owner_name": text.Storable(c.OwnerName),
		"contact":    c.Contact, "bot": c.BridgeBot, "ghost": c.SelfGhost, "encrypted": c.Encryption, "closed": c.ClosedReason,
		"claimed": c.ClaimedAt,
	}
	taken, err := row.Value[bool](ctx, tx, "room of another bridge", isTakenRoomSQL, args)
	if err != nil {
		return Chat{}, err
	}
	if taken {
		return Chat{}, ErrOtherRoom
	}
	if err := row.Exec(ctx, tx, "move a chat to another channel", moveChannelSQL, args); err != nil {
		return Chat{}, err
	}
	if _, err := tx.Exec(ctx, freeRoomSQL, args); err != nil {
		return Chat{}, fmt.Errorf("free room of chat: %w", err)
	}
	chat, err := oneChat(ctx, tx, upsertChatSQL, args)
	if errors.Is(err, ErrNotFound) {
		return Chat{}, ErrOtherRoom
	}
	if err != nil {
		return Chat{}, err
	}
	chat.Features = c.Features
	return chat, row.Exec(ctx, tx, "note what the network takes", setFeaturesSQL, chat.ID, c.Features)
}

const setFeaturesSQL = "update chats set features = $2 where id = $1 and features is distinct from $2"

const evidenceSQL = `select
	array(select c.self_ghost from chats c where c.bridge_bot = @bot and c.receiver = @receiver and c.self_ghost <> ''
		and not exists (select from chats o where o.bridge_bot = @bot and o.receiver = @receiver and o.contact = c.self_ghost)
		group by 1 having count(*) > 1 order by 1) as own_ghosts,
	array(select contact from chats where room_id = @room and bridge_bot = @bot and contact <> ''
		union select p.contact from chat_claims p join chats c on c.id = p.chat_id
			where c.room_id = @room and p.bridge_bot = @bot and p.contact <> '' order by 1) as contacts,
	exists (select from chats where room_id = @room and bridge_bot = @bot and kind = 'self') as is_self`

// EvidenceFor returns what earlier claims of a bridge show about the ghosts in the room of p. A ghost is the owner's own if it is so
// in several chats of his login, and the contact in none.
func EvidenceFor(ctx context.Context, db DB, room id.RoomID, p bridgebridge.Portal) (bridgebridge.Evidence, error) {
	return row.One[bridgebridge.Evidence](ctx, db, "evidence about a chat", evidenceSQL,
		pgx.NamedArgs{"room": room, "bot": p.BridgeBot, "receiver": p.Login})
}
