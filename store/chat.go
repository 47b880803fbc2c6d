package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/policy"
	"multis/store/row"
)

// Chat is a conversation. Its id stays when its bridge gives it another room or channel: see UpsertChat.
type Chat struct {
	ID        ChatID
	Protocol  string
	ChannelID string
	// Login is the id of the login of the bridge that the chat belongs to; empty where all logins share it. mautrix calls it the receiver.
	Login string `db:"receiver"`
	// RoomID is nil if the chat has no room any more.
	RoomID *id.RoomID
	Kind   policy.Kind
	// Mode is nil if the owner set none. Then the defaults of the network and the profile apply.
	Mode      *policy.Mode
	ModeSetAt *time.Time
	Name      string
	// OwnerName is the owner's display name in the chat; empty if he has none.
	OwnerName  string
	Contact    id.UserID
	BridgeBot  id.UserID
	SelfGhost  id.UserID
	Encryption policy.Encryption `db:"encrypted"`
	// ClosedReason is why nothing can be sent or received; empty while the chat is in use.
	ClosedReason string
	// OwnerWroteAt is when the owner or an operator last wrote in the chat; OwnerWroteBy is the operator, empty for the owner.
	OwnerWroteAt  *time.Time `db:"owner_last_at"`
	OwnerWroteBy  id.UserID  `db:"owner_last_by"`
	PausedUntil   *time.Time
	LastMessageAt *time.Time
	// The contact is typing until TypingUntil. The owner is reading or typing until OwnerActiveUntil and may answer himself.
	TypingUntil      *time.Time
	OwnerActiveUntil *time.Time
	// Agent is the agent that answers. Empty means the routing of the configuration.
	Agent string
	// Unreadable is the number of messages that wait for a key.
	Unreadable int
	// ClaimedAt is when the bridge announced the chat's room.
	ClaimedAt time.Time
	// FormerRoom was the chat's room until MovedAt; nil if it never moved.
	FormerRoom *id.RoomID
	MovedAt    *time.Time
	// Features are what the network supports, as the bridge says.
	Features policy.Features
	// Delivery is nil if the owner set none: see DeliveryIn.
	Delivery *policy.Delivery
	// FollowUpDays is nil if the owner set none: see FollowUpAfter. Zero switches follow-ups off.
	FollowUpDays *int
	// FollowedUpAt is when a follow-up was drafted last; nil for never.
	FollowedUpAt *time.Time
	// Spaces are the Matrix spaces of its room that the routing of agents names.
	Spaces []id.RoomID
	// Labels were given by the owner or because of a contact's words. Unlabelled were removed by the owner: see LabelsIn.
	Labels     []string
	Unlabelled []string
	// IsOperatorsRoom is true for the operators' room: its kind is admin, but it has only the threads of escalations.
	IsOperatorsRoom bool `db:"for_operators"`
	// Person is the same number for all chats that the owner merged; nil if the chat is not merged.
	Person *int64
	// HasNamesake is true if another chat of its network has the same name.
	HasNamesake bool `db:"namesake"`
	// Unconfirmed is true while the owner has not confirmed that its bot is a bridge: anybody could claim to be one.
	Unconfirmed bool
}

// ModeIn returns the mode in force. While the bridge is not confirmed, the chat is not answered.
func (c Chat) ModeIn(d policy.Defaults) policy.Mode {
	mode := c.ClaimedMode(d)
	if c.Unconfirmed && mode.Answers() {
		return policy.ModeSilent
	}
	return mode
}

// ClaimedMode returns the mode that the chat has as its bridge describes it, whether the bridge is confirmed or not.
func (c Chat) ClaimedMode(d policy.Defaults) policy.Mode {
	mode, _ := d.Mode(c.facts())
	return mode
}

// IsOff reports whether the chat is off: nothing of it may be stored but its own row. The admin room is never off.
func (c Chat) IsOff(d policy.Defaults) bool {
	return c.Kind != policy.KindAdmin && c.ModeIn(d) == policy.ModeOff
}

// AnswersIn reports whether the assistant may answer a contact in the chat.
func (c Chat) AnswersIn(d policy.Defaults) bool {
	return c.Kind != policy.KindAdmin && c.ModeIn(d).Answers()
}

// DeliveryIn returns how messages of the assistant are delivered in the chat: at once or as drafts.
func (c Chat) DeliveryIn(d policy.Defaults) policy.Delivery {
	return d.Delivery(c.facts())
}

// IsIn reports whether room is the chat's present room.
func (c Chat) IsIn(room id.RoomID) bool { return c.RoomID != nil && *c.RoomID == room }

// HasRoom reports whether messages can be sent and received.
func (c Chat) HasRoom() bool { return c.RoomID != nil && c.ClosedReason == "" }

const chatColumns = `c.id, c.protocol, c.channel_id, c.receiver, c.room_id, c.kind, c.mode, c.mode_set_at, c.name, c.owner_name, c.contact, c.bridge_bot,
	c.self_ghost, c.encrypted, c.closed_reason, c.owner_last_at, c.owner_last_by, c.paused_until, c.last_message_at, c.typing_until, c.owner_active_until, c.agent, (select count(*) from messages m where m.chat_id = c.id and m.parked is not null) as unreadable, c.claimed_at, c.former_room, c.moved_at, c.features, c.delivery, c.follow_up_days, c.followed_up_at, c.spaces, c.labels, c.unlabelled, c.for_operators, c.person,
	exists(select from chats o where o.protocol = c.protocol and o.name_key = c.name_key and o.kind = c.kind and o.id <> c.id and o.continued_in is null) as namesake,
	exists (select from bridge_bots b where b.bot = c.bridge_bot and b.confirmed_at is null) as unconfirmed`

const chatsByRoomSQL = "select " + chatColumns + " from chats c where c.room_id = any($1)"

// ChatsByRoom returns the chats of rooms. Rooms without a chat are missing from the map.
func ChatsByRoom(ctx context.Context, db DB, rooms []id.RoomID) (map[id.RoomID]Chat, error) {
	return chatsByRoom(ctx, db, chatsByRoomSQL, rooms)
}

const lockChatsByRoomSQL = "select " + chatColumns +
	" from chats c where c.room_id = any($1) or c.former_room = any($1) order by c.id for no key update"

// LockChatsByRoom is ChatsByRoom for a transaction that changes the chats. It locks them in a fixed order, so that two
// such transactions cannot deadlock. A chat is also found by its former room.
func LockChatsByRoom(ctx context.Context, tx Tx, rooms []id.RoomID) (map[id.RoomID]Chat, error) {
	chats, err := collectChats(ctx, tx, lockChatsByRoomSQL, rooms)
	if err != nil {
		return nil, err
	}
	byRoom := make(map[id.RoomID]Chat, len(chats))
	for _, c := range chats {
		if c.FormerRoom != nil {
			byRoom[*c.FormerRoom] = c
		}
	}
	for _, c := range chats {
		if c.RoomID != nil {
			byRoom[*c.RoomID] = c // takes precedence over the chat that had this room before
		}
	}
	return byRoom, nil
}

const lockChatsSQL = "select c.id from chats c where c.room_id = any($1) or c.former_room = any($1) or c.id = $2 order by c.id for no key update"

// LockChats locks a chat and the chats of rooms, in the order of LockChatsByRoom.
func LockChats(ctx context.Context, tx Tx, rooms []id.RoomID, chat ChatID) error {
	_, err := row.Values[ChatID](ctx, tx, "lock chats", lockChatsSQL, rooms, chat)
	return err
}

const lockChatSQL = "select " + chatColumns + " from chats c where c.id = $1 for no key update"

// LockChat is ChatByID for a transaction that changes the chat.
func LockChat(ctx context.Context, tx Tx, chat ChatID) (Chat, error) {
	return oneChat(ctx, tx, lockChatSQL, chat)
}

func chatsByRoom(ctx context.Context, db DB, sql string, rooms []id.RoomID) (map[id.RoomID]Chat, error) {
	chats, err := collectChats(ctx, db, sql, rooms)
	if err != nil {
		return nil, err
	}
	byRoom := make(map[id.RoomID]Chat, len(chats))
	for _, c := range chats {
		byRoom[*c.RoomID] = c
	}
	return byRoom, nil
}

const chatByIDSQL = "select " + chatColumns + " from chats c where c.id = $1"

// ChatByID returns one chat, or ErrNotFound.
func ChatByID(ctx context.Context, db DB, chat ChatID) (Chat, error) {
	return oneChat(ctx, db, chatByIDSQL, chat)
}

// LockChatShared is ChatByID with a shared lock, for a transaction that relies on the mode and the pauses: no other
// transaction can change them until it ends.
func LockChatShared(ctx context.Context, tx Tx, chat ChatID) (Chat, error) {
	return oneChat(ctx, tx, chatByIDSQL+" for share", chat)
}

const adminChatSQL = "select " + chatColumns +
	" from chats c where c.kind = 'admin' and c.closed_reason = '' and c.for_operators = $1 order by c.id limit 1"

// AdminChat returns the admin room, or ErrNotFound if there is none yet.
func AdminChat(ctx context.Context, db DB) (Chat, error) {
	return oneChat(ctx, db, adminChatSQL, false)
}

// OperatorsChat returns the room for operators, or ErrNotFound if there is none.
func OperatorsChat(ctx context.Context, db DB) (Chat, error) {
	return oneChat(ctx, db, adminChatSQL, true)
}

const markOperatorsRoomSQL = "update chats set for_operators = true where id = $1 and kind = 'admin'"

// MarkOperatorsRoom makes a room the operators' room. This cannot be undone, because messages for the operators' room
// must not become part of the admin room.
func MarkOperatorsRoom(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "make the room for operators", markOperatorsRoomSQL, chat)
}

const listChatsSQL = "select " + chatColumns + ` from chats c
	where c.kind in ('dm', 'group') and c.continued_in is null and ($1 = '' or strpos(lower(c.name), lower($1)) > 0)
	order by c.last_message_at desc nulls last, c.name, c.id limit $2 offset $3`

// ListChats returns the chats whose name contains search, the newest first, without admin rooms and spaces.
func ListChats(ctx context.Context, db DB, search string, limit, offset int) ([]Chat, error) {
	return collectChats(ctx, db, listChatsSQL, search, limit, offset)
}

const chatsInUseSQL = "select " + chatColumns + ` from chats c
	where c.kind in ('dm', 'group') and c.closed_reason = '' and c.room_id is not null and c.continued_in is null`

// CountAutomaticChats returns in how many business chats the assistant answers at once, before anybody read the answer.
func CountAutomaticChats(ctx context.Context, db DB, d policy.Defaults) (n int, err error) {
	chats, err := collectChats(ctx, db, chatsInUseSQL)
	for _, c := range chats {
		if c.ModeIn(d) == policy.ModeBusiness && c.DeliveryIn(d) == policy.DeliveryAuto {
			n++
		}
	}
	return n, err
}

const countChatsSQL = "select protocol, count(*) as chats from chats where kind in ('dm', 'group') and closed_reason = '' group by 1 order by 2 desc, 1"

// NetworkCount is the number of chats of a network.
type NetworkCount struct {
	Protocol string
	Chats    int
}

// CountChats counts the chats in use by network, the biggest first.
func CountChats(ctx context.Context, db DB) ([]NetworkCount, error) {
	return row.All[NetworkCount](ctx, db, "chats", countChatsSQL)
}

// setOwnerNameSQL also marks the messages to be indexed again, because the index holds the author of each message.
const setOwnerNameSQL = `with named as (update chats set owner_name = $1 where owner_name = '' and $1 <> '' and kind <> 'admin' returning id),
	unindexed as (delete from message_index where doc_id in (select id from named))
	update messages set unindexed = true where chat_id in (select id from named) and redacted_at is null and not unindexed`

// SetOwnerName sets the owner's name in the chats that have none. An empty name changes nothing.
func SetOwnerName(ctx context.Context, tx Tx, name string) error {
	return row.Exec(ctx, tx, "name the owner", setOwnerNameSQL, text.Storable(name))
}

const setModeSQL = "update chats set mode = $2, mode_set_at = now() where id = $1"

// SetMode sets the mode of a chat as the owner chose it.
func SetMode(ctx context.Context, tx Tx, chat ChatID, mode policy.Mode) error {
	return row.Exec(ctx, tx, "set mode", setModeSQL, chat, mode)
}

const setDeliverySQL = "update chats set delivery = $2 where id = $1"

// SetDelivery sets the delivery of a chat as the owner chose it.
func SetDelivery(ctx context.Context, tx Tx, chat ChatID, delivery policy.Delivery) error {
	return row.Exec(ctx, tx, "set delivery", setDeliverySQL, chat, delivery)
}

// Why a chat is closed.
const (
	ClosedTombstone = "the room was replaced by another"
	ClosedLeft      = "you left the room"
	ClosedStranger  = "somebody else is in the room"
	ClosedOpen      = "others can join or read the room without an invitation"
)

const markEncryptedSQL = "update chats set encrypted = 'yes' where id = $1"

// MarkEncrypted marks a chat as encrypted. There is no way back.
func MarkEncrypted(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "mark encrypted", markEncryptedSQL, chat)
}

const closeChatSQL = "update chats set closed_reason = $2 where id = $1"

// CloseChat closes a chat with a reason. An empty reason opens it again.
func CloseChat(ctx context.Context, tx Tx, chat ChatID, why string) error {
	return row.Exec(ctx, tx, "close chat", closeChatSQL, chat, why)
}

const markOwnerWroteSQL = "update chats set owner_last_by = case when owner_last_at > $2 then owner_last_by else $3 end, owner_last_at = greatest(owner_last_at, $2) where id = $1"

// OperatorID returns the id of a person as Chat.OwnerWroteBy has it: empty for the owner.
func OperatorID(person, owner id.UserID) id.UserID {
	if person == owner {
		return ""
	}
	return person
}

// MarkOwnerWrote stores that the owner has written in a chat, or an operator, which pauses the assistant there for a
// while. by is an OperatorID.
func MarkOwnerWrote(ctx context.Context, tx Tx, chat ChatID, by id.UserID, at time.Time) error {
	return row.Exec(ctx, tx, "note the owner's message", markOwnerWroteSQL, chat, at, by)
}

const setContactTypingSQL = "update chats set typing_until = greatest(typing_until, $2) where id = $1"

// SetContactTyping stores that the contact is typing until a time. A turn waits for it.
func SetContactTyping(ctx context.Context, tx Tx, chat ChatID, until time.Time) error {
	return row.Exec(ctx, tx, "note typing", setContactTypingSQL, chat, until)
}

const markOwnerActiveSQL = "update chats set owner_active_until = greatest(owner_active_until, $2) where id = $1"

// MarkOwnerActive stores that the owner is reading or typing in a chat. The assistant waits until then, so that the owner
// can answer himself.
func MarkOwnerActive(ctx context.Context, tx Tx, chat ChatID, until time.Time) error {
	return row.Exec(ctx, tx, "note the owner's presence", markOwnerActiveSQL, chat, until)
}

// PausedForever is the end of a pause that lasts until a person ends it.
var PausedForever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

const pauseChatSQL = "update chats set paused_until = $2 where id = $1"

// PauseChat pauses the answers in a chat until a time. nil ends the pause.
func PauseChat(ctx context.Context, tx Tx, chat ChatID, until *time.Time) error {
	return row.Exec(ctx, tx, "pause chat", pauseChatSQL, chat, until)
}

const resumeChatSQL = "update chats set paused_until = null, owner_last_at = null where id = $1"

// ResumeChat ends all pauses of a chat, including the pause after a message of the owner.
func ResumeChat(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "resume chat", resumeChatSQL, chat)
}

const resumeChatAtSQL = "update chats set paused_until = null, owner_last_at = case when owner_last_at > $2 then owner_last_at end where id = $1"

// ResumeChatAt resumes a chat as of a time: if a person wrote there after that time, the pause because of that message stays.
func ResumeChatAt(ctx context.Context, tx Tx, chat ChatID, at time.Time) error {
	return row.Exec(ctx, tx, "resume chat", resumeChatAtSQL, chat, at)
}

// LeaseTTL is how long a lease lasts without renewal. After a crash another process takes the chat then.
const LeaseTTL = 30 * time.Second

const leaseChatSQL = `update chats c set locked_by = $2, locked_until = now() + $3
	where id = $1 and (locked_by = $2 or locked_until < now()) returning ` + chatColumns

// LeaseChat takes or renews the lease of a turn on a chat and returns the chat. It returns ErrNotFound while another turn has the lease.
func LeaseChat(ctx context.Context, w Writer, chat ChatID, by string) (Chat, error) {
	return oneChat(ctx, w, leaseChatSQL, chat, by, LeaseTTL)
}

const endLeaseSQL = "update chats set locked_by = '', locked_until = '-infinity' where id = $1 and locked_by = $2"

// EndLease ends the lease of a turn. It returns false if the turn has lost it: then the turn must not commit anything.
func EndLease(ctx context.Context, w Writer, chat ChatID, by string) (bool, error) {
	tag, err := w.Exec(ctx, endLeaseSQL, chat, by)
	if err != nil {
		return false, fmt.Errorf("unlock chat: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

func oneChat(ctx context.Context, db DB, sql string, args ...any) (Chat, error) {
	return row.One[Chat](ctx, db, "chat", sql, args...)
}

func collectChats(ctx context.Context, db DB, sql string, args ...any) ([]Chat, error) {
	return row.All[Chat](ctx, db, "chats", sql, args...)
}

const setSpaceSQL = `update chats set spaces = array_remove(spaces, @space) || case when coalesce(room_id = any (@rooms), false) then array[@space] else '{}' end
	where (@space = any (spaces)) <> coalesce(room_id = any (@rooms), false)`

// SetSpace stores which rooms are in a space.
func SetSpace(ctx context.Context, tx Tx, space id.RoomID, rooms []id.RoomID) error {
	if _, err := tx.Exec(ctx, setSpaceSQL, pgx.NamedArgs{"space": space, "rooms": rooms}); err != nil {
		return fmt.Errorf("note what is in a space: %w", err)
	}
	return nil
}

const setAgentSQL = "update chats set agent = $2 where id = $1"

// SetAgent sets the agent that answers in a chat. Empty means the routing of the configuration.
func SetAgent(ctx context.Context, tx Tx, chat ChatID, agent string) error {
	return row.Exec(ctx, tx, "set who answers", setAgentSQL, chat, agent)
}
