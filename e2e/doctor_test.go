//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/appservice"
	"multis/config"
	"multis/deploy/devstack"
	"multis/llm"
	"multis/ops/doctor"
	"multis/store"
)

// examination is a running multis with real Synapse and bridge, looked at as multis doctor does.
type examination struct {
	*app
	synapse string          // the registration file that Synapse loads
	files   *doctor.Synapse // of Synapse on this machine; nil if none are known
}

// examine finds the registration file that Synapse loads for a running multis.
func examine(t *testing.T, a *app) *examination {
	t.Helper()
	e := &examination{app: a}
	files, err := filepath.Glob(filepath.Join(e.Dir, "stack", "registration-*.yaml"))
	require.NoError(t, err)
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if strings.Contains(string(text), e.tokens.SenderLocalpart) {
			e.synapse = path
		}
	}
	require.NotEmpty(t, e.synapse)
	return e
}

// diagnose returns the ids of all findings, with a configuration that change alters.
func (e *examination) diagnose(change func(c *config.Config)) (ids []doctor.ID) {
	e.t.Helper()
	for _, f := range e.findings(change) {
		ids = append(ids, f.ID)
	}
	return ids
}

// lineFor returns the line of a finding, which has to be there, without its comment.
func (e *examination) lineFor(id doctor.ID) string {
	e.t.Helper()
	for _, f := range e.findings(nil) {
		if f.ID == id {
			line, _, _ := strings.Cut(f.Fix, doctor.Comment)
			return line
		}
	}
	require.Fail(e.t, string(id)+" is not found")
	return ""
}

// awaitRepair waits until a finding is gone.
func (e *examination) awaitRepair(id doctor.ID) {
	e.t.Helper()
	require.Eventually(e.t, func() bool { return !slices.Contains(e.diagnose(nil), id) }, time.Minute, 100*time.Millisecond, id)
}

// restartAsSaid restarts multis, as the line of a finding says, and waits until the finding is gone. multis is no service here.
func (e *examination) restartAsSaid(id doctor.ID) {
	e.t.Helper()
	require.Equal(e.t, doctor.AsRoot("systemctl restart multis"), e.lineFor(id))
	require.NoError(e.t, e.process.Term())
	e.run()
	e.awaitRepair(id)
}

// findings returns all findings, with a configuration that change alters.
func (e *examination) findings(change func(c *config.Config)) (found []doctor.Finding) {
	e.t.Helper()
	cfg, err := config.Parse(filepath.Join(e.t.TempDir(), "config.yaml"), e.config(e.port), os.LookupEnv)
	require.NoError(e.t, err)
	if change != nil {
		change(cfg)
	}
	models, err := llm.New(llm.Options{})
	require.NoError(e.t, err)
	in := &doctor.Input{
		Synapse:    e.files,
		Config:     cfg,
		Homeserver: appservice.NewInspector(doctor.AccessOf(cfg)),
		Database:   e.db.Inspector(),
		HasSchema:  true,
		Models:     models,
		Now:        time.Now,
		FreeBytes:  func(string) (uint64, error) { return 100 << 30, nil },
	}
	for _, s := range doctor.Run(e.t.Context(), in).Sections {
		if s.Skipped != "" {
			e.t.Log(s.Name, "was not checked:", s.Skipped)
		}
		for _, f := range s.Findings {
			require.NotEmpty(e.t, f.Fix, f.ID)
			e.t.Log(f.ID, f.Message, "fix:", f.Fix)
			found = append(found, f)
		}
	}
	return found
}

// reload gives Synapse another registration and restarts it.
func (e *examination) reload(text string) {
	e.t.Helper()
	require.NoError(e.t, os.WriteFile(e.synapse, []byte(text), 0o644))
	require.NoError(e.t, e.Stack.StopSynapse(syscall.SIGTERM))
	require.NoError(e.t, e.Stack.StartSynapse(context.WithoutCancel(e.t.Context())))
}

func (e *examination) exec(sql string, args ...any) {
	e.t.Helper()
	_, err := e.db.Pool().Exec(e.t.Context(), sql, args...)
	require.NoError(e.t, err)
}

func TestDoctor_FindsHomeserverFaults(t *testing.T) {
	e := examine(t, begin(t, setup{New: true}))
	require.Equal(t, "accept the invitation of "+bot.String()+" in your Matrix client", e.lineFor(doctor.AdminRoomNotIn))
	e.joinAdminRoom()
	e.awaitRepair(doctor.AdminRoomNotIn)
	_, first := e.say("Ana", "hello there")
	require.NotZero(t, first.ID)
	e.step("a healthy installation has no finding", func(t *testing.T) {
		require.Eventually(t, func() bool { return len(e.diagnose(nil)) == 0 }, time.Minute, time.Second)
	})

	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	late := e.shiftedClock(t, -5*time.Minute)
	for _, c := range []struct {
		id     doctor.ID
		breaks func(c *config.Config)
	}{
		{doctor.HomeserverUnreachable, func(c *config.Config) { c.Homeserver.Address = "http://127.0.0.1:1" }},
		{doctor.HomeserverNotMatrix, func(c *config.Config) { c.Homeserver.Address = other.URL }},
		{doctor.HomeserverDomain, func(c *config.Config) { c.Homeserver.Domain = "other.localhost" }},
		{doctor.ClockSkew, func(c *config.Config) { c.Homeserver.Address = late }},
		{doctor.RegistrationToken, func(c *config.Config) { c.Appservice.ASToken = "another-token" }},
		{doctor.RegistrationDrift, func(c *config.Config) { c.Appservice.SenderLocalpart = "as_multis_other" }},
		{doctor.RegistrationDrift, func(c *config.Config) { c.Appservice.ID = "multis2" }},
		{doctor.RegistrationBot, func(c *config.Config) { c.Appservice.Bot.Username = "nora" }},
		{doctor.RegistrationOwner, func(c *config.Config) { c.Owner = id.NewUserID("somebody", c.Homeserver.Domain) }},
		{doctor.MultisStopped, func(c *config.Config) { c.Appservice.Port = 1 }},
		{doctor.PingOther, func(c *config.Config) {
			c.Appservice.Hostname, c.Appservice.Port = "127.0.0.1", portOf(t, other.URL)
		}},
	} {
		e.step(string(c.id), func(t *testing.T) { require.Contains(t, e.diagnose(c.breaks), c.id) })
	}
	require.Empty(t, e.diagnose(nil), "nothing changed in between")

	e.step("the data", e.brokenData)
	e.step("the registration in Synapse", e.brokenRegistration)
	require.Eventually(t, func() bool { return len(e.diagnose(nil)) == 0 }, time.Minute, time.Second, "all is repaired")
}

// brokenData breaks what the database knows of the homeserver.
func (e *examination) brokenData(t *testing.T) {
	room := e.adminRoom()
	e.exec("update chats set room_id = '!gone:multis.localhost' where kind = 'admin'")
	require.Contains(t, e.diagnose(nil), doctor.AdminRoomNotIn)
	e.exec("update chats set room_id = $1 where kind = 'admin'", room)

	var device struct {
		ID id.DeviceID `json:"id"`
	}
	_, err := store.GetSetting(t.Context(), e.db.DB(), store.SettingOwnerDevice, &device)
	require.NoError(t, err)
	const set = "update settings set value = jsonb_set(value, '{id}', to_jsonb($1::text)) where key = 'owner_device'"
	e.exec(set, "DELETED")
	require.Contains(t, e.diagnose(nil), doctor.DeviceMissing)
	e.exec(set, e.Owner.DeviceID) // a session without keys
	require.Contains(t, e.diagnose(nil), doctor.DeviceKeys)
	e.exec(set, device.ID)

	e.exec("update chats set room_id = null, channel_id = channel_id || '-old' where kind = 'dm'")
	e.restartAsSaid(doctor.ChatsMissing) // it looks through all rooms

	for id, statement := range map[doctor.ID]string{
		doctor.BridgeUnconfirmed: "insert into bridge_bots (bot, protocol) values ('@signalbot:multis.localhost', 'signal')",
		doctor.BridgeClaim:       "insert into bridge_changes (protocol, old_bot, new_bot) values ('telegram', '@oldbot:multis.localhost', '@newbot:multis.localhost')",
	} {
		e.exec(statement)
		require.Contains(t, e.command(e.lineFor(id)), "is your ", id)
		e.awaitRepair(id)
	}
	require.Eventually(t, func() bool { return len(e.diagnose(nil)) == 0 }, time.Minute, time.Second)
}

// brokenRegistration makes Synapse load wrong registrations.
func (e *examination) brokenRegistration(t *testing.T) {
	raw, err := os.ReadFile(e.synapse)
	require.NoError(t, err)
	right := string(raw)
	t.Cleanup(func() {
		if t.Failed() {
			e.reload(right)
		}
	})
	for _, c := range []struct {
		id       doctor.ID
		old, new string
		change   func(c *config.Config)
	}{
		{doctor.RegistrationRateLimit, "rate_limited: false", "rate_limited: true", nil},
		{doctor.RegistrationDevices, "io.element.msc4190: true", "io.element.msc4190: false", nil},
		{doctor.PingToken, e.tokens.HSToken.Value(), "another-token", nil},
		{doctor.PingNoURL, "url: " + e.tokens.Address, "url: null", nil},
		{doctor.PingNoAnswer, "url: " + e.tokens.Address, "url: http://127.0.0.1:1", nil},
		{doctor.PingLoopback, "url: " + e.tokens.Address, "url: http://127.0.0.1:1", func(c *config.Config) {
			c.Appservice.Address = "http://multis:29399"
		}},
		{doctor.OwnerAccount, `^@owner:`, `^@(owner|nobody):`, func(c *config.Config) { c.Owner = id.NewUserID("nobody", c.Homeserver.Domain) }},
	} {
		e.step(string(c.id), func(t *testing.T) {
			require.Contains(t, right, c.old)
			e.reload(strings.Replace(right, c.old, c.new, 1))
			require.Contains(t, e.diagnose(c.change), c.id)
		})
	}
	e.step(string(doctor.RegistrationRestart), func(t *testing.T) {
		e.reload(right)
		dir := t.TempDir()
		cfg, err := config.Parse("config.yaml", e.config(e.port), os.LookupEnv)
		require.NoError(t, err)
		change := func(c *config.Config) { c.Appservice.ASToken = "a-token-that-synapse-has-not-read" }
		change(cfg)
		text, err := config.Registration(cfg)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "multis.yaml"), text, 0o600))
		e.files = &doctor.Synapse{Config: "homeserver.yaml", Registrations: []string{filepath.Join(dir, "multis.yaml")}}
		found := e.diagnose(change)
		require.Contains(t, found, doctor.RegistrationRestart)
		require.False(t, slices.Contains(found, doctor.RegistrationToken), "it is the same cause")
		e.files = nil
	})
}

// shiftedClock returns the address of a proxy to the homeserver. The proxy shifts the clock that responses show.
func (e *examination) shiftedClock(t *testing.T, by time.Duration) string {
	t.Helper()
	target, err := url.Parse(e.back.URL)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Header.Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}

// portOf returns the port of a URL.
func portOf(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	port, err := strconv.Atoi(u.Port())
	require.NoError(t, err)
	return port
}

func TestOperatorRoom_IsChecked(t *testing.T) {
	e := examine(t, start(t, setup{Operators: fmt.Sprintf("[\"@mia:%[1]s\"]", devstack.Domain), OperatorsRoom: true}))
	e.switchToBusiness("room-ida")
	room, err := store.OperatorsChat(t.Context(), e.db.DB())
	require.NoError(t, err)
	require.NotEqual(t, e.adminRoom(), *room.RoomID)
	require.Subset(t, e.diagnose(nil), []doctor.ID{doctor.OperatorsNotIn})

	mia := e.person(t, "mia")
	_, err = mia.JoinRoomByID(t.Context(), e.adminRoom())
	require.Error(t, err, "she is not invited to the admin room")
	_, err = mia.JoinRoomByID(t.Context(), *room.RoomID)
	require.NoError(t, err)
	_, err = e.Owner.JoinRoomByID(t.Context(), *room.RoomID)
	require.NoError(t, err)
	require.NotContains(t, e.diagnose(nil), doctor.OperatorsNotIn)
	for _, ownRoom := range []bool{true, false} {
		t.Run(fmt.Sprint(ownRoom), func(t *testing.T) { // an operator whom the homeserver refused to invite, or who is not invited yet
			require.Contains(t, e.diagnose(func(c *config.Config) {
				c.Operators, c.Business.Escalation.Room = append(c.Operators, "@late:"+devstack.Domain), ownRoom
			}), doctor.OperatorsUninvited)
		})
	}
	require.NotContains(t, e.diagnose(nil), doctor.OperatorsUninvited)

	_, err = e.Say(t.Context(), "room-ida", "I want to speak to a person, my lamp is broken")
	require.NoError(t, err)
	var card id.EventID
	e.await("the card", func(ctx context.Context) (bool, error) {
		err := e.db.DB().QueryRow(ctx,
			"select coalesce(max(o.event_id), '') from escalations e join outbox o on o.id = e.card_id where o.chat_id = $1", room.ID).Scan(&card)
		return card != "", err
	})
	e.awaitDeliveries("room-ida", 1) // that a person will answer
	_, err = mia.SendText(t.Context(), *room.RoomID, "/pause all")
	require.NoError(t, err)
	content := &event.MessageEventContent{
		MsgType:   event.MsgText,
		Body:      "Which lamp is it?",
		RelatesTo: (&event.RelatesTo{}).SetThread(card, card),
	}
	_, err = mia.SendMessageEvent(t.Context(), *room.RoomID, event.EventMessage, content)
	require.NoError(t, err)
	require.Equal(t, "Which lamp is it?", e.awaitDeliveries("room-ida", 2)[1].Text)
	require.Contains(t, e.diagnose(func(c *config.Config) { c.Operators = nil }), doctor.FormerOperator)
	room = e.closeByInvitation(room, mia)

	e.exec("update chats set encrypted = 'yes' where kind = 'admin' and not for_operators")
	require.Subset(t, e.diagnose(nil), []doctor.ID{doctor.OperatorsPlain})
	e.exec("update chats set encrypted = 'no' where kind = 'admin' and not for_operators")
	e.repairOperators(room)
}

// repairOperators runs the lines that the doctor prints about operators: one is added, the room is closed, and one is removed.
func (e *examination) repairOperators(room store.Chat) {
	e.t.Helper()
	e.person(e.t, "newoperator")
	e.setup.Operators = fmt.Sprintf("[\"@mia:%[1]s\", \"@newoperator:%[1]s\"]", devstack.Domain)
	e.restartAsSaid(doctor.OperatorsUninvited)

	e.exec("update chats set closed_reason = 'gone' where id = $1", room.ID)
	e.restartAsSaid(doctor.OperatorsRoom)
	room, err := store.OperatorsChat(e.t.Context(), e.db.DB())
	require.NoError(e.t, err)
	for _, client := range []*mautrix.Client{e.Owner, e.person(e.t, "mia")} {
		_, err := client.JoinRoomByID(e.t.Context(), *room.RoomID)
		require.NoError(e.t, err)
	}

	e.setup.Operators = fmt.Sprintf("[\"@newoperator:%[1]s\"]", devstack.Domain)
	mia, found := strings.CutPrefix(e.lineFor(doctor.FormerOperator), "/kick ")
	require.True(e.t, found)
	_, err = e.Owner.KickUser(e.t.Context(), *room.RoomID, &mautrix.ReqKickUser{UserID: id.UserID(mia)})
	require.NoError(e.t, err)
	e.awaitRepair(doctor.FormerOperator)
}

// closeByInvitation lets an operator invite a stranger into the room for operators, and returns the room that takes its
// place: a reply in the old thread goes nowhere, one in the new thread to the contact.
func (e *examination) closeByInvitation(closed store.Chat, mia *mautrix.Client) store.Chat {
	e.t.Helper()
	ctx := e.t.Context()
	cardIn := func(room store.Chat) (card id.EventID) {
		e.await("a card in "+room.RoomID.String(), func(ctx context.Context) (bool, error) {
			err := e.db.DB().QueryRow(ctx,
				"select coalesce(max(o.event_id), '') from escalations e join outbox o on o.id = e.card_id where o.chat_id = $1", room.ID).Scan(&card)
			return card != "", err
		})
		return card
	}
	old := cardIn(closed)
	_, err := mia.InviteUser(ctx, *closed.RoomID, &mautrix.ReqInviteUser{UserID: e.person(e.t, "strangereve").UserID})
	require.NoError(e.t, err)
	var room store.Chat
	e.await("another room for operators", func(ctx context.Context) (bool, error) {
		var err error
		room, err = store.OperatorsChat(ctx, e.db.DB())
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return room.ID != closed.ID, err
	})
	reply := func(room store.Chat, card id.EventID, text string) {
		_, err := mia.SendMessageEvent(ctx, *room.RoomID, event.EventMessage, &event.MessageEventContent{
			MsgType:   event.MsgText,
			Body:      text,
			RelatesTo: (&event.RelatesTo{}).SetThread(card, card),
		})
		require.NoError(e.t, err)
	}
	reply(closed, old, "Pay to another account")
	e.await("the refusal", func(ctx context.Context) (bool, error) {
		var refused int
		err := e.db.DB().QueryRow(ctx, "select count(*) from messages where chat_id = $1 and code = 'room_closed' and body = ''",
			closed.ID).Scan(&refused)
		return refused == 1, err
	})
	for _, client := range []*mautrix.Client{mia, e.Owner} {
		_, err := client.JoinRoomByID(ctx, *room.RoomID)
		require.NoError(e.t, err)
	}
	reply(room, cardIn(room), "We send a new lamp.")
	require.Equal(e.t, "We send a new lamp.", e.awaitDeliveries("room-ida", 3)[2].Text)
	var told int
	require.NoError(e.t, e.db.DB().QueryRow(ctx,
		"select count(*) from outbox where content->>'body' like '%I no longer use the room for operators%'").Scan(&told))
	require.Equal(e.t, 1, told)
	return room
}
