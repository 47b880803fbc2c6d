// Package outbox sends messages; nothing leaves multis another way. Queue stores a message with the gate's decision before anything is sent.
// Send asks the gate again and sends it.
package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Rules are what the outbox needs from the configuration.
type Rules struct {
	Defaults   policy.Defaults
	OwnerPause time.Duration
	SendCap    policy.Rate
	// Owner is mentioned in notices of kind Alert.
	Owner id.UserID
	// Name is the assistant's name unless the owner renamed it. It stands in the mark of messages in the owner's name: "[Nora] ...".
	Name string
	// Disclose reports whether messages to a network are marked.
	Disclose func(protocol string) bool
}

// Sender sends events to rooms: through the homeserver, or to a terminal. Sending the same row again gives the same event.
type Sender interface {
	Send(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error)
	// Retract redacts an event that Send sent. Repeating it changes nothing.
	Retract(ctx context.Context, o store.OutboxMessage) error
}

// Box is the outbox.
type Box struct {
	store  *store.Store
	rules  Rules
	sender Sender
	now    func() time.Time
}

// New returns an outbox that sends through sender.
func New(st *store.Store, rules Rules, sender Sender) *Box {
	return &Box{store: st, rules: rules, sender: sender, now: time.Now}
}

// Message is a message to queue.
type Message struct {
	Chat    store.Chat
	Purpose policy.Purpose
	Text    string
	HTML    string // for the admin room; empty: the text alone
	// Kind says whether a notice alerts the owner. It is not used for messages to contacts.
	Kind NoticeKind
	// Mention is the user that a notice of kind Alert mentions. Empty means the owner.
	Mention   id.UserID
	Spans     []store.Span
	Addressed bool
	// Draft makes the message wait for the owner's approval, whatever the delivery of the chat.
	Draft bool
	// About are the messages that the text quotes. When one of them is deleted, the event is redacted.
	About []store.MessageID
	// RestsOn are the messages that the text was made from, quoted or not. When one of them is deleted, the text is deleted from the outbox.
	RestsOn []store.MessageID
	// TaskID is the task whose result it is; 0 for none.
	TaskID store.TaskID
	// File is sent with the text as its caption.
	File *File
	// ReactTo makes the message a reaction to an event. The text is the reaction's key.
	ReactTo id.EventID
	// Profile is who speaks, when it is not the assistant itself.
	Profile *Profile
	// Replaces is the event of a Live that this notice replaces with its last text.
	Replaces id.EventID
	// FailedID is the outbox row whose failure this notice reports. When the notice fails too, nobody is notified of that.
	FailedID uuid.UUID
}

// Profile is the name and avatar that clients show in place of the sender's (com.beeper.per_message_profile).
type Profile struct {
	ID     string              `json:"id"`
	Name   string              `json:"displayname"`
	Avatar id.ContentURIString `json:"avatar_url,omitempty"`
}

// content is the content of an event. m.mentions is always set, so that names in the text do not mention anybody.
type content struct {
	MsgType   string    `json:"msgtype,omitempty"`
	Body      string    `json:"body,omitempty"`
	Format    string    `json:"format,omitempty"`
	HTML      string    `json:"formatted_body,omitempty"`
	FileName  string    `json:"filename,omitempty"`
	Info      *fileInfo `json:"info,omitempty"`
	Mentions  *mentions `json:"m.mentions,omitempty"`
	RelatesTo *relation `json:"m.relates_to,omitempty"`
	By        *Profile  `json:"com.beeper.per_message_profile,omitempty"`
	Key       string    `json:"ai.multis.out,omitempty"`
	Unsent    string    `json:"ai.multis.unsent,omitempty"`
}

type mentions struct {
	Users []id.UserID `json:"user_ids,omitempty"`
}

type fileInfo struct {
	MIME string `json:"mimetype"`
	Size int    `json:"size"`
}

type relation struct {
	Type  string     `json:"rel_type"`
	Event id.EventID `json:"event_id"`
	Emoji string     `json:"key,omitempty"`
}

// Queue stores a message and the gate's decision. If the gate allows it, it is enqueued for sending, or as a draft for the owner's approval.
// Secrets of the configuration are removed from the text. A notice that the gate refuses is an error, because otherwise the owner would never
// know of it.
func (b *Box) Queue(ctx context.Context, tx store.Tx, l Message) (uuid.UUID, policy.Decision, error) {
	l = l.cleaned()
	chat, err := currentChat(ctx, tx, l)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	l.Chat.ID = chat.ID
	now, err := b.standing(ctx, tx, chat, uuid.Nil)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	rows, err := b.rows(chat, l, now.Name)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	rest, err := b.citationOf(ctx, tx, l, now.Name)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	var decision policy.Decision
	for _, r := range rows { // all of them go, or none
		if decision = policy.Gate(rest.apply(b.gateInput(chat, r.out, r.c, now), r)); !decision.Allow {
			break
		}
	}
	if l.Purpose == policy.PurposeNotice && !decision.Allow {
		return uuid.Nil, decision, refusedNotice(decision)
	}
	state := store.OutboxQueued
	switch {
	case !decision.Allow:
		state = store.OutboxDropped
	case l.Draft, chat.DeliveryIn(b.rules.Defaults).NeedsApproval(l.Purpose):
		state = store.OutboxDraft
	}
	return rows[0].out.ID, decision, b.insert(ctx, tx, rows, decision, state)
}

// insert stores the rows of a message with the gate's decision, and enqueues the jobs that send them or show them as a draft.
func (b *Box) insert(ctx context.Context, tx store.Tx, rows []row, decision policy.Decision, state store.OutboxState) error {
	for _, r := range rows {
		r.out.Code, r.out.Reason, r.out.State = decision.Code, decision.Why, state
		if len(rows) > 1 {
			r.out.PartOf = &rows[0].out.ID
		}
		if err := store.InsertOutboxMessage(ctx, tx, r.out); err != nil {
			return err
		}
		if !decision.Allow {
			continue
		}
		if r.data != nil {
			if err := store.AddOutboxFile(ctx, tx, r.out.ID, r.data); err != nil {
				return err
			}
		}
		if state == store.OutboxDraft {
			continue
		}
		if err := jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: r.out.ID}); err != nil {
			return err
		}
	}
	if state == store.OutboxDraft {
		return jobs.Enqueue(ctx, tx, jobs.DraftArgs{OutboxID: rows[0].out.ID})
	}
	return nil
}

// currentChat returns the chat as it is now: it may have changed while the message was made. The row of an admin room is not locked, because
// transactions that have locked another chat write notices, and two locks in one transaction could deadlock.
func currentChat(ctx context.Context, tx store.Tx, l Message) (store.Chat, error) {
	if l.Purpose == policy.PurposeNotice {
		return noticeRoom(ctx, tx, l.Chat.ID)
	}
	return store.LockChatShared(ctx, tx, l.Chat.ID)
}

// build turns a message into an outbox row. name is the assistant's name.
func (b *Box) build(l Message, name string) (store.OutboxMessage, content, error) {
	key, err := uuid.NewV7()
	if err != nil {
		return store.OutboxMessage{}, content{}, fmt.Errorf("make outbox id: %w", err)
	}
	c := content{Key: key.String()}
	o := store.OutboxMessage{ID: key, ChatID: l.Chat.ID, SendAs: policy.AsOwner, Purpose: l.Purpose, EventType: "m.room.message", Spans: l.Spans, Addressed: l.Addressed, About: l.About, RestsOn: l.RestsOn, Replaces: l.Replaces}
	if l.TaskID != 0 {
		o.TaskID = &l.TaskID
	}
	switch {
	case l.ReactTo != "":
		o.EventType = "m.reaction"
		if l.Purpose == policy.PurposeNotice {
			o.SendAs = policy.AsBot
		}
		c.RelatesTo = &relation{Type: "m.annotation", Event: l.ReactTo, Emoji: l.Text}
	case l.Purpose == policy.PurposeNotice:
		o.SendAs = policy.AsBot
		c.address(l, b.rules.Owner)
		c.Body, c.By = l.Text, l.Profile
		if l.FailedID != uuid.Nil {
			c.Unsent = l.FailedID.String()
		}
		if l.HTML != "" {
			c.Format, c.HTML = "org.matrix.custom.html", l.HTML
		}
	default:
		c.MsgType, c.Body, c.Mentions = "m.text", b.disclosed(l, name), &mentions{}
	}
	if l.Replaces != "" {
		o.Content, err = replacing(c, l.Replaces)
	} else {
		o.Content, err = json.Marshal(c)
	}
	if err != nil {
		return store.OutboxMessage{}, content{}, fmt.Errorf("write event: %w", err)
	}
	return o, c, nil
}

// disclosed returns the text with the mark before it.
func (b *Box) disclosed(l Message, name string) string {
	text := strings.TrimSpace(l.Text)
	if text == "" {
		return ""
	}
	return b.disclosure(l, name) + text
}

// disclosure returns the mark that stands before what the assistant says in the owner's name. It is empty for what a person wrote or approved.
func (b *Box) disclosure(l Message, name string) string {
	switch l.Purpose {
	case policy.PurposeReply, policy.PurposeGreeting, policy.PurposeEscalation:
		if !b.rules.Disclose(l.Chat.Protocol) {
			return ""
		}
		if l.Profile != nil {
			name = l.Profile.Name
		}
		return "[" + name + "] "
	default:
		return ""
	}
}

// standing reads what the gate needs to know of a chat beside its row: pauses, and how much was sent. The row except is not counted.
func (b *Box) standing(ctx context.Context, db store.DB, chat store.Chat, except uuid.UUID) (store.Standing, error) {
	now := b.now()
	s, err := store.StandingOf(ctx, db, chat.ID, now.Add(-time.Minute), now.Add(-24*time.Hour), except)
	s.Name = cmp.Or(s.Name, b.rules.Name)
	return s, err
}

// check asks the gate about a row with the current state of its chat.
func (b *Box) check(ctx context.Context, db store.DB, chat store.Chat, o store.OutboxMessage, c content) (policy.Decision, error) {
	now, err := b.standing(ctx, db, chat, o.ID)
	if err != nil {
		return policy.Decision{}, err
	}
	return b.decide(chat, o, c, now), nil
}

// decide asks the gate about a row.
func (b *Box) decide(chat store.Chat, o store.OutboxMessage, c content, s store.Standing) policy.Decision {
	return policy.Gate(b.gateInput(chat, o, c, s))
}

// gateInput returns what the gate looks at. The sources of a reply are not in it: Queue has checked them, and the row's content has not
// changed since.
func (b *Box) gateInput(chat store.Chat, o store.OutboxMessage, c content, s store.Standing) policy.GateInput {
	now := b.now()
	mode := chat.ModeIn(b.rules.Defaults)
	tombstoned := chat.RoomID != nil && chat.ClosedWhy == store.ClosedTombstone
	in := policy.GateInput{
		Purpose: o.Purpose, As: o.SendAs, Mode: mode, Kind: chat.Kind, Encryption: chat.Encrypted, HasRoom: chat.HasRoom() || tombstoned,
		Tombstoned: tombstoned, Verified: chat.BridgeBot != "" && !chat.Unconfirmed, Now: now, Presence: chat.Presence(s.Paused, mode, b.rules.OwnerPause, now),
		Addressed: o.Addressed, HasSpan: len(o.Spans) > 0, Sent: policy.Rate{Minute: s.Minute, Day: s.Day}, SendCap: b.rules.SendCap, MsgType: c.MsgType, Body: c.Body,
		Features: chat.Features, File: c.spec(),
	}
	if to := c.RelatesTo; to != nil {
		in.Edits = to.Type == "m.replace"
		if to.Emoji != "" {
			in.Body, in.Reacts = to.Emoji, true
		}
	}
	return in
}

// Gate is the gate for one chat, with the chat's state at one moment.
type Gate struct {
	// Name is what the assistant is called.
	Name string

	box  *Box
	chat store.Chat
	now  store.Standing
}

// Gate reads the state of a chat. With it, a caller finds out what may be sent before making a text.
func (b *Box) Gate(ctx context.Context, chat store.Chat) (Gate, error) {
	now, err := b.standing(ctx, b.store.DB(), chat, uuid.Nil)
	return Gate{Name: now.Name, box: b, chat: chat, now: now}, err
}

// Decide returns the gate's decision about a message of a purpose, whatever its text.
func (l Gate) Decide(purpose policy.Purpose, addressed bool) policy.Decision {
	o := store.OutboxMessage{SendAs: policy.AsOwner, Purpose: purpose, Spans: []store.Span{{}}, Addressed: addressed}
	return l.box.decide(l.chat, o, content{MsgType: "m.text", Body: "-"}, l.now)
}

// enqueueNext enqueues the oldest queued row of the chat, if it waited behind o. o was sent or dropped.
func (b *Box) enqueueNext(ctx context.Context, tx store.Tx, o store.OutboxMessage) error {
	out, err := store.NextQueued(ctx, tx, o)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: out})
}

// orderWait returns how long the job of a row waits when an older row of its chat is queued. Usually enqueueNext enqueues the row before that,
// unless the older row's process died or did not see this row yet. Shorter waits would slow down a long backlog.
func (b *Box) orderWait(o store.OutboxMessage) time.Duration {
	const blink = 200 * time.Millisecond
	if b.now().Sub(o.CreatedAt) < blink {
		return blink
	}
	return 10 * time.Second
}

// roomWait returns how long the job of a row waits for a room: longer, the older the row is.
func (b *Box) roomWait(o store.OutboxMessage) time.Duration {
	return min(max(b.now().Sub(o.CreatedAt)/8, 200*time.Millisecond), 10*time.Second)
}

// Send asks the gate again and sends one row. It may be repeated. last says that no other attempt follows: then the row is given up, because a
// row that stays queued holds up all later rows of its chat.
func (b *Box) Send(ctx context.Context, out uuid.UUID, last bool) error {
	err := b.send(ctx, out)
	if err == nil || jobs.IsLater(err) || (!last && !jobs.IsFinal(err)) {
		return err
	}
	return b.giveUp(ctx, out, err)
}

func (b *Box) send(ctx context.Context, out uuid.UUID) error {
	o, room, err := b.recheck(ctx, out)
	if err != nil || room == "" {
		return err
	}
	event, err := b.sender.Send(ctx, o, room)
	if err != nil {
		return err
	}
	return b.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.MarkSent(ctx, tx, o.ID, event, room); err != nil {
			return err
		}
		return b.enqueueNext(ctx, tx, o)
	})
}

// recheck asks the gate right before a row is sent. An empty room means that there is nothing to send.
func (b *Box) recheck(ctx context.Context, out uuid.UUID) (o store.OutboxMessage, room id.RoomID, err error) {
	err = b.store.InTx(ctx, func(tx store.Tx) error {
		// The chat before the row, in the order of everybody who takes both.
		if o, err = store.OutboxMessageByID(ctx, tx, out); err != nil {
			return err
		}
		chat, err := store.LockChatShared(ctx, tx, o.ChatID)
		if err != nil {
			return err
		}
		if o, err = store.LockOutboxMessage(ctx, tx, out); err != nil {
			return err
		}
		room = ""
		if o.State != store.OutboxQueued {
			return nil
		}
		if o.IsErased() {
			return b.drop(ctx, tx, o, policy.CodeQuoteDeleted, policy.CodeQuoteDeleted.Sentence())
		}
		if broken, err := store.HasBrokenPart(ctx, tx, o); err != nil {
			return err
		} else if broken {
			return b.drop(ctx, tx, o, policy.CodePartMissing, policy.CodePartMissing.Sentence())
		}
		if earlier, err := store.EarlierQueued(ctx, tx, o); err != nil {
			return err
		} else if earlier {
			return jobs.Later(b.orderWait(o))
		}
		var c content
		if err := json.Unmarshal(o.Content, &c); err != nil {
			return fmt.Errorf("read event: %w", err)
		}
		decision, err := b.check(ctx, tx, chat, o, c)
		if err != nil {
			return err
		}
		switch {
		case decision.Allow:
			room = *chat.RoomID
			return nil
		case o.Purpose == policy.PurposeNotice:
			return b.moveNotice(ctx, tx, o, decision)
		case decision.Code.LacksRoom():
			return b.waitForRoom(o, decision)
		default:
			return b.drop(ctx, tx, o, decision.Code, decision.Why)
		}
	})
	return o, room, err
}

// drop drops a row and enqueues the next one.
func (b *Box) drop(ctx context.Context, tx store.Tx, o store.OutboxMessage, code policy.Code, why string) error {
	if err := store.MarkDropped(ctx, tx, o.ID, code, why); err != nil {
		return err
	}
	return b.enqueueNext(ctx, tx, o)
}

// waitForRoom has a row wait for the new room of a chat whose room was replaced. When none comes, the row is given up and the owner notified.
func (b *Box) waitForRoom(o store.OutboxMessage, d policy.Decision) error {
	if b.now().Sub(o.CreatedAt) < policy.RoomReplacementTimeout {
		return jobs.Later(b.roomWait(o))
	}
	return jobs.Final(errors.New(d.Why))
}

// giveUpTime bounds the transaction of giveUp, which is also made when the job's own time is over.
const giveUpTime = 10 * time.Second

// giveUp marks a row as failed and notifies the owner. When the row cannot be marked, the job goes on.
func (b *Box) giveUp(ctx context.Context, out uuid.UUID, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTime)
	defer cancel()
	zerolog.Ctx(ctx).Warn().Err(cause).Stringer("outbox_id", out).Msg("Gave up on an event")
	return b.store.InTx(ctx, func(tx store.Tx) error {
		o, err := store.OutboxMessageByID(ctx, tx, out)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		failed, err := store.MarkFailed(ctx, tx, out, jobs.Cause(cause).Error())
		if err != nil || !failed {
			return err
		}
		if err := b.enqueueNext(ctx, tx, o); err != nil || !needsNotice(o) {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.UndeliveredArgs{OutboxID: out})
	})
}
