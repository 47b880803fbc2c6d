// Package outbox is the only way out. Queue writes an event with the gate's decision before anything is sent; Send asks
// the gate again and sends it.
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

// Rules are what the gate needs from the configuration.
type Rules struct {
	Defaults   policy.Defaults
	OwnerPause time.Duration
	SendCap    policy.Rate
	// Owner is who is mentioned in what needs the owner.
	Owner id.UserID
	// Name is what the assistant is called unless the owner renamed it. It marks what is said in the owner's name: "[Nora] ...".
	Name string
	// Disclose tells by protocol whether that mark is set.
	Disclose func(protocol string) bool
}

// Sender puts events into rooms: the homeserver, or a terminal. A repeated send of the same row gives the same event.
type Sender interface {
	Send(ctx context.Context, o store.Out, room id.RoomID) (id.EventID, error)
	// Retract deletes an event that Send made. Doing it again changes nothing.
	Retract(ctx context.Context, o store.Out) error
}

// Box is the outbox.
type Box struct {
	store  *store.Store
	rules  Rules
	sender Sender
	now    func() time.Time
}

// New makes an outbox that sends through sender.
func New(st *store.Store, rules Rules, sender Sender) *Box {
	return &Box{store: st, rules: rules, sender: sender, now: time.Now}
}

// Message is something to say.
type Message struct {
	Chat    store.Chat
	Purpose policy.Purpose
	Text    string
	HTML    string // for the admin room; empty: the text alone
	// Kind says whether it rings, in the admin room; contacts' messages always do.
	Kind NoticeKind
	// Mention is who a notice that rings is for; empty: the owner.
	Mention   id.UserID
	Spans     []store.Span
	Addressed bool
	// Draft makes it a draft wherever it goes: it is sent once the owner said yes.
	Draft bool
	// About are the messages that the letter quotes: when one is deleted, so is what was said here.
	About []int64
	// RestsOn are those whose words may be in it, quoted or not: when one is deleted, the text is not kept here.
	RestsOn []int64
	// TaskID is the task whose answer it is; 0 for none.
	TaskID store.TaskID
	// File goes along, with the text as its caption.
	File *File
	// ReactTo makes it a reaction with the text as its key.
	ReactTo id.EventID
	// Profile is who says it, when it is not the assistant itself.
	Profile *Profile
	// Replaces makes a notice the last word of a message that was shown by Live.
	Replaces id.EventID
	// FailedID is the row of a notice that could not be sent, which this one tells: when it cannot be sent either, none follows.
	FailedID uuid.UUID
}

// Profile is who says something in a Matrix room in place of its sender, as clients that know of it show.
type Profile struct {
	ID     string              `json:"id"`
	Name   string              `json:"displayname"`
	Avatar id.ContentURIString `json:"avatar_url,omitempty"`
}

// content is the event's content as Matrix has it. m.mentions names at most who a notice is for: nobody is pinged by what a text happens to hold.
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

// Queue writes a letter, without the secrets of the configuration, with the gate's decision and, if it may go, the job that sends it, or
// for a draft the one that shows it. The decision is the caller's reason when it may not. A notice that may not go is an error: the owner
// would never know of it.
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
	state := store.OutQueued
	switch {
	case !decision.Allow:
		state = store.OutDropped
	case l.Draft, chat.DeliveryIn(b.rules.Defaults).Holds(l.Purpose):
		state = store.OutHeld
	}
	return rows[0].out.ID, decision, b.insert(ctx, tx, rows, decision, state)
}

// insert writes the rows of a letter with the gate's decision, and the jobs that send them, or the one that shows them.
func (b *Box) insert(ctx context.Context, tx store.Tx, rows []row, decision policy.Decision, state store.OutState) error {
	for _, r := range rows {
		r.out.Code, r.out.Reason, r.out.State = decision.Code, decision.Why, state
		if len(rows) > 1 {
			r.out.PartOf = &rows[0].out.ID
		}
		if err := store.InsertOut(ctx, tx, r.out); err != nil {
			return err
		}
		if !decision.Allow {
			continue
		}
		if r.data != nil {
			if err := store.AddFile(ctx, tx, r.out.ID, r.data); err != nil {
				return err
			}
		}
		if state == store.OutHeld {
			continue
		}
		if err := jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: r.out.ID}); err != nil {
			return err
		}
	}
	if state == store.OutHeld {
		return jobs.Enqueue(ctx, tx, jobs.DraftArgs{OutboxID: rows[0].out.ID})
	}
	return nil
}

// currentChat is the chat as it is now: it may have changed while the letter was thought out. The admin room's row is not held,
// because what is done in a chat is told there, and two rows held at once are two transactions that can block each other.
func currentChat(ctx context.Context, tx store.Tx, l Message) (store.Chat, error) {
	if l.Purpose == policy.PurposeNotice {
		return noticeRoom(ctx, tx, l.Chat.ID)
	}
	return store.ShareChat(ctx, tx, l.Chat.ID)
}

// build turns a letter into an outbox row. name is what the assistant is called.
func (b *Box) build(l Message, name string) (store.Out, content, error) {
	key, err := uuid.NewV7()
	if err != nil {
		return store.Out{}, content{}, fmt.Errorf("make outbox id: %w", err)
	}
	c := content{Key: key.String()}
	o := store.Out{ID: key, ChatID: l.Chat.ID, SendAs: policy.AsOwner, Purpose: l.Purpose, EventType: "m.room.message", Spans: l.Spans, Addressed: l.Addressed, About: l.About, RestsOn: l.RestsOn, Replaces: l.Replaces}
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
		return store.Out{}, content{}, fmt.Errorf("write event: %w", err)
	}
	return o, c, nil
}

// disclosed marks what the assistant says in the owner's name. What a person wrote or approved is left as it is.
func (b *Box) disclosed(l Message, name string) string {
	text := strings.TrimSpace(l.Text)
	if text == "" {
		return ""
	}
	return b.disclosure(l, name) + text
}

// disclosure is what stands before each text that the assistant says in the owner's name; empty for what a person wrote.
func (b *Box) disclosure(l Message, name string) string {
	switch l.Purpose {
	case policy.PurposeReply, policy.PurposeGreeting, policy.PurposeHandover:
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

// standing is how things stand for a chat now, without what was sent as the row except.
func (b *Box) standing(ctx context.Context, db store.DB, chat store.Chat, except uuid.UUID) (store.Standing, error) {
	now := b.now()
	s, err := store.StandingOf(ctx, db, chat.ID, now.Add(-time.Minute), now.Add(-24*time.Hour), except)
	s.Name = cmp.Or(s.Name, b.rules.Name)
	return s, err
}

// check puts the row before the gate as things stand now.
func (b *Box) check(ctx context.Context, db store.DB, chat store.Chat, o store.Out, c content) (policy.Decision, error) {
	now, err := b.standing(ctx, db, chat, o.ID)
	if err != nil {
		return policy.Decision{}, err
	}
	return b.decide(chat, o, c, now), nil
}

// decide puts the row before the gate.
func (b *Box) decide(chat store.Chat, o store.Out, c content, s store.Standing) policy.Decision {
	return policy.Gate(b.gateInput(chat, o, c, s))
}

// gateInput is what the gate looks at. What a reply rests on was looked at when it was queued, and its bytes have not changed since.
func (b *Box) gateInput(chat store.Chat, o store.Out, c content, s store.Standing) policy.GateInput {
	now := b.now()
	mode := chat.ModeIn(b.rules.Defaults)
	tombstoned := chat.RoomID != nil && chat.ClosedWhy == store.ClosedTombstone
	in := policy.GateInput{
		Purpose: o.Purpose, As: o.SendAs, Mode: mode, Kind: chat.Kind, Encryption: chat.Encrypted, HasRoom: chat.Usable() || tombstoned,
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

// Gate is how things stand for what could be said in a chat.
type Gate struct {
	// Name is what the assistant is called.
	Name string

	box  *Box
	chat store.Chat
	now  store.Standing
}

// Gate tells how things stand in a chat: what may not be said need not be thought out.
func (b *Box) Gate(ctx context.Context, chat store.Chat) (Gate, error) {
	now, err := b.standing(ctx, b.store.DB(), chat, uuid.Nil)
	return Gate{Name: now.Name, box: b, chat: chat, now: now}, err
}

// Decide tells what the gate would say to something of a purpose, its text aside.
func (l Gate) Decide(purpose policy.Purpose, addressed bool) policy.Decision {
	o := store.Out{SendAs: policy.AsOwner, Purpose: purpose, Spans: []store.Span{{}}, Addressed: addressed}
	return l.box.decide(l.chat, o, content{MsgType: "m.text", Body: "-"}, l.now)
}

// enqueueNext gives the oldest row that waits in the chat of o a job at once, when it stands behind o: o is settled, so its turn has come.
func (b *Box) enqueueNext(ctx context.Context, tx store.Tx, o store.Out) error {
	out, err := store.NextQueued(ctx, tx, o)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: out})
}

// orderWait is how long a send waits by itself for an older one of the same chat. That one wakes it (next), unless its process died, or
// was just about to settle it when this one was written and so did not see it. A backlog that asked more often would hold itself up.
func (b *Box) orderWait(o store.Out) time.Duration {
	const blink = 200 * time.Millisecond
	if b.now().Sub(o.CreatedAt) < blink {
		return blink
	}
	return 10 * time.Second
}

// roomWait is how long a send waits for a room: longer, the longer it has waited already.
func (b *Box) roomWait(o store.Out) time.Duration {
	return min(max(b.now().Sub(o.CreatedAt)/8, 200*time.Millisecond), 10*time.Second)
}

// Send asks the gate again and sends one row. It is safe to repeat. last says that no other attempt follows: then the row is
// given up, because one that stays would hold up all that is said in the chat after it.
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

// recheck is the gate's second word, right before the send. An empty room means that there is nothing to send.
func (b *Box) recheck(ctx context.Context, out uuid.UUID) (o store.Out, room id.RoomID, err error) {
	err = b.store.InTx(ctx, func(tx store.Tx) error {
		// The chat before the row, in the order of everybody who takes both.
		if o, err = store.OutByID(ctx, tx, out); err != nil {
			return err
		}
		chat, err := store.ShareChat(ctx, tx, o.ChatID)
		if err != nil {
			return err
		}
		if o, err = store.LockOut(ctx, tx, out); err != nil {
			return err
		}
		room = ""
		if o.State != store.OutQueued {
			return nil
		}
		if o.Emptied() {
			return b.drop(ctx, tx, o, policy.CodeTakenBack, policy.CodeTakenBack.Sentence())
		}
		if broken, err := store.BrokenParts(ctx, tx, o); err != nil {
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
		case decision.Code.Homeless():
			return b.waitForRoom(o, decision)
		default:
			return b.drop(ctx, tx, o, decision.Code, decision.Why)
		}
	})
	return o, room, err
}

// drop takes a row back that is not to be sent any more, and lets the next one go.
func (b *Box) drop(ctx context.Context, tx store.Tx, o store.Out, code policy.Code, why string) error {
	if err := store.DropOut(ctx, tx, o.ID, code, why); err != nil {
		return err
	}
	return b.enqueueNext(ctx, tx, o)
}

// waitForRoom has a row wait for the room of a chat that is being moved to another one. When none comes the row is given up,
// which is told: nobody decided on this silence.
func (b *Box) waitForRoom(o store.Out, d policy.Decision) error {
	if b.now().Sub(o.CreatedAt) < policy.RoomPatience {
		return jobs.Later(b.roomWait(o))
	}
	return jobs.Final(errors.New(d.Why))
}

// giveUpTime bounds the last transaction of a row, which is made even when the job's own time is over.
const giveUpTime = 10 * time.Second

// giveUp notes that a row cannot be sent and has the owner told. While it cannot even be noted, the job goes on.
func (b *Box) giveUp(ctx context.Context, out uuid.UUID, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTime)
	defer cancel()
	zerolog.Ctx(ctx).Warn().Err(cause).Stringer("outbox_id", out).Msg("Gave up on an event")
	return b.store.InTx(ctx, func(tx store.Tx) error {
		o, err := store.OutByID(ctx, tx, out)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		failed, err := store.FailOut(ctx, tx, out, jobs.Cause(cause).Error())
		if err != nil || !failed {
			return err
		}
		if err := b.enqueueNext(ctx, tx, o); err != nil || !needsNotice(o) {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.UndeliveredArgs{OutboxID: out})
	})
}
