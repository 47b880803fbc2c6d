//go:build e2e

package e2e

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"os"
	"strings"
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

// setup selects a world and the parts of the configuration that differ between tests. With the zero value all chats are silent.
type setup struct {
	Profile  string // defaults to personal
	Quiet    string // burst_quiet and burst_max; defaults to 200ms
	Model    string // the URL of a model server; may be empty
	APIKey   string // identifies the process at the model server
	Database string // defaults to a new database
	Off      bool   // the mode of the network is off
	Locked   bool   // the bridge encrypts every chat
	New      bool   // no other test has used the world
	Speech   string // the URL of a transcription server; may be empty
	Vision   string // the model at Model that looks at pictures; may be empty
	ExecIn   string // the data folder of a multis that runs commands; empty for one that does not
	Agents   string // the agents as YAML on one line; may be empty
	// Operators are the operators, who may answer, as YAML on one line; may be empty.
	Operators string
	// OperatorsRoom asks for a room for operators.
	OperatorsRoom bool
	Extra         string // further keys of the configuration, as YAML; may be empty
}

// app is a running multis of one test, with the proxies on both sides.
type app struct {
	*scene
	t     *testing.T
	setup setup
	back  *clientProxy
	db    *store.Store
	port  int

	process *rig.Multis
}

// start starts multis on a new database and joins the owner to the admin room.
func start(t *testing.T, s setup) *app {
	t.Helper()
	a := begin(t, s)
	a.joinAdminRoom()
	return a
}

// begin starts multis on a new database.
func begin(t *testing.T, s setup) *app {
	t.Helper()
	pool := plainWorlds
	switch {
	case s.Locked:
		pool = encryptedWorlds
	case s.New:
		pool = unusedWorlds
	}
	around := pool.claim(t)
	if s.Database == "" {
		var err error
		s.Database, err = around.newDatabase(t.Context())
		require.NoError(t, err)
	}
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	a := &app{
		scene: around,
		t:     t,
		setup: s,
		back:  openClientProxy(t, around.Stack.HomeserverURL),
		port:  ports[0],
	}
	a.db, err = store.Open(t.Context(), s.Database)
	require.NoError(t, err)
	t.Cleanup(a.db.Close)
	t.Cleanup(func() {
		a.front.setTargets()
		if a.process == nil {
			return // it could not be started
		}
		require.NoError(t, a.process.Kill())
		logOfFailed(t, a.process)
	})
	require.NoError(t, around.settle(t.Context()))
	a.front.setTargets(a.port)
	a.run()
	return a
}

// logOfFailed logs the last output of a process if the test failed.
func logOfFailed(t *testing.T, process *rig.Multis) {
	if t.Failed() {
		t.Logf("multis printed to %s, at the end:\n%s", process.Log, lastLines(process.Log, 60))
	}
}

// lastLines returns the last lines of a file, or why it cannot be read.
func lastLines(file string, n int) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// run starts the process, or restarts it after a kill.
func (a *app) run() {
	a.t.Helper()
	process, err := a.StartMultis(a.t.Context(), a.config(a.port))
	require.NoError(a.t, err)
	a.process = process
	if a.setup.Locked {
		a.awaitBridgeTrust()
	}
}

// A bridge that shares no encrypted room with the owner queries the owner's devices when it needs them.
const bridgeKnowsSQL = `select not exists (select from crypto_tracked_user where user_id = $1)
	or exists (select from crypto_device where user_id = $1 and device_id = $2 and not deleted)`

// awaitBridgeTrust waits until the bridge knows multis' device and encrypts for it.
func (a *app) awaitBridgeTrust() {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.Stack.PostgresDSN(rig.BridgeDatabase))
	require.NoError(a.t, err)
	defer conn.Close(a.t.Context())
	a.await("the bridge to see the session", func(ctx context.Context) (known bool, err error) {
		err = conn.QueryRow(ctx, bridgeKnowsSQL, owner, a.session()).Scan(&known)
		return known, err
	})
}

// awaitBridgeDistrust waits until the bridge knows that a device was logged out and no longer encrypts for it.
func (a *app) awaitBridgeDistrust(session id.DeviceID) {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), a.Stack.PostgresDSN(rig.BridgeDatabase))
	require.NoError(a.t, err)
	defer conn.Close(a.t.Context())
	a.await("the bridge to forget the session", func(ctx context.Context) (gone bool, err error) {
		err = conn.QueryRow(ctx, "select not exists (select from crypto_device where user_id = $1 and device_id = $2 and not deleted)", owner,
			session).Scan(&gone)
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

// step runs a subtest that depends on the ones before.
func (a *app) step(name string, part func(t *testing.T)) {
	whole := a.t
	defer func() { a.t = whole }()
	whole.Run(name, func(t *testing.T) {
		a.t = t
		part(t)
	})
}

// joinAdminRoom accepts the bot's invitation, if the owner has not done so in an earlier test. The room outlives the database.
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

// learn indexes the price list as a public document.
func (a *app) learn() {
	a.t.Helper()
	a.learnText("prices.md", string(prices))
}

// learnText indexes a text as a public document.
func (a *app) learnText(name, text string) {
	a.t.Helper()
	_, err := knowledge.New(a.db).Index(a.t.Context(), knowledge.File{Name: name, Data: []byte(text), Role: policy.RolePublic})
	require.NoError(a.t, err)
}

// say sends a message of a contact and waits until multis has stored it.
func (a *app) say(contact, text string) (demonet.Said, store.Message) {
	a.t.Helper()
	said, err := a.Say(a.t.Context(), contact, text)
	require.NoError(a.t, err)
	return said, a.awaitMessage(said.Event)
}

// awaitMessage waits until multis has stored an event as a message.
func (a *app) awaitMessage(event id.EventID) (message store.Message) {
	a.t.Helper()
	a.await("the row of "+event.String(), func(ctx context.Context) (found bool, err error) {
		message, found, err = a.message(ctx, event)
		return found, err
	})
	return message
}

const messageIDSQL = "select coalesce((select id from messages where event_id = $1 and parked is null), 0)"

func (a *app) message(ctx context.Context, event id.EventID) (store.Message, bool, error) {
	var row store.MessageID
	if err := a.db.DB().QueryRow(ctx, messageIDSQL, event).Scan(&row); err != nil {
		return store.Message{}, false, err
	}
	if row == 0 {
		return store.Message{}, false, nil
	}
	message, err := store.MessageByID(ctx, a.db.DB(), row)
	return message, err == nil, err
}

// chat waits for the chat of a contact.
func (a *app) chat(contact string) store.Chat {
	a.t.Helper()
	room, err := a.PortalRoom(a.t.Context(), contact)
	require.NoError(a.t, err)
	var found map[id.RoomID]store.Chat
	a.await("the chat of "+contact, func(ctx context.Context) (bool, error) {
		found, err = store.ChatsByRoom(ctx, a.db.DB(), []id.RoomID{room})
		return len(found) == 1, err
	})
	return found[room]
}

// switchToBusiness makes contacts write once and sets their chats to business by command.
func (a *app) switchToBusiness(contacts ...string) {
	a.t.Helper()
	for _, contact := range contacts {
		a.say(contact, "hi")
		require.Contains(a.t, a.command("/mode business "+a.chat(contact).Name), "is now business")
	}
}

// command writes into the admin room as the owner and returns the reply.
func (a *app) command(text string) string {
	a.t.Helper()
	return a.answer(a.write(text))
}

// write writes into the admin room as the owner.
func (a *app) write(text string) id.EventID {
	a.t.Helper()
	sent, err := a.Owner.SendText(a.t.Context(), a.adminRoom(), text)
	require.NoError(a.t, err)
	return sent.EventID
}

const answerSQL = `select coalesce((select o.event_id from messages m join outbox o on o.id = m.outbox_id where m.event_id = $1), '')`

// answer waits for the reply to a message in the admin room and returns its text.
func (a *app) answer(asked id.EventID) string {
	a.t.Helper()
	return a.read(a.adminRoom(), a.answerEvent(asked))
}

// answerEvent waits for the event that replies to another one.
func (a *app) answerEvent(asked id.EventID) (answer id.EventID) {
	a.t.Helper()
	a.await("an answer to "+asked.String(), func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx, answerSQL, asked).Scan(&answer)
		return answer != "", err
	})
	return answer
}

// read returns the text of an event as the owner's client gets it.
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

// An escalation has jobs for the times when somebody is called, and when it ends by itself, and a question one for its end.
const busySQL = `select exists (select from river.river_job where kind not in ('late_messages', 'tick') and not (kind in ('update_escalation', 'end_question') and scheduled_at > now() and coalesce((args->>'at')::timestamptz > now(), false)) and state in ('available', 'running', 'retryable', 'scheduled', 'pending'))`

const elapseSQL = `with chat as (update chats set typing_until = typing_until - $1::interval, owner_active_until = owner_active_until - $1::interval),
	message as (update messages set received_at = received_at - $1::interval where answered_at is null)
	update river.river_job set scheduled_at = scheduled_at - $1::interval,
		state = case when scheduled_at - $1::interval <= now() then 'available' else state end
	where state in ('available', 'scheduled', 'retryable') and kind <> 'tick'`

// shiftTimes moves the times of chats, messages and jobs back by d, which has the effect of waiting for d.
func (a *app) shiftTimes(d time.Duration) {
	a.t.Helper()
	_, err := a.db.Pool().Exec(a.t.Context(), elapseSQL, d)
	require.NoError(a.t, err)
}

// awaitIdle waits until multis has no pending job. Whatever has not been sent by then never will be.
func (a *app) awaitIdle() {
	a.t.Helper()
	a.await("multis to be idle", func(ctx context.Context) (bool, error) {
		busy, err := a.exists(ctx, busySQL)
		return !busy, err
	})
}

func (a *app) exists(ctx context.Context, sql string, args ...any) (yes bool, err error) {
	err = a.db.DB().QueryRow(ctx, sql, args...).Scan(&yes)
	return yes, err
}

// count returns the number that a query selects.
func (a *app) count(sql string, args ...any) (n int) {
	a.t.Helper()
	require.NoError(a.t, a.db.DB().QueryRow(a.t.Context(), sql, args...).Scan(&n))
	return n
}

// awaitDeliveries waits until exactly n messages have reached a contact and multis is idle.
func (a *app) awaitDeliveries(contact string, n int) []demonet.Delivery {
	a.t.Helper()
	a.await("deliveries to "+contact, func(ctx context.Context) (bool, error) {
		got, err := a.Delivered(ctx, contact)
		return len(got) >= n, err
	})
	a.awaitIdle()
	got, err := a.Delivered(a.t.Context(), contact)
	require.NoError(a.t, err)
	require.Len(a.t, got, n, "messages to %s", contact)
	return got
}

// await is rig.Await.
func (a *app) await(what string, check func(context.Context) (bool, error)) {
	a.t.Helper()
	require.NoError(a.t, rig.Await(a.t.Context(), what, check))
}

// log returns the output of the process so far.
func (a *app) log() string {
	a.t.Helper()
	text, err := os.ReadFile(a.process.Log)
	require.NoError(a.t, err)
	return string(text)
}

// patience is the longest time that a contact may wait for an answer.
const patience = 60 * time.Second
