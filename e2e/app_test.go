//go:build e2e

package e2e

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"testing"
	"text/template"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/bridge/demonet"
	"multis/e2e/rig"
	"multis/knowledge"
	"multis/policy"
	"multis/store"
)

//go:embed testdata/config.yaml
var configTemplate string

//go:embed testdata/prices.md
var prices []byte

// setup is what a test changes of the configuration. The zero value is an owner whose chats are silent unless switched.
type setup struct {
	Profile  string // personal unless said otherwise
	Quiet    string // burst_quiet; short unless said otherwise
	Model    string // the address of a model server; none unless said otherwise
	APIKey   string // by which the model server tells processes apart
	Database string // its address; a new one unless said otherwise
	Off      bool   // the whole network is off
	Locked   bool   // the bridge encrypts every chat
	New      bool   // no other test has used the world
	Speech   string // the address of a transcription server; none unless said otherwise
	Agents   string // who answers, as YAML on one line; multis itself unless said otherwise
}

// app is multis as one test has it: a process, and what stands before and behind it.
type app struct {
	*scene
	t     *testing.T
	setup setup
	back  *back
	db    *store.Store
	port  int

	process *rig.Multis
}

// start starts multis on a database of the test's own, with the owner in its admin room.
func start(t *testing.T, s setup) *app {
	t.Helper()
	a := begin(t, s)
	a.joinAdminRoom()
	return a
}

// begin starts multis; whether the owner comes into the admin room is the test's.
func begin(t *testing.T, s setup) *app {
	t.Helper()
	pool := plainWorlds
	switch {
	case s.Locked:
		pool = encryptedWorlds
	case s.New:
		pool = newWorld
	}
	around := pool.claim(t)
	if s.Database == "" {
		var err error
		s.Database, err = around.newDatabase(t.Context())
		require.NoError(t, err)
	}
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	a := &app{scene: around, t: t, setup: s, back: openBack(t, around.Stack.HomeserverURL), port: ports[0]}
	a.db, err = store.Open(t.Context(), s.Database)
	require.NoError(t, err)
	t.Cleanup(a.db.Close)
	t.Cleanup(func() {
		a.front.lead()
		if a.process == nil {
			return // it could not be started
		}
		require.NoError(t, a.process.Kill())
		if t.Failed() {
			t.Log("multis printed:", a.process.Log)
		}
	})
	a.front.lead(a.port)
	a.run()
	return a
}

// run starts the process, after a kill too.
func (a *app) run() {
	a.t.Helper()
	process, err := a.StartMultis(a.t.Context(), a.config(a.port))
	require.NoError(a.t, err)
	a.process = process
	if a.setup.Locked {
		a.bridgeKnows()
	}
}

// A bridge that shares no encrypted room with the owner yet asks for his sessions when it does.
const bridgeKnowsSQL = `select not exists (select from crypto_tracked_user where user_id = $1)
	or exists (select from crypto_device where user_id = $1 and device_id = $2 and not deleted)`

// bridgeKnows waits until the bridge has seen multis' session, and encrypts for it.
func (a *app) bridgeKnows() {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.Stack.PostgresDSN(rig.BridgeDatabase))
	require.NoError(a.t, err)
	defer conn.Close(a.t.Context())
	a.until("the bridge to see the session", func(ctx context.Context) (known bool, err error) {
		err = conn.QueryRow(ctx, bridgeKnowsSQL, owner, a.session()).Scan(&known)
		return known, err
	})
}

// bridgeForgets waits until the bridge knows that a session was ended, and encrypts for it no more.
func (a *app) bridgeForgets(session id.DeviceID) {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.Stack.PostgresDSN(rig.BridgeDatabase))
	require.NoError(a.t, err)
	defer conn.Close(a.t.Context())
	a.until("the bridge to forget the session", func(ctx context.Context) (gone bool, err error) {
		err = conn.QueryRow(ctx, "select not exists (select from crypto_device where user_id = $1 and device_id = $2 and not deleted)", owner, session).Scan(&gone)
		return gone, err
	})
}

func (a *app) config(port int) []byte {
	a.t.Helper()
	parsed, err := template.New("config.yaml").Parse(configTemplate)
	require.NoError(a.t, err)
	var text bytes.Buffer
	require.NoError(a.t, parsed.Execute(&text, struct {
		setup
		Domain, Owner, Homeserver, Address, ASToken, HSToken, Sender string
		Port                                                         int
	}{
		a.setup, devstack.Domain, string(rig.OwnerID), a.back.URL, a.tokens.Address, a.tokens.ASToken.Value(),
		a.tokens.HSToken.Value(), a.tokens.SenderLocalpart, port,
	}))
	return text.Bytes()
}

// step runs a part of the test that has a name of its own. Parts build on one another and run in their order.
func (a *app) step(name string, part func(t *testing.T)) {
	whole := a.t
	defer func() { a.t = whole }()
	whole.Run(name, func(t *testing.T) {
		a.t = t
		part(t)
	})
}

// joinAdminRoom accepts the bot's invitation, unless the owner did in an earlier test: the room outlives the database.
func (a *app) joinAdminRoom() {
	a.t.Helper()
	_, err := a.Owner.JoinRoomByID(a.t.Context(), a.adminRoom())
	require.NoError(a.t, err)
}

func (a *app) adminRoom() id.RoomID {
	a.t.Helper()
	chat, err := store.AdminChat(a.t.Context(), a.db.DB())
	require.NoError(a.t, err)
	return *chat.RoomID
}

// learn puts the price list into the public library.
func (a *app) learn() {
	a.t.Helper()
	_, err := knowledge.New(a.db).Index(a.t.Context(), knowledge.File{Name: "prices.md", Data: prices, Role: policy.Public})
	require.NoError(a.t, err)
}

// say makes a contact speak and returns when multis has stored it.
func (a *app) say(contact, text string) (demonet.Said, store.Message) {
	a.t.Helper()
	said, err := a.Say(a.t.Context(), contact, text)
	require.NoError(a.t, err)
	return said, a.stored(said.Event)
}

// stored waits for the row of an event.
func (a *app) stored(event id.EventID) (message store.Message) {
	a.t.Helper()
	a.until("the row of "+event.String(), func(ctx context.Context) (found bool, err error) {
		message, found, err = a.message(ctx, event)
		return found, err
	})
	return message
}

const messageIDSQL = "select coalesce((select id from messages where event_id = $1 and parked is null), 0)"

func (a *app) message(ctx context.Context, event id.EventID) (store.Message, bool, error) {
	var row int64
	if err := a.db.DB().QueryRow(ctx, messageIDSQL, event).Scan(&row); err != nil || row == 0 {
		return store.Message{}, false, err
	}
	message, err := store.MessageByID(ctx, a.db.DB(), row)
	return message, err == nil, err
}

// chat finds the chat of a contact.
func (a *app) chat(contact string) store.Chat {
	a.t.Helper()
	room, err := a.PortalRoom(a.t.Context(), contact)
	require.NoError(a.t, err)
	var found map[id.RoomID]store.Chat
	a.until("the chat of "+contact, func(ctx context.Context) (bool, error) {
		found, err = store.ChatsByRoom(ctx, a.db.DB(), []id.RoomID{room})
		return len(found) == 1, err
	})
	return found[room]
}

// business introduces contacts and switches their chats to business, by command.
func (a *app) business(contacts ...string) {
	a.t.Helper()
	for _, contact := range contacts {
		a.say(contact, "hi")
		require.Contains(a.t, a.command("/mode business "+a.chat(contact).Name), "is now business")
	}
}

// command says something in the admin room as the owner and returns what he then reads there.
func (a *app) command(text string) string {
	a.t.Helper()
	return a.answer(a.write(text))
}

// write says something in the admin room as the owner.
func (a *app) write(text string) id.EventID {
	a.t.Helper()
	sent, err := a.Owner.SendText(a.t.Context(), a.adminRoom(), text)
	require.NoError(a.t, err)
	return sent.EventID
}

const answerSQL = `select coalesce((select o.event_id from messages m join outbox o on o.id = m.outbox_id where m.event_id = $1), '')`

// answer waits for what multis replies to a message in the admin room.
func (a *app) answer(asked id.EventID) string {
	a.t.Helper()
	return a.read(a.adminRoom(), a.answerEvent(asked))
}

// answerEvent waits for the event that answers another one.
func (a *app) answerEvent(asked id.EventID) (answer id.EventID) {
	a.t.Helper()
	a.until("an answer to "+asked.String(), func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx, answerSQL, asked).Scan(&answer)
		return answer != "", err
	})
	return answer
}

// read is the text of an event as the owner's client gets it.
func (a *app) read(room id.RoomID, event id.EventID) string {
	a.t.Helper()
	evt, err := a.Owner.GetEvent(a.t.Context(), room, event)
	require.NoError(a.t, err)
	return bodyOf(a.t, evt)
}

func bodyOf(t *testing.T, evt *event.Event) string {
	t.Helper()
	var content struct {
		Body string `json:"body"`
	}
	require.NoError(t, json.Unmarshal(evt.Content.VeryRaw, &content))
	return content.Body
}

const busySQL = `select exists (select from river.river_job where kind not in ('digest', 'tick') and state in ('available', 'running', 'retryable', 'scheduled', 'pending'))`

const elapseSQL = `with chat as (update chats set typing_until = typing_until - $1::interval, held_until = held_until - $1::interval),
	message as (update messages set received_at = received_at - $1::interval where answered_at is null)
	update river.river_job set scheduled_at = scheduled_at - $1::interval,
		state = case when scheduled_at - $1::interval <= now() then 'available' else state end
	where state in ('available', 'scheduled', 'retryable') and kind <> 'tick'`

// elapse lets time pass for the chats, messages and jobs of multis, instead of waiting for it.
func (a *app) elapse(d time.Duration) {
	a.t.Helper()
	_, err := a.db.DB().Exec(a.t.Context(), elapseSQL, d)
	require.NoError(a.t, err)
}

// quiet waits until multis has nothing more to do for now: what was not sent by then never is.
func (a *app) quiet() {
	a.t.Helper()
	a.until("multis to be idle", func(ctx context.Context) (bool, error) {
		busy, err := a.exists(ctx, busySQL)
		return !busy, err
	})
}

func (a *app) exists(ctx context.Context, sql string, args ...any) (yes bool, err error) {
	err = a.db.DB().QueryRow(ctx, sql, args...).Scan(&yes)
	return yes, err
}

// count runs a query for one number.
func (a *app) count(sql string, args ...any) (n int) {
	a.t.Helper()
	require.NoError(a.t, a.db.DB().QueryRow(a.t.Context(), sql, args...).Scan(&n))
	return n
}

// delivered waits for n messages from Matrix on a contact's phone, and for nothing to follow them.
func (a *app) delivered(contact string, n int) []demonet.Delivery {
	a.t.Helper()
	a.until("deliveries to "+contact, func(ctx context.Context) (bool, error) {
		got, err := a.Delivered(ctx, contact)
		return len(got) >= n, err
	})
	a.quiet()
	got, err := a.Delivered(a.t.Context(), contact)
	require.NoError(a.t, err)
	require.Len(a.t, got, n, "messages to %s", contact)
	return got
}

// until polls as rig.Await does.
func (a *app) until(what string, check func(context.Context) (bool, error)) {
	a.t.Helper()
	require.NoError(a.t, rig.Await(a.t.Context(), what, check))
}

// log is what the process has printed so far.
func (a *app) log() string {
	a.t.Helper()
	text, err := os.ReadFile(a.process.Log)
	require.NoError(a.t, err)
	return string(text)
}

// patience is how long a contact may wait for an answer whatever happens.
const patience = 60 * time.Second
