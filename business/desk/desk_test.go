package desk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/admin"
	"multis/appservice"
	"multis/business/desk"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const (
	owner    = id.UserID("@you:example.com")
	eva      = id.UserID("@eva:example.com")
	bob      = id.UserID("@bob:example.com")
	bot      = id.UserID("@multis:example.com")
	bridge   = id.UserID("@bridge:example.com")
	deskRoom = id.RoomID("!desk:example.com")
)

// fakeSender is a homeserver that takes each outbox message once, however often it is sent.
type fakeSender struct {
	sent  []sentEvent
	echos []*event.Event // of sent events, which did not come back yet
	fail  func() error   // before an event is taken; nil for never
	after func() error   // after it was taken
	check func(o store.OutboxMessage)
}

type sentEvent struct {
	event    id.EventID
	room     id.RoomID
	outbox   uuid.UUID
	purpose  policy.Purpose
	body     string
	replaces id.EventID
	thread   id.EventID
	reaction string
	mentions []id.UserID
	redacted bool
}

func (w *fakeSender) Send(_ context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error) {
	if w.fail != nil {
		if err := w.fail(); err != nil {
			return "", err
		}
	}
	event := id.EventID("$out-" + o.ID.String())
	if !slices.ContainsFunc(w.sent, func(e sentEvent) bool { return e.event == event }) {
		if w.check != nil {
			w.check(o)
		}
		w.sent = append(w.sent, readSent(o, event, room))
		w.echos = append(w.echos, echoOf(o, event, room))
	}
	if w.after != nil {
		if err := w.after(); err != nil {
			return "", err
		}
	}
	return event, nil
}

// echoOf is a sent event as the homeserver returns it.
func echoOf(o store.OutboxMessage, sent id.EventID, room id.RoomID) *event.Event {
	sender := bot
	if o.SendAs == policy.AsOwner {
		sender = owner
	}
	evt := &event.Event{
		ID:        sent,
		RoomID:    room,
		Sender:    sender,
		Type:      event.Type{Type: o.EventType, Class: event.MessageEventType},
		Timestamp: time.Now().UnixMilli(),
	}
	evt.Content.VeryRaw = o.Content
	_ = json.Unmarshal(o.Content, &evt.Content.Raw)
	return evt
}

func readSent(o store.OutboxMessage, event id.EventID, room id.RoomID) sentEvent {
	var c struct {
		Body     string `json:"body"`
		Mentions struct {
			Users []id.UserID `json:"user_ids"`
		} `json:"m.mentions"`
		New *struct {
			Body string `json:"body"`
		} `json:"m.new_content"`
		RelatesTo struct {
			Type  string     `json:"rel_type"`
			Event id.EventID `json:"event_id"`
			Key   string     `json:"key"`
		} `json:"m.relates_to"`
	}
	_ = json.Unmarshal(o.Content, &c)
	e := sentEvent{
		event:    event,
		room:     room,
		outbox:   o.ID,
		purpose:  o.Purpose,
		body:     c.Body,
		reaction: c.RelatesTo.Key,
		mentions: c.Mentions.Users,
	}
	switch c.RelatesTo.Type {
	case "m.replace":
		e.replaces, e.body = c.RelatesTo.Event, c.New.Body
	case "m.thread":
		e.thread = c.RelatesTo.Event
	}
	return e
}

func (w *fakeSender) Retract(_ context.Context, o store.OutboxMessage) error {
	for i := range w.sent {
		if w.sent[i].outbox == o.ID {
			w.sent[i].redacted = true
		}
	}
	return nil
}

// view returns the texts that stand in a room, with edits applied and deleted ones left out, in order.
func (w *fakeSender) view(room id.RoomID, keep func(sentEvent) bool) []string {
	var texts []string
	for _, e := range w.sent {
		if e.room != room || e.replaces != "" || e.redacted || e.reaction != "" || !keep(e) {
			continue
		}
		body := e.body
		for _, edit := range w.sent {
			if edit.replaces == e.event && !edit.redacted {
				body = edit.body
			}
		}
		texts = append(texts, body)
	}
	return texts
}

func anyEvent(sentEvent) bool { return true }

// rig is an admin room with an owner and two operators who may answer, on a real database.
type rig struct {
	t        *testing.T
	ctx      context.Context
	st       *store.Store
	sender   *fakeSender
	box      *outbox.Box
	inbox    *appservice.Inbox
	settings appservice.Settings
	desk     *desk.Desk
	admin    *admin.Admin
	now      time.Time
	onRead   func() // called when multis reads the time; may be nil
	events   int
	asked    []id.EventID // by escalateDrafted
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t:      t,
		ctx:    t.Context(),
		st:     storetest.New(t),
		sender: &fakeSender{},
		now:    time.Now().Add(-time.Hour).Truncate(time.Second),
	}
	now := func() time.Time {
		if r.onRead != nil {
			r.onRead()
		}
		return r.now
	}
	defaults := policy.Defaults{Profile: policy.ProfileBusiness, FirstDelivery: policy.DeliveryAuto}
	const pause = 24 * time.Hour // the inbox and the gate have the machine's clock
	r.box = outbox.New(r.st, outbox.Settings{
		Defaults:   defaults,
		OwnerPause: pause,
		SendCap:    policy.Rate{Minute: 1000, Day: 10_000},
		Owner:      owner,
		Name:       "Nora",
		Disclose:   func(string) bool { return true },
	}, r.sender)
	r.settings = appservice.Settings{
		Owner:           owner,
		Bot:             bot,
		Operators:       []id.UserID{eva, bob},
		OperatorsAnswer: true,
		Name:            "Nora",
		Defaults:        defaults,
		ReplyMaxAge:     48 * time.Hour,
		OwnerPause:      pause,
		StoreCap:        policy.Rate{Minute: 1000, Day: 10_000},
		SendCap:         policy.Rate{Minute: 1000, Day: 10_000},
	}
	r.newInbox()
	r.desk = desk.New(desk.Options{
		Store:       r.st,
		Box:         r.box,
		Owner:       owner,
		Operators:   []id.UserID{eva, bob},
		ClaimWithin: 10 * time.Minute,
		OwnerPause:  pause,
		Name:        "Nora",
		Now:         now,
	})
	r.admin = admin.New(admin.Options{
		Store:    r.st,
		Box:      r.box,
		Desk:     r.desk,
		Files:    fileServer{"mxc://x/lamp": "a lamp", "mxc://x/list": "a list", "mxc://x/voice": "hello", "mxc://x/spam": "spam"},
		Now:      now,
		Settings: admin.Settings{Name: "Nora", Zone: time.UTC, Defaults: defaults},
	})
	r.chat("Desk", deskRoom, policy.KindAdmin)
	return r
}

// newInbox takes over changed settings.
func (r *rig) newInbox() { r.inbox = appservice.NewInbox(r.st, r.settings) }

func (r *rig) tx(fn func(tx store.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.st.InTx(r.ctx, fn))
}

func (r *rig) chat(name string, room id.RoomID, kind policy.Kind) (chat store.Chat) {
	r.t.Helper()
	c := store.Chat{
		Protocol:   "demo",
		ChannelID:  room.String(),
		RoomID:     &room,
		Kind:       kind,
		Name:       name,
		Contact:    contactOf(room),
		BridgeBot:  bridge,
		Encryption: policy.EncryptionNo,
	}
	if kind == policy.KindAdmin {
		c.Protocol = "matrix"
		c.BridgeBot = ""
		c.Contact = ""
	}
	r.tx(func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(r.ctx, tx, c)
		return err
	})
	return chat
}

// contactOf is the contact of a chat's room.
func contactOf(room id.RoomID) id.UserID { return id.UserID("@demo_" + room.String()[1:]) }

// event makes an event with the next id, a second after the one before it.
func (r *rig) event(kind string, room id.RoomID, sender id.UserID, content any) *event.Event {
	r.t.Helper()
	r.events++
	r.now = r.now.Add(time.Second)
	raw, err := json.Marshal(map[string]any{
		"type": kind, "room_id": room, "sender": sender, "event_id": fmt.Sprintf("$e%d", r.events), "origin_server_ts": r.now.UnixMilli(),
		"content": content,
	})
	require.NoError(r.t, err)
	var evt event.Event
	require.NoError(r.t, json.Unmarshal(raw, &evt))
	return &evt
}

func (r *rig) receive(evt *event.Event) id.EventID {
	r.t.Helper()
	require.NoError(r.t, r.inbox.Receive(r.ctx, []*event.Event{evt}, ""))
	return evt.ID
}

func (r *rig) say(room id.RoomID, sender id.UserID, body string) id.EventID {
	r.t.Helper()
	return r.receive(r.event("m.room.message", room, sender, map[string]any{"msgtype": "m.text", "body": body}))
}

// writeOnPhone has the owner write a message in the network's own app.
func (r *rig) writeOnPhone(room id.RoomID, body string) id.EventID {
	r.t.Helper()
	return r.receive(r.event("m.room.message", room, owner,
		map[string]any{"msgtype": "m.text", "body": body, "fi.mau.double_puppet_source": "mautrix-demo"}))
}

// reply writes in the thread of a card.
func (r *rig) reply(card id.EventID, sender id.UserID, body string) id.EventID {
	r.t.Helper()
	return r.replyIn(deskRoom, card, sender, body)
}

// replyIn writes in the thread of a card of a room.
func (r *rig) replyIn(room id.RoomID, card id.EventID, sender id.UserID, body string) id.EventID {
	r.t.Helper()
	return r.receive(r.event("m.room.message", room, sender, map[string]any{
		"msgtype": "m.text", "body": body, "m.relates_to": map[string]any{
			"rel_type": "m.thread", "event_id": card, "is_falling_back": true,
			"m.in_reply_to": map[string]any{"event_id": card},
		},
	}))
}

func (r *rig) edit(room id.RoomID, sender id.UserID, target id.EventID, body string) {
	r.t.Helper()
	r.receive(r.event("m.room.message", room, sender, map[string]any{
		"msgtype": "m.text", "body": "* " + body, "m.new_content": map[string]any{"msgtype": "m.text", "body": body},
		"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": target},
	}))
}

func (r *rig) react(sender id.UserID, target id.EventID, key string) id.EventID {
	r.t.Helper()
	return r.receive(r.event("m.reaction", deskRoom, sender,
		map[string]any{"m.relates_to": map[string]any{"rel_type": "m.annotation", "event_id": target, "key": key}}))
}

func (r *rig) redact(room id.RoomID, sender id.UserID, target id.EventID) {
	r.t.Helper()
	evt := r.event("m.room.redaction", room, sender, map[string]any{"redacts": target})
	evt.Redacts = target
	r.receive(evt)
}

// escalate lets a contact ask for a person, and returns the event of the card.
func (r *rig) escalate(room id.RoomID, question string, change ...func(*desk.Case)) id.EventID {
	r.t.Helper()
	asked := r.say(room, contactOf(room), question)
	chats, err := store.ChatsByRoom(r.ctx, r.st.DB(), []id.RoomID{room})
	require.NoError(r.t, err)
	m, err := store.MessageByEvent(r.ctx, r.st.DB(), chats[room].ID, asked)
	require.NoError(r.t, err)
	c := desk.Case{Chat: chats[room], Messages: []store.Message{m}, Reason: "It asks for a person."}
	for _, f := range change {
		f(&c)
	}
	r.tx(func(tx store.Tx) error {
		_, err := r.desk.Open(r.ctx, tx, c)
		return err
	})
	r.runAllJobs()
	e := r.escalation(chats[room].ID)
	require.NotNil(r.t, e.CardEvent)
	return *e.CardEvent
}

func (r *rig) escalation(chat store.ChatID) store.Escalation {
	r.t.Helper()
	var newest store.EscalationID
	require.NoError(r.t, r.st.DB().QueryRow(r.ctx, "select max(id) from escalations where chat_id = $1", chat).Scan(&newest))
	e, err := store.EscalationByID(r.ctx, r.st.DB(), newest)
	require.NoError(r.t, err)
	return e
}

// queued is a job that waits.
type queued struct {
	id   int64
	kind string
	args []byte
}

// dueJobs returns the jobs of the desk that are due, the oldest first. Turns are not run here.
func (r *rig) dueJobs() []queued {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx,
		`select id, kind, args from river.river_job where kind in ('command', 'send', 'retract', 'update_escalation', 'copy_file', 'change_reply')
		and state in ('available', 'scheduled') and coalesce((args->>'at')::timestamptz, '-infinity') <= $1 order by id`, r.now)
	require.NoError(r.t, err)
	defer rows.Close()
	var list []queued
	for rows.Next() {
		var q queued
		require.NoError(r.t, rows.Scan(&q.id, &q.kind, &q.args))
		list = append(list, q)
	}
	require.NoError(r.t, rows.Err())
	return list
}

// runJob does a job once. It stays if it failed or is to be repeated.
func (r *rig) runJob(q queued) error {
	r.t.Helper()
	var a struct {
		Message    store.MessageID    `json:"message"`
		Out        uuid.UUID          `json:"outbox"`
		Escalation store.EscalationID `json:"escalation"`
		At         time.Time          `json:"at"`
	}
	require.NoError(r.t, json.Unmarshal(q.args, &a))
	switch q.kind {
	case "command":
		return r.admin.HandleCommand(r.ctx, a.Message, false)
	case "send":
		return r.box.Send(r.ctx, a.Out, false)
	case "retract":
		return r.box.Retract(r.ctx, a.Out)
	case "update_escalation":
		return r.desk.UpdateEscalation(r.ctx, a.Escalation, !a.At.IsZero())
	case "copy_file":
		return r.desk.CopyFile(r.ctx, a.Escalation, a.Message)
	default:
		return r.desk.ChangeReply(r.ctx, a.Message)
	}
}

func (r *rig) deleteJob(q queued) {
	r.t.Helper()
	_, err := r.st.Pool().Exec(r.ctx, "delete from river.river_job where id = $1", q.id)
	require.NoError(r.t, err)
}

var errKilled = errors.New("killed")

// runAllJobs does all jobs until none can go on.
func (r *rig) runAllJobs() {
	r.t.Helper()
	var newest int64
	for range 100 {
		progress := false
		for _, q := range r.dueJobs() {
			if q.id > newest { // what the others of its round have asked for
				newest, progress = q.id, true
			}
			err := r.runJob(q)
			if err == nil || q.kind == "copy_file" && jobs.IsPermanent(err) {
				r.deleteJob(q)
				progress = true
				continue
			}
			require.True(r.t, jobs.IsSnooze(err) || errors.Is(err, errKilled), "%s %s: %v", q.kind, q.args, err)
			progress = progress || errors.Is(err, errKilled)
		}
		if !progress {
			return
		}
	}
	r.t.Fatal("the jobs do not come to an end")
}

// inThread returns what stands in the thread of a card.
func (r *rig) inThread(card id.EventID) string {
	return strings.Join(r.sender.view(deskRoom, func(e sentEvent) bool { return e.thread == card }), "\n")
}

// card returns the card of a thread as it stands.
func (r *rig) card(card id.EventID) string {
	return strings.Join(r.sender.view(deskRoom, func(e sentEvent) bool { return e.event == card }), "\n")
}

const anasRoom = id.RoomID("!ana:example.com")

func TestThread_NoteNeverReachesContact(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken", func(c *desk.Case) {
		c.Proposals = []store.Proposal{{
			Text:      "Please send a photo.",
			Citations: []store.Citation{{Source: "returns.md › Broken", Quote: "Send a photo within a week."}},
		}}
	})
	text := r.card(card)
	for _, part := range []string{
		"Ana · Demo needs a person", "My parcel arrived broken", "It asks for a person.", "returns.md › Broken",
		"Send a photo within a week.", "Please send a photo.",
	} {
		require.Contains(t, text, part)
	}

	r.reply(card, eva, "note: she is a regular")
	r.reply(card, bob, "📝 ask the courier")
	reply := r.reply(card, eva, "Sorry! Which parcel?")
	require.WithinDuration(t, r.now, *r.reload(ana).OwnerWroteAt, 0, "the assistant is quiet from the transaction that stores the reply")
	r.runAllJobs()
	require.Equal(t, []string{"Sorry! Which parcel?"}, r.sender.view(anasRoom, anyEvent))
	require.Contains(t, r.card(card), "✋ **eva**")

	blue := r.say(anasRoom, contactOf(anasRoom), "The blue one")
	r.writeOnPhone(anasRoom, "I'll call you")
	r.edit(deskRoom, eva, reply, "Sorry! Which parcel is it?")
	r.runAllJobs()
	require.Contains(t, r.inThread(card), "**Ana**: The blue one")
	require.Contains(t, r.inThread(card), "**the owner (phone)**: I'll call you")
	require.Equal(t, []string{"Sorry! Which parcel is it?"}, r.sender.view(anasRoom, anyEvent))

	r.redact(deskRoom, eva, reply)
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent), "what is deleted here is deleted there")
	taken := "select count(*) from audit_entries where kind = 'deletion' and actor = 'operator' and action = 'draft' and outcome = 'deleted' and ref <> '' and chat_id = $1"
	require.Equal(t, 2, storetest.Count(t, r.st, taken, ana.ID), "the reply and its edit")

	r.react(bob, card, "✅")
	r.runAllJobs()
	require.Contains(t, r.card(card), "**resolved** by bob")
	require.Nil(t, r.reload(ana).OwnerWroteAt, "the assistant answers again")
	r.edit(anasRoom, contactOf(anasRoom), blue, "The green one")
	r.runAllJobs()
	require.Contains(t, r.inThread(card), "**Ana**: The green one", "an edit after the end is shown, too")
	r.reply(card, eva, "too late")
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent))
	require.Contains(t, r.inThread(card), "Not sent: this is resolved. `/handoff Ana` opens a new thread. It was “too late”.")
}

func TestReply_DeletedEarlyIsTakenBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	reply := r.reply(card, eva, "This is for another customer.")
	r.sender.after = func() error { return errKilled }
	for range 2 { // the command, then the send: the homeserver has it, and the program does not know
		for _, q := range r.dueJobs() {
			if r.runJob(q) == nil {
				r.deleteJob(q)
			}
		}
	}
	r.sender.after = nil
	r.redact(deskRoom, eva, reply)
	r.runAllJobs()
	require.NotEmpty(t, r.sender.view(anasRoom, anyEvent))
	for _, evt := range r.sender.echos {
		r.receive(evt)
		r.receive(evt)
	}
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent))
}

func (r *rig) reload(c store.Chat) store.Chat {
	r.t.Helper()
	c, err := store.ChatByID(r.ctx, r.st.DB(), c.ID)
	require.NoError(r.t, err)
	return c
}

// A card says in its title that somebody is in danger.
func TestCard_SaysDanger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "There is a smell of gas", func(c *desk.Case) {
		c.Cause = policy.CauseDanger
		c.Reason = policy.CodeDanger.Sentence()
	})
	require.Contains(t, r.card(card), "🚨 **Ana · Demo needs a person now: danger or pain**")
}

// Danger in a thread that is open already alerts whoever is asked there.
func TestThread_DangerAlerts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	r.escalate(anasRoom, "Where is my parcel?")
	r.escalate(anasRoom, "There is a smell of gas here")
	lines := r.sender.view(deskRoom, anyEvent)
	require.Contains(t, lines[len(lines)-1], "🚨 customer **Ana")
}
