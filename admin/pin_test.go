package admin_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/jobs"
	"multis/policy"
	"multis/safety/audit"
	"multis/safety/pin"
	"multis/store"
	"multis/store/storetest"
)

// pinRig is a rig with a PIN and the inbox in front of it: what is typed takes the whole way of a message.
type pinRig struct {
	*rig
	inbox    *appservice.Inbox
	redacted []id.EventID
}

func newPINRig(t *testing.T, required bool) *pinRig {
	t.Helper()
	r := &pinRig{rig: newRig(t)}
	log, err := audit.New("a token of the homeserver")
	require.NoError(t, err)
	r.settings.Audit = log
	r.pin = pin.NewKeeper(pin.Options{
		Log:      log,
		Required: required,
		Now:      func() time.Time { return r.now },
		Cost:     pin.HashCost{KiB: 64, Passes: 1},
	})
	r.restart()
	r.inbox = appservice.NewInbox(r.st, appservice.Settings{
		Owner:       owner,
		Bot:         "@multis:example.com",
		Operators:   []id.UserID{operator},
		Name:        "Nora",
		Defaults:    r.settings.Defaults,
		PIN:         r.pin,
		ReplyMaxAge: time.Hour,
	})
	return r
}

// newMessage makes an event of the admin room.
func (r *pinRig) newMessage(sender id.UserID, content map[string]any) *event.Event {
	r.t.Helper()
	kind := "m.room.message"
	if relates, ok := content["m.relates_to"].(map[string]any); ok && relates["key"] != nil {
		kind = "m.reaction"
	}
	raw, err := json.Marshal(map[string]any{
		"type": kind, "room_id": *r.room.RoomID, "sender": sender, "event_id": r.event(), "origin_server_ts": r.now.UnixMilli(),
		"content": content,
	})
	require.NoError(r.t, err)
	var evt event.Event
	require.NoError(r.t, json.Unmarshal(raw, &evt))
	return &evt
}

func textContent(body string) map[string]any {
	return map[string]any{"msgtype": "m.text", "body": body}
}

// receive takes events in and runs the jobs that they ask for. It returns what was sent.
func (r *pinRig) receive(events ...*event.Event) string {
	r.t.Helper()
	require.NoError(r.t, r.inbox.Receive(r.ctx, events, ""))
	return r.runRoomJobs()
}

// runRoomJobs runs the open jobs of the admin room.
func (r *pinRig) runRoomJobs() string {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx,
		"select id, kind, args from river.river_job where kind in ('command', 'pin', 'redact') and state = 'available' order by id")
	require.NoError(r.t, err)
	type job struct {
		id   int64
		kind string
		args []byte
	}
	var all []job
	for rows.Next() {
		var j job
		require.NoError(r.t, rows.Scan(&j.id, &j.kind, &j.args))
		all = append(all, j)
	}
	require.NoError(r.t, rows.Err())
	for _, j := range all {
		var c jobs.CommandArgs
		var p jobs.PINArgs
		var d jobs.RedactArgs
		switch j.kind {
		case "command":
			require.NoError(r.t, json.Unmarshal(j.args, &c))
			require.NoError(r.t, r.runJobs(c.MessageID, false))
		case "pin":
			require.NoError(r.t, json.Unmarshal(j.args, &p))
			require.NoError(r.t, r.admin.ContinueAfterPIN(r.ctx, p, false))
		case "redact":
			require.NoError(r.t, json.Unmarshal(j.args, &d))
			r.redacted = append(r.redacted, d.EventID)
		}
		r.exec("update river.river_job set state = 'completed', finalized_at = now() where id = $1", j.id)
	}
	return bodies(r.sendQueued())
}

// ownerTypes writes a text as the owner.
func (r *pinRig) ownerTypes(text string) string {
	return r.receive(r.newMessage(owner, textContent(text)))
}

// setPIN sets a PIN.
func (r *pinRig) setPIN(digits string) {
	r.t.Helper()
	require.Contains(r.t, r.ownerTypes("/pin set"), "The new PIN")
	require.Contains(r.t, r.ownerTypes(digits), "Once more")
	require.Contains(r.t, r.ownerTypes(digits), "The PIN is set")
}

const canary = "804639"

func TestPIN_CommandRunsAfterIt(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	ana := r.chat("Ana", "whatsapp")
	r.setPIN(canary)
	said := r.ownerTypes("/mode off Ana")
	require.Contains(t, said, "**Your PIN, please**, for: mode off for Ana")
	require.Nil(t, r.reload(ana).Mode)
	require.Contains(t, r.ownerTypes("804638"), "That is not the PIN. 2 tries left")
	require.Contains(t, r.ownerTypes("80463"), "That is not the PIN. 1 try left")
	require.Contains(t, r.ownerTypes("８０４６３９"), "That can't be a PIN")
	require.Nil(t, r.reload(ana).Mode)
	require.Contains(t, r.ownerTypes(canary), "**Ana · WhatsApp is now off.**")
	require.Equal(t, policy.ModeOff, *r.reload(ana).Mode)
	require.Len(t, r.redacted, 6, "each message with digits")

	require.Contains(t, r.ownerTypes("/mode silent Ana"), "is now silent", "it needs no PIN")
	require.Contains(t, r.ownerTypes("/mode off Ana"), "is now off", "the PIN was entered less than a day ago")
	r.ownerTypes("/mode silent Ana")
	r.now = r.now.Add(25 * time.Hour)
	require.Contains(t, r.ownerTypes("/mode off Ana"), "Your PIN, please")
	require.Contains(t, r.ownerTypes("cancel"), "Left as it was.")
	require.Contains(t, r.ownerTypes(canary), "I asked for no PIN just now")
	require.Equal(t, policy.ModeSilent, *r.reload(ana).Mode)
	require.Contains(t, r.ownerTypes("/mode"), "Ana", "lists never ask")
}

func TestPIN_AnswerWaitsDespiteQuestion(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	ana, bob := r.chat("Ana", "whatsapp"), r.chat("Bob", "whatsapp")
	r.addGroupMessage(ana, "@ana:example.com", "the door code")
	r.setPIN(canary)
	require.Contains(t, r.ownerTypes("/erase Ana"), "Erase Ana?")
	require.Contains(t, r.ownerTypes("yes"), "**Your PIN, please**, for: erase what was said in 1 chat: Ana · WhatsApp\n")
	require.Zero(t, r.count("select count(*) from forgettings"))
	require.Contains(t, r.ownerTypes("/mode Bob"), "Reply with a number", "another question")
	require.Contains(t, r.ownerTypes(canary), "Erasing")
	require.Equal(t, 1, r.count("select count(*) from forgettings where kind = 'erase'"))
	require.Nil(t, r.reload(bob).Mode)
	require.Contains(t, r.ownerTypes("2"), "Bob · WhatsApp is now personal", "it is still open")
}

func TestPIN_ThreeWrongAreReported(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	ana := r.chat("Ana", "whatsapp")
	r.setPIN(canary)
	r.ownerTypes("/mode off Ana")
	r.ownerTypes("111111")
	r.ownerTypes("111112")
	require.Contains(t, r.ownerTypes("111113"), "**The PIN is locked until 19:00**")
	require.Empty(t, r.ownerTypes(canary), "it is told already, and nothing is judged")
	require.Empty(t, r.ownerTypes("111114"))
	require.Contains(t, r.ownerTypes("/status"), "**The PIN is locked until 19:00**")
	require.Contains(t, r.ownerTypes("/mode off Ana"), "**The PIN is locked until 19:00**")
	require.Contains(t, r.ownerTypes("/pin set"), "**The PIN is locked until 19:00**")
	require.Nil(t, r.reload(ana).Mode)
	require.Equal(t, 1,
		r.count("select count(*) from outbox where content::text like '%locked until%' and content::text like '%m.mentions%user_ids%'"),
		"once as an alert")
	r.now = r.now.Add(time.Hour)
	r.ownerTypes("/mode off Ana")
	require.Contains(t, r.ownerTypes(canary), "is now off")
}

func TestPIN_RequiredForMachineChanges(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, true)
	ana := r.chat("Ana", "whatsapp")
	require.Contains(t, r.ownerTypes("/mode off Ana"), "That needs a PIN, and none is set. `/pin set`")
	require.Nil(t, r.reload(ana).Mode)
	r.setPIN(canary)
	r.ownerTypes("/mode off Ana")
	require.Contains(t, r.ownerTypes(canary), "is now off")
}

// Each answer to the setup changes the configuration. The PIN is asked for before the first question, not in the middle.
func TestBusinessSetup_AsksPINFirst(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, true)
	r.config, r.previewer = newConfigFile(t), previewer{}
	r.restart()
	require.Contains(t, r.ownerTypes("/business setup"), "That needs a PIN, and none is set. `/pin set`")
	require.NotContains(t, r.ownerTypes("Piano House"), "of 9", "no question is open")
	r.setPIN(canary)
	require.Contains(t, r.ownerTypes("/business setup"), "Your PIN, please**, for: set up the business")
	require.Contains(t, r.ownerTypes(canary), "1 of 9 · name")
	require.Contains(t, r.ownerTypes("Piano House"), "✅ Noted.\n**2 of 9")
	require.Contains(t, r.ownerTypes("/pin lock"), "asked for again")
	require.Contains(t, r.ownerTypes("Hello there!"), "for: set business.greeting to Hello there!")
}

func TestPIN_OnlyOwnersNewText(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	ana := r.chat("Ana", "whatsapp")
	mode := policy.ModeSilent
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, mode) })
	r.setPIN(canary)
	command := r.newMessage(owner, textContent("/mode off Ana"))
	r.receive(command)
	elsewhere := func(sender id.UserID) *event.Event {
		evt := r.newMessage(sender, textContent(canary))
		evt.RoomID = *ana.RoomID
		return evt
	}
	edited := map[string]any{
		"msgtype": "m.text", "body": "* " + canary, "m.new_content": textContent(canary),
		"m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": command.ID},
	}
	for name, evt := range map[string]*event.Event{
		"an operator":          r.newMessage(operator, textContent(canary)),
		"a stranger":           r.newMessage("@eve:example.com", textContent(canary)),
		"somebody named alike": r.newMessage("@you:example.com.evil.org", textContent(canary)),
		"a contact":            elsewhere("@whatsapp_ana:example.com"),
		"the owner elsewhere":  elsewhere(owner),
		"an edit":              r.newMessage(owner, edited),
		"a bridge": r.newMessage(owner, map[string]any{
			"msgtype": "m.text", "body": canary,
			"fi.mau.double_puppet_source": "mautrix-whatsapp",
		}),
		"a notice": r.newMessage(owner, map[string]any{"msgtype": "m.notice", "body": canary}),
		"a caption": r.newMessage(owner, map[string]any{
			"msgtype": "m.file", "body": canary, "filename": "a.pdf",
			"url": "mxc://example.com/a",
		}),
		"a reaction": r.newMessage(owner, map[string]any{"m.relates_to": map[string]any{
			"rel_type": "m.annotation",
			"event_id": command.ID, "key": canary,
		}}),
		"a command": r.newMessage(owner, textContent("/pin "+canary)),
	} {
		said := r.receive(evt)
		require.Equal(t, name == "a bridge", strings.Contains(said, "a bridge sent it in your name"), name)
		require.Equal(t, mode, *r.reload(ana).Mode, name)
		require.Zero(t, r.count("select failures from pin"), name)
	}
	require.Len(t, r.redacted, 2+6, "what the owner wrote here")
	require.Zero(t, r.count("select count(*) from messages where code = 'bridged'"), "multis keeps its id only")
	require.Contains(t, r.ownerTypes(canary), "is now off")
}

// The room for operators is of the admin room's kind.
func TestPIN_OperatorRoomIsNotStored(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	room := id.RoomID("!operators:example.com")
	r.tx(func(tx store.Tx) error {
		chat, err := store.UpsertChat(r.ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  string(room),
			RoomID:     &room,
			Kind:       policy.KindAdmin,
			Name:       "multis",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return store.MarkOperatorsRoom(r.ctx, tx, chat.ID)
	})
	r.ownerTypes("/pin set")
	typed := r.newMessage(owner, textContent(canary))
	typed.RoomID = room
	r.receive(typed)
	require.Empty(t, storetest.ColumnsContaining(t, r.st, canary))
	require.Len(t, r.redacted, 1)
}

func TestPIN_ReplayHasNoEffect(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	ana := r.chat("Ana", "whatsapp")
	r.setPIN(canary)
	r.ownerTypes("/mode off Ana")
	entered := r.newMessage(owner, textContent(canary))
	require.NoError(t, r.inbox.Receive(r.ctx, []*event.Event{entered, entered}, "s1")) // by push and by sync
	require.NoError(t, r.inbox.Receive(r.ctx, []*event.Event{entered}, "s2"))
	granted := r.count("select max((args->>'dialog')::bigint)::int from river.river_job where kind = 'pin'")
	require.Contains(t, r.runRoomJobs(), "is now off")
	require.Equal(t, 1, r.count("select count(*) from audit_entries where kind = 'mode' and outcome = 'off'"))

	r.ownerTypes("/pin lock")
	r.ownerTypes("/mode silent Ana")
	r.ownerTypes("/mode off Ana")
	require.NoError(t, r.inbox.Receive(r.ctx, []*event.Event{entered}, "s3"))
	require.NoError(t, r.admin.ContinueAfterPIN(r.ctx, jobs.PINArgs{Result: string(pin.EntryGranted), DialogID: int64(granted)}, true),
		"a job that runs again")
	waiting := r.count("select max(id)::int from dialogs where kind = 'pin'")
	require.Error(t, r.admin.ContinueAfterPIN(r.ctx, jobs.PINArgs{Result: string(pin.EntryGranted), DialogID: int64(waiting)}, true),
		"for which nobody entered a PIN")
	require.Empty(t, r.runRoomJobs())
	require.Equal(t, policy.ModeSilent, *r.reload(ana).Mode)
}

func TestPIN_AskedAgainAfterChange(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	ana := r.chat("Ana", "whatsapp")
	r.setPIN(canary)
	r.ownerTypes("/mode off Ana")
	r.exec("update chats set name = 'Former Ana' where id = $1", ana.ID)
	other := r.chat("Ana", "whatsapp")
	require.NoError(t, r.inbox.Receive(r.ctx, []*event.Event{r.newMessage(owner, textContent(canary))}, ""))
	r.exec("update pin set unlocked_until = null")
	require.Contains(t, r.runRoomJobs(), "**Your PIN, please**, for: mode off for Ana")
	require.Nil(t, r.reload(other).Mode)
	require.Nil(t, r.reload(ana).Mode)
}

// What a shortcut stands for does something, so its digits are not withheld as those of a mistyped command.
func TestPIN_ShortcutIsNotMistyped(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	r.setPIN(canary)
	require.Contains(t, r.ownerTypes("/bus 1830"), "PIN")
	bus, err := policy.NewShortcut(`/bus (\d+)`, "/remind in 5 minutes bus $1")
	require.NoError(t, err)
	r.settings.Shortcuts = []policy.Shortcut{bus}
	r.restart()
	require.Contains(t, r.ownerTypes("/bus 1830"), "bus 1830")
}

func TestPIN_IsStoredNowhere(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	var log bytes.Buffer
	r.ctx = zerolog.New(&log).Level(zerolog.TraceLevel).WithContext(r.ctx)
	r.chat("Ana", "whatsapp")
	r.setPIN(canary)
	for _, text := range []string{
		"/mode off Ana", "my pin: " + canary, "804 639", canary[:3] + "." + canary[3:], "/pin " + canary, "/pin set " + canary, canary + " ",
		canary, "/mode off Ana", canary,
		"my PIN is " + canary, canary + ".", "PIN: " + canary, "／pin " + canary, "/p " + canary, "/pim " + canary, "/pin  " + canary,
		"/pin\n" + canary, "/PINN" + canary,
		"/unlock " + canary, "/help pin " + canary, "/mode off Ana, pin " + canary, "yes " + canary, canary + " " + canary,
	} {
		r.ownerTypes(text)
	}
	encryption := r.newMessage(owner, textContent(canary))
	r.exec("update chats set encrypted = 'yes' where id = $1", r.room.ID)
	require.Contains(t, r.receive(encryption), "did not come encrypted", "a plain text in an encrypted room could be anybody's")
	for _, hidden := range []string{canary, "804 639", "804.639"} {
		require.Empty(t, storetest.ColumnsContaining(t, r.st, hidden))
	}
	links, err := store.ListAudit(r.ctx, r.st.DB(), store.AuditFilter{Limit: 1000})
	require.NoError(t, err)
	for _, l := range links {
		require.NoError(t, audit.WriteJSON(&log, l))
	}
	require.NotContains(t, log.String(), canary, "the log at its finest, and the audit log as it is exported")
	for _, sent := range r.homeserver.sent {
		require.NotContains(t, string(sent.Content), canary)
	}
	require.Positive(t, r.count("select count(*) from audit_entries where kind = 'pin' and outcome = 'right'"))
	require.True(t, strings.HasPrefix(fmt.Sprint(r.redacted[0]), "$in"))
}
