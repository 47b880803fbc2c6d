package admin_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/admin"
	"multis/agent/mcp"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/bridgebridge"
	"multis/business/answers"
	"multis/business/desk"
	"multis/clock"
	"multis/internal/fetch"
	"multis/knowledge"
	"multis/knowledge/knowledgetest"
	"multis/knowledge/search"
	"multis/llm"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
	"multis/store/storetest"
)

// noon is the time of the tests: 18:00 on a Friday in the owner's zone.
var noon = time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC)

const (
	owner    = id.UserID("@you:example.com")
	operator = id.UserID("@eva:example.com")
)

// sentEvent is an event as the homeserver received it.
type sentEvent struct {
	Event     id.EventID
	Room      id.RoomID
	Body      string
	HTML      string
	Type      string // the msgtype; empty for a reaction
	React     string // the key of a reaction
	ReactedTo id.EventID
	Content   json.RawMessage
	Mentions  []id.UserID // who is mentioned
}

// homeserver is a fake that records what is sent.
type homeserver struct {
	sent  []sentEvent
	ended []sentEvent // the edits that end a card or a question
	files map[id.ContentURIString][]byte
	// sendErr is returned for every event; nil accepts them.
	sendErr error
	// others are in the admin room besides the owner.
	others []id.UserID
}

// OtherReaders returns who else is in the admin room.
func (h *homeserver) OtherReaders(context.Context, id.RoomID, id.UserID) ([]id.UserID, error) {
	return h.others, nil
}

func (h *homeserver) Send(_ context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error) {
	var content struct {
		Body     string `json:"body"`
		HTML     string `json:"formatted_body"`
		MsgType  string `json:"msgtype"`
		Mentions struct {
			Users []id.UserID `json:"user_ids"`
		} `json:"m.mentions"`
		RelatesTo struct {
			Event id.EventID `json:"event_id"`
			Key   string     `json:"key"`
		} `json:"m.relates_to"`
	}
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return "", err
	}
	if h.sendErr != nil {
		return "", h.sendErr
	}
	event := id.EventID("$out-" + o.ID.String())
	sent := sentEvent{
		Event:     event,
		Room:      room,
		Body:      content.Body,
		HTML:      content.HTML,
		Type:      content.MsgType,
		React:     content.RelatesTo.Key,
		ReactedTo: content.RelatesTo.Event,
		Content:   o.Content,
		Mentions:  content.Mentions.Users,
	}
	if sent.endsCard() {
		h.ended = append(h.ended, sent)
	} else {
		h.sent = append(h.sent, sent)
	}
	return event, nil
}

// Show records what is shown while work goes on.
func (h *homeserver) Show(ctx context.Context, o store.OutboxMessage, room id.RoomID) (id.EventID, error) {
	return h.Send(ctx, o, room)
}

func (h *homeserver) Retract(context.Context, store.OutboxMessage) error { return nil }

func (h *homeserver) Download(_ context.Context, file store.Attachment, _ int64) ([]byte, error) {
	data, found := h.files[file.URL]
	if !found {
		return nil, fmt.Errorf("download the file: M_NOT_FOUND")
	}
	return data, nil
}

// fakeAgent answers every question with the question. It takes the place of agent.Agent, whose own tests have a scripted model: here
// only what the room makes of an answer, an error or a missing model is tested.
type fakeAgent struct {
	err        error
	blocks     bool // works until its time is over
	heartbeats int
	goals      []string
	// noModel is true if no model is configured.
	noModel bool
	// saysNote answers with the note of a search that finds nothing, if there is one.
	saysNote bool
	// answers returns the agent that answers in a chat; nil when multis itself does everywhere.
	answers func(store.Chat) (agent, by string)
	st      *store.Store
	box     *outbox.Box
}

func (a *fakeAgent) AskWithNote(ctx context.Context, room store.Chat, message store.Message, question, note string) error {
	if a.err != nil {
		return a.err
	}
	return a.st.InTx(ctx, func(tx store.Tx) error {
		said := fmt.Sprintf("You asked **%s** in chat %d.", question, room.ID)
		if a.saysNote && note != "" {
			said = note
		}
		out, _, err := a.box.Queue(ctx, tx, outbox.NewNotice(room, said, outbox.Answer))
		if err != nil {
			return err
		}
		_, err = store.MarkAnswered(ctx, tx, []store.MessageID{message.ID}, &out, policy.CodeCommand, policy.CodeCommand.Sentence())
		return err
	})
}

// HasModel reports a model for @shop, and for the room unless noModel is set.
func (a *fakeAgent) HasModel(_ store.Chat, question string) bool {
	return !a.noModel || strings.HasPrefix(question, "@shop")
}

func (a *fakeAgent) AnsweringAgent(c store.Chat) (agent, by string) {
	if a.answers == nil {
		return "", ""
	}
	return a.answers(c)
}

func (a *fakeAgent) Replay(context.Context, store.TaskID) (string, error) {
	return "it said zanzibar", nil
}

func (a *fakeAgent) AnswerScheduled(ctx context.Context, room store.Chat, _ store.ExecutionID, text string) error {
	if a.blocks {
		<-ctx.Done()
		return fmt.Errorf("ask the model: %w", ctx.Err())
	}
	if a.err != nil {
		return a.err
	}
	return a.st.InTx(ctx, func(tx store.Tx) error {
		_, _, err := a.box.Queue(ctx, tx, outbox.NewNotice(room, fmt.Sprintf("I worked on **%s**.", text), outbox.Answer))
		return err
	})
}

func (a *fakeAgent) Plan(_ context.Context, _ store.Tx, _ store.Chat, _ store.Message, goal string) error {
	a.goals = append(a.goals, goal)
	return a.err
}

func (a *fakeAgent) ReplayWith(_ context.Context, _ store.Tx, _ store.Chat, _ store.Message, task store.Task, model string) error {
	a.goals = append(a.goals, fmt.Sprintf("replay %d with %s", task.ID, model))
	return a.err
}

func (a *fakeAgent) Heartbeat(_ context.Context, _ store.Chat, _ store.ExecutionID, persona string) (string, error) {
	a.heartbeats++
	return "looked as " + cmp.Or(persona, "nobody in particular"), a.err
}

// configured is a fake of the configuration: it has the tools, servers and saved tasks of its rig.
type configured struct{ *rig }

func (o configured) OfferedTools(context.Context, store.Chat) ([]tools.Spec, error) {
	return o.tools, nil
}

func (o configured) States() []mcp.State { return o.sources }

func (o configured) Saved() []skills.SavedTask { return o.saved }

func (o configured) Start(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, name string) (string, error) {
	return o.beginSaved[name](ctx, tx, room, message)
}

// rig is an admin room with a database of its own, an owner and an operator.
type rig struct {
	t          *testing.T
	ctx        context.Context
	st         *store.Store
	box        *outbox.Box
	homeserver *homeserver
	agent      *fakeAgent
	settings   admin.Settings
	now        time.Time
	admin      *admin.Admin
	room       store.Chat
	events     int
	fetch      *fetch.Client
	clock      *clock.Clock
	upkeep     []clock.Upkeep
	heartbeats []clock.Heartbeat
	documents  string // the documents folder
	// operators may set schedules, too.
	operators  []id.UserID
	answerers  []id.UserID // operators who may answer contacts
	tools      []tools.Spec
	sources    []mcp.State
	saved      []skills.SavedTask
	beginSaved map[string]func(context.Context, store.Tx, store.Chat, store.Message) (problem string, err error) // by the task's name
	memory     *memory.Memory
	examiner   admin.Examiner
	health     admin.Health
	accounts   admin.Accounts
	config     admin.Configuration
	previewer  admin.Previewer
	book       *answers.Keeper
	pin        *pin.Keeper
	host       admin.Host
	time       func() time.Time // the clock; returns now unless a test says otherwise
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t:          t,
		ctx:        context.Background(),
		st:         storetest.New(t),
		homeserver: &homeserver{files: map[id.ContentURIString][]byte{}},
		agent:      &fakeAgent{},
		now:        noon,
	}
	r.time = func() time.Time { return r.now }
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	disclose := func(protocol string) bool { return protocol != "signal" }
	defaults := policy.Defaults{Profile: policy.ProfilePersonal, Networks: map[string]policy.Mode{}}
	r.box = outbox.New(r.st, outbox.Settings{
		Defaults:   defaults,
		OwnerPause: 30 * time.Minute,
		SendCap:    policy.Rate{Minute: 10, Day: 100},
		Owner:      owner,
		Name:       "Nora",
		Disclose:   disclose,
	}, r.homeserver)
	r.agent.st, r.agent.box = r.st, r.box
	r.settings = admin.Settings{
		Version:    "1.2",
		Name:       "Nora",
		Model:      "some-model",
		Zone:       zone,
		Defaults:   defaults,
		OwnerPause: 30 * time.Minute,
		Disclose:   disclose,
		DayBudget:  2_000_000,
		Currency:   "EUR",
	}
	r.operators = []id.UserID{operator}
	r.documents = filepath.Join(t.TempDir(), "documents")
	require.NoError(t, os.Mkdir(r.documents, 0o700))
	r.restart()
	r.room = r.chat("Admin", "", func(c *store.Chat) { c.Kind = policy.KindAdmin })
	return r
}

// restart makes a new Admin on the same store, as a new process would.
func (r *rig) restart() {
	r.agent.noModel = r.settings.Model == "none"
	now := func() time.Time { return r.time() }
	r.clock = clock.New(clock.Options{
		Store:      r.st,
		Messenger:  admin.ScheduleMessenger{Box: r.box, Defaults: r.settings.Defaults, Zone: r.settings.Zone, Now: now},
		Worker:     r.agent,
		Checker:    r.agent,
		Upkeep:     r.upkeep,
		Heartbeats: r.heartbeats,
		Owner:      owner,
		Operators:  r.operators,
		Zone:       r.settings.Zone,
		Now:        now,
	})
	r.memory = memory.New(memory.Options{
		Store:    r.st,
		Search:   search.New(r.st),
		Model:    llm.None{},
		Zone:     r.settings.Zone,
		Defaults: r.settings.Defaults,
		Now:      now,
	})
	library := knowledge.Open(r.st, knowledge.Options{Fetch: r.fetch, Folder: r.documents, CacheDir: knowledgetest.EngineCache(r.t)})
	r.book = &answers.Keeper{
		Store:     r.st,
		Search:    search.New(r.st),
		Library:   library,
		Defaults:  r.settings.Defaults,
		Variables: answers.Variables{Business: "Piano House", Hours: "mon-fri 9-17"},
	}
	r.admin = admin.New(admin.Options{
		Store:    r.st,
		Box:      r.box,
		Search:   search.New(r.st),
		Library:  library,
		Answers:  r.book,
		Asker:    r.agent,
		Planner:  r.agent,
		Files:    r.homeserver,
		Settings: r.settings,
		Clock:    r.clock,
		Tools:    configured{r},
		Servers:  configured{r},
		Saved:    configured{r},
		Replayer: r.agent,
		Desk: desk.New(desk.Options{
			Store:       r.st,
			Box:         r.box,
			Owner:       owner,
			Operators:   r.answerers,
			ClaimWithin: 10 * time.Minute,
			OwnerPause:  30 * time.Minute,
			Name:        "Nora",
			Zone:        r.settings.Zone,
			Now:         now,
		}),
		Memory:    r.memory,
		Now:       now,
		Examiner:  r.examiner,
		Health:    r.health,
		Accounts:  r.accounts,
		Readers:   r.homeserver,
		Config:    r.config,
		Previewer: r.previewer,
		PIN:       r.pin,
		Host:      r.host,
	})
}

func (r *rig) tx(fn func(tx store.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.st.InTx(r.ctx, fn))
}

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.st.Pool().Exec(r.ctx, sql, args...)
	require.NoError(r.t, err)
}

// chat adds an unencrypted direct chat, changed by the functions.
func (r *rig) chat(name, protocol string, change ...func(*store.Chat)) store.Chat {
	r.t.Helper()
	r.events++
	room := id.RoomID(fmt.Sprintf("!room%d:example.com", r.events))
	c := store.Chat{
		Protocol:   protocol,
		ChannelID:  fmt.Sprintf("channel%d", r.events),
		RoomID:     &room,
		Kind:       policy.KindDM,
		Name:       name,
		BridgeBot:  "@bot:example.com",
		Encryption: policy.EncryptionNo,
	}
	for _, f := range change {
		f(&c)
	}
	r.tx(func(tx store.Tx) (err error) {
		c, err = store.UpsertChat(r.ctx, tx, c)
		return err
	})
	return c
}

// setLastMessage sets how long ago the last message of a chat was.
func (r *rig) setLastMessage(c store.Chat, ago time.Duration) {
	r.t.Helper()
	r.exec("update chats set last_message_at = $2 where id = $1", c.ID, r.now.Add(-ago))
}

func (r *rig) reload(c store.Chat) store.Chat {
	r.t.Helper()
	c, err := store.ChatByID(r.ctx, r.st.DB(), c.ID)
	require.NoError(r.t, err)
	return c
}

func (r *rig) event() id.EventID {
	r.events++
	return id.EventID(fmt.Sprintf("$in%d", r.events))
}

// storeCommand stores a message in the admin room, as the inbox does.
func (r *rig) storeCommand(m store.Message) store.MessageID {
	r.t.Helper()
	m.ChatID = r.room.ID
	m.At = r.now
	m.Action = policy.ActionCommand
	m.Code = cmp.Or(m.Code, policy.CodeCommand)
	if m.EventID == "" {
		m.EventID = r.event()
	}
	if m.Kind == "" {
		m.Kind = string(bridgebridge.Text)
	}
	if m.Author == "" {
		m.Author, m.Sender = policy.AuthorOwnerClient, owner
	}
	var row store.MessageID
	r.tx(func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(r.ctx, tx, m)
		return err
	})
	r.exec("update messages set received_at = $2 where id = $1", row, r.now)
	return row
}

// runJobs runs both jobs of a message in the admin room. The first passes a question to the second.
func (r *rig) runJobs(message store.MessageID, last bool) error {
	if err := r.admin.HandleCommand(r.ctx, message, last); err != nil {
		return err
	}
	return r.admin.Answer(r.ctx, message, last)
}

// handle runs the jobs of a message and returns what was sent.
func (r *rig) handle(m store.Message) []sentEvent {
	r.t.Helper()
	require.NoError(r.t, r.runJobs(r.storeCommand(m), false))
	return r.sendQueued()
}

// sendQueued sends what is queued in the outbox.
func (r *rig) sendQueued() []sentEvent {
	r.t.Helper()
	before := len(r.homeserver.sent)
	for _, out := range r.queued() {
		require.NoError(r.t, r.box.Send(r.ctx, out, false))
	}
	return r.homeserver.sent[before:]
}

func (r *rig) queued() []uuid.UUID {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx, "select id from outbox where state = 'queued' order by seq")
	require.NoError(r.t, err)
	defer rows.Close()
	var outs []uuid.UUID
	for rows.Next() {
		var out uuid.UUID
		require.NoError(r.t, rows.Scan(&out))
		outs = append(outs, out)
	}
	require.NoError(r.t, rows.Err())
	return outs
}

// asOwner writes a text as the owner and returns what was sent.
func (r *rig) asOwner(line string) string {
	r.t.Helper()
	return bodies(r.handle(store.Message{Body: line}))
}

// asOperator writes a text as an operator and returns what was sent.
func (r *rig) asOperator(line string) string {
	r.t.Helper()
	return bodies(r.handle(store.Message{Body: line, Author: policy.AuthorOperator, Sender: operator}))
}

// react puts the owner's reaction on an event and returns what was sent.
func (r *rig) react(to id.EventID, key string) string {
	r.t.Helper()
	return bodies(r.handle(store.Message{Body: key, Kind: string(bridgebridge.Reaction), RelatesTo: to}))
}

// sendFile sends a file to the admin room.
func (r *rig) sendFile(name, data, caption string) []sentEvent {
	r.t.Helper()
	url := id.ContentURIString("mxc://example.com/" + r.event())
	r.homeserver.files[url] = []byte(data)
	return r.handle(store.Message{
		Kind: string(bridgebridge.Document), Body: strings.TrimSpace("[file " + name + "] " + caption),
		Attachment: &store.Attachment{URL: url, Name: name, MIME: "text/markdown", Size: len(data)},
	})
}

// lastSent returns the event that was sent last.
func (r *rig) lastSent() sentEvent {
	r.t.Helper()
	require.NotEmpty(r.t, r.homeserver.sent)
	return r.homeserver.sent[len(r.homeserver.sent)-1]
}

// count returns the number that a query gives.
func (r *rig) count(sql string, args ...any) int {
	r.t.Helper()
	return storetest.Count(r.t, r.st, sql, args...)
}

// bodies returns what was sent as plain text, reactions in brackets.
func bodies(events []sentEvent) string {
	var lines []string
	for _, e := range events {
		if e.React != "" {
			lines = append(lines, "["+e.React+"]")
			continue
		}
		lines = append(lines, e.Body)
	}
	return strings.Join(lines, "\n")
}

// endings matches the bodies of edits that write on a card or a question what became of it.
var endings = regexp.MustCompile(`^\* (✅ \*\*Sent|👎 \*\*Dropped|⌛ \*\*Expired|✏️ \*\*Changed|⚠️ \*\*Not delivered)|(?s)^\* .*(✅|❌|⌛ expired|stopped) ([A-Z][a-z]{2} \d.*)?\d\d:\d\d`)

// endsCard reports whether an event is such an edit.
func (e sentEvent) endsCard() bool {
	return strings.Contains(string(e.Content), `"m.replace"`) && endings.MatchString(e.Body)
}

func text(lines ...string) string { return strings.Join(lines, "\n") }

// addDocument indexes a document.
func (r *rig) addDocument(name, data string, role policy.Role) {
	r.t.Helper()
	_, err := knowledge.New(r.st).Index(r.ctx, knowledge.File{Name: name, Data: []byte(data), Role: role})
	require.NoError(r.t, err)
}
