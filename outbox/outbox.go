// Package outbox sends messages, and is the only package that does. Queue stores a message with the gate's decision. Send
// asks the gate again and sends the message.
package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Settings is the part of the configuration that the outbox needs.
type Settings struct {
	Defaults   policy.Defaults
	OwnerPause time.Duration
	SendCap    policy.Rate
	// Owner is mentioned in notices of kind Alert.
	Owner id.UserID
	// Name is the assistant's name unless the owner renamed it. It is in the mark of messages in the owner's name: "[Nora] ...".
	Name string
	// Disclose reports whether messages to a network are marked.
	Disclose func(protocol string) bool
	// BeforeSend asks the owner's hooks about each message to a contact right before it is sent. nil asks nobody.
	BeforeSend func(ctx context.Context, chat store.Chat, o store.OutboxMessage) (policy.HookVerdict, error)
}

// Sender sends events to rooms: through the homeserver, or to a terminal. Sending the same row again yields the same event.
type Sender interface {
	Send(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error)
	// Retract redacts an event that Send sent. Repeating it changes nothing.
	Retract(ctx context.Context, o store.OutboxMessage) error
}

// Box is the outbox.
type Box struct {
	store    *store.Store
	settings Settings
	sender   Sender
	now      func() time.Time
}

// New returns an outbox that sends through sender.
func New(st *store.Store, settings Settings, sender Sender) *Box {
	return &Box{store: st, settings: settings, sender: sender, now: time.Now}
}

// Message is a message to queue.
type Message struct {
	Chat    store.Chat
	Purpose policy.Purpose
	Text    string
	HTML    string // for the admin room; empty: the text alone
	// Kind says whether a notice alerts the owner. It is not used for messages to contacts.
	Kind NoticeKind
	// Mention are the users that a notice of kind Alert mentions. None means the owner.
	Mention []id.UserID
	// Thread is the root event of the notice's thread; empty for a notice outside of threads.
	Thread    id.EventID
	Citations []store.Citation
	Addressed bool
	// Draft makes the message wait for the owner's approval, even if the chat's messages are sent at once.
	Draft bool
	// Quotes are the messages that the text quotes. When one of them is deleted, the event is redacted.
	Quotes []store.MessageID
	// Sources are the messages that the text was made from, quoted or not. When one of them is deleted, the text is deleted from the outbox.
	Sources []store.MessageID
	// SeenID is the newest message of the chat that an answer has seen; 0 for a message that answers nothing. Its draft is
	// withdrawn when it is outdated: see store.SeenState.
	SeenID store.MessageID
	// TaskID is the task that made the message; 0 for none.
	TaskID store.TaskID
	// File is sent with the text as its caption.
	File *File
	// ReactTo makes the message a reaction to an event. The text is the reaction's key.
	ReactTo id.EventID
	// Profile is the agent in whose name the message is; nil for the assistant itself.
	Profile *Profile
	// Replaces is the event that this message replaces, by an edit; empty for none.
	Replaces id.EventID
	// FailedID is the outbox row whose failure this notice reports. If the notice fails, too, nobody is notified.
	FailedID uuid.UUID
}

// Profile is the name and avatar that clients show in place of the sender's (com.beeper.per_message_profile).
type Profile struct {
	ID     string              `json:"id"`
	Name   string              `json:"displayname"`
	Avatar id.ContentURIString `json:"avatar_url,omitempty"`
}

// Queue stores a message and the gate's decision, and returns the id of its first row. If the gate allows the message, it
// is enqueued for sending, or to be shown to the owner: as a draft, or as a shadow answer, which is never sent. Secrets
// of the configuration are removed from the text. A notice that the gate refuses is an error, because the owner would not
// learn of it otherwise.
func (b *Box) Queue(ctx context.Context, tx store.Tx, m Message) (uuid.UUID, policy.Decision, error) {
	leaks := m.leaksSecret()
	if m = m.cleaned(); leaks {
		m = m.withoutText()
	}
	chat, err := currentChat(ctx, tx, m)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	m.Chat.ID = chat.ID
	now, err := b.sendingState(ctx, tx, chat, uuid.Nil)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	rows, err := b.rows(chat, m, now.Name)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	cited, err := b.citationOf(ctx, tx, m, now.Name)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	var decision policy.Decision
	for _, r := range rows { // all of them are sent, or none
		if decision = policy.Gate(cited.apply(b.gateInput(chat, r.message, r.content, now), r, leaks)); !decision.Allow {
			break
		}
	}
	if m.Purpose == policy.PurposeNotice && !decision.Allow {
		return uuid.Nil, decision, refusedNotice(decision)
	}
	state := store.OutboxQueued
	switch {
	case !decision.Allow:
		state = store.OutboxDropped
	case chat.DeliveryIn(b.settings.Defaults).IsShadow(m.Purpose):
		state = store.OutboxShadow
	case m.Draft, chat.DeliveryIn(b.settings.Defaults).NeedsApproval(m.Purpose):
		state = store.OutboxDraft
	}
	return rows[0].message.ID, decision, b.insert(ctx, tx, rows, decision, state)
}

// insert stores the rows of a message with the gate's decision, and enqueues the jobs that send them or show them as a draft.
func (b *Box) insert(ctx context.Context, tx store.Tx, rows []row, decision policy.Decision, state store.OutboxState) error {
	for _, r := range rows {
		r.message.Code = decision.Code
		r.message.Reason = decision.Why
		r.message.State = state
		if len(rows) > 1 {
			r.message.PartOf = &rows[0].message.ID
		}
		if err := store.InsertOutboxMessage(ctx, tx, r.message); err != nil {
			return err
		}
		if !decision.Allow {
			continue
		}
		if r.data != nil {
			if err := store.AddOutboxFile(ctx, tx, r.message.ID, r.data); err != nil {
				return err
			}
		}
		if state != store.OutboxQueued {
			continue
		}
		if err := jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: r.message.ID}); err != nil {
			return err
		}
	}
	if state == store.OutboxDraft || state == store.OutboxShadow {
		return jobs.Enqueue(ctx, tx, jobs.PresentDraftArgs{OutboxID: rows[0].message.ID})
	}
	return nil
}

// currentChat reads the chat again, because it may have changed while the message was written, and locks it. An admin
// room is not locked: notices are written in transactions that have locked another chat, and two locks could deadlock.
func currentChat(ctx context.Context, tx store.Tx, m Message) (store.Chat, error) {
	if m.Purpose == policy.PurposeNotice {
		return noticeRoom(ctx, tx, m.Chat.ID)
	}
	return store.LockChatShared(ctx, tx, m.Chat.ID)
}

// build returns a message as an outbox row with its content. name is the assistant's name.
func (b *Box) build(m Message, name string) (store.OutboxMessage, content, error) {
	key, err := uuid.NewV7()
	if err != nil {
		return store.OutboxMessage{}, content{}, fmt.Errorf("make outbox id: %w", err)
	}
	c := content{Key: key.String()}
	o := store.OutboxMessage{
		ID:        key,
		ChatID:    m.Chat.ID,
		SendAs:    policy.AsOwner,
		Purpose:   m.Purpose,
		EventType: "m.room.message",
		Citations: m.Citations,
		Addressed: m.Addressed,
		Quotes:    m.Quotes,
		Sources:   m.Sources,
		Replaces:  m.Replaces,
		SeenID:    m.SeenID,
	}
	if m.TaskID != 0 {
		o.TaskID = &m.TaskID
	}
	switch {
	case m.ReactTo != "":
		o.EventType = "m.reaction"
		if m.Purpose == policy.PurposeNotice {
			o.SendAs = policy.AsBot
		}
		c.RelatesTo = &relation{Type: relationReaction, Event: m.ReactTo, Emoji: m.Text}
	case m.Purpose == policy.PurposeNotice:
		o.SendAs = policy.AsBot
		c.setMentions(m, b.settings.Owner)
		c.Body, c.Profile = m.Text, m.Profile
		if m.FailedID != uuid.Nil {
			c.FailedID = m.FailedID.String()
		}
		if m.HTML != "" {
			c.Format, c.HTML = "org.matrix.custom.html", m.HTML
		}
		if m.Thread != "" {
			c.RelatesTo = threadRelation(m.Thread)
		}
	default:
		c.MsgType, c.Mentions = "m.text", &mentions{}
		if said := strings.TrimSpace(m.Text); said != "" {
			c.Body = b.disclosure(m, name) + said
		}
	}
	switch {
	case m.Replaces != "":
		o.Content, err = replacementContent(c, m.Replaces)
		c.RelatesTo = &relation{Type: relationReplaces, Event: m.Replaces} // so that the gate sees that it is an edit
	default:
		o.Content, err = json.Marshal(c)
	}
	if err != nil {
		return store.OutboxMessage{}, content{}, fmt.Errorf("write event: %w", err)
	}
	return o, c, nil
}

// disclosure returns the mark before a text that the assistant writes in the owner's name. It is empty for a text that a
// person wrote or approved.
func (b *Box) disclosure(m Message, name string) string {
	if !m.Purpose.IsDisclosed() || !b.settings.Disclose(m.Chat.Protocol) {
		return ""
	}
	if m.Profile != nil {
		name = m.Profile.Name
	}
	return "[" + name + "] "
}

// sendingState reads what the gate needs beside the chat's row: the pauses, a restored backup, and how many messages were
// sent, without the row exceptID.
func (b *Box) sendingState(ctx context.Context, db store.DB, chat store.Chat, exceptID uuid.UUID) (store.SendingState, error) {
	now := b.now()
	s, err := store.SendingStateOf(ctx, db, chat.ID, now.Add(-time.Minute), now.Add(-24*time.Hour), exceptID)
	if err != nil {
		return s, err
	}
	s.Name = cmp.Or(s.Name, b.settings.Name)
	restore, err := b.store.RestoreState(ctx, db)
	s.OnHold = restore.OnHold()
	return s, err
}

// check asks the gate about a row, with the current state of its chat. fileLeaks says whether its file holds a secret of the configuration.
func (b *Box) check(ctx context.Context, db store.DB, chat store.Chat, o store.OutboxMessage, c content,
	fileLeaks bool,
) (policy.Decision, error) {
	now, err := b.sendingState(ctx, db, chat, o.ID)
	if err != nil {
		return policy.Decision{}, err
	}
	in := b.gateInput(chat, o, c, now)
	in.Leaks = fileLeaks
	return policy.Gate(in), nil
}

// gateInput returns the gate's input for a row. It has no sources of a reply: Queue has checked them, and the row's
// content does not change.
func (b *Box) gateInput(chat store.Chat, o store.OutboxMessage, c content, s store.SendingState) policy.GateInput {
	now := b.now()
	mode := chat.ModeIn(b.settings.Defaults)
	tombstoned := chat.RoomID != nil && chat.ClosedReason == store.ClosedTombstone
	in := policy.GateInput{
		Purpose:     o.Purpose,
		As:          o.SendAs,
		Mode:        mode,
		Kind:        chat.Kind,
		Encryption:  chat.Encryption,
		HasRoom:     chat.HasRoom() || tombstoned,
		Tombstoned:  tombstoned,
		Verified:    chat.BridgeBot != "" && !chat.Unconfirmed,
		Now:         now,
		Presence:    chat.Presence(s.Paused, mode, b.settings.OwnerPause, now),
		Addressed:   o.Addressed,
		HasCitation: len(o.Citations) > 0,
		OnHold:      s.OnHold,
		SafeMode:    s.SafeMode,
		Sent:        policy.Rate{Minute: s.Minute, Day: s.Day},
		SendCap:     b.settings.SendCap,
		MsgType:     c.MsgType,
		Body:        c.Body,
		Features:    chat.Features,
		File:        c.fileSpec(),
	}
	if to := c.RelatesTo; to != nil {
		in.Edits = to.Type == relationReplaces
		if to.Emoji != "" {
			in.Body, in.Reacts = to.Emoji, true
		}
	}
	return in
}

// Gate is the gate for one chat, with the state of the chat when it was read.
type Gate struct {
	// Name is the assistant's current name.
	Name string

	box   *Box
	chat  store.Chat
	state store.SendingState
}

// Gate reads the state of a chat. With the returned Gate, a caller finds out what may be sent before it writes a text.
func (b *Box) Gate(ctx context.Context, chat store.Chat) (Gate, error) {
	now, err := b.sendingState(ctx, b.store.DB(), chat, uuid.Nil)
	return Gate{Name: now.Name, box: b, chat: chat, state: now}, err
}

// Decide returns the gate's decision about a message with a purpose, independent of its text. addressed is as in Message.
func (g Gate) Decide(purpose policy.Purpose, addressed bool) policy.Decision {
	o := store.OutboxMessage{SendAs: policy.AsOwner, Purpose: purpose, Citations: []store.Citation{{}}, Addressed: addressed}
	return policy.Gate(g.box.gateInput(g.chat, o, content{MsgType: "m.text", Body: "-"}, g.state))
}

// giveUpTimeout limits the transaction of giveUp, which also runs when the job's timeout is over.
const giveUpTimeout = 10 * time.Second
