package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"

	"multis/admin"
	"multis/appservice"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/safety/pin"
	"multis/store"
	"multis/store/storetest"
)

// The environment of a process that takes a PIN in and is killed meanwhile.
const (
	killDatabase = "MULTIS_TEST_PIN_KILL_DATABASE"
	killEvent    = "MULTIS_TEST_PIN_KILL_EVENT"
	killNow      = "MULTIS_TEST_PIN_KILL_NOW"
)

func TestMain(m *testing.M) {
	task := enterPINOnce
	switch {
	case os.Getenv(commandDatabase) != "":
		task = commandOnce
	case os.Getenv(killDatabase) == "":
		storetest.Main(m)
		return
	}
	if err := task(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// enterPINOnce is the main function of the process that is killed: it takes an event in, and does what waited for the PIN.
func enterPINOnce(ctx context.Context) error {
	st, err := store.Open(ctx, os.Getenv(killDatabase))
	if err != nil {
		return err
	}
	defer st.Close()
	now, err := time.Parse(time.RFC3339Nano, os.Getenv(killNow))
	if err != nil {
		return err
	}
	var evt event.Event
	if err := json.Unmarshal([]byte(os.Getenv(killEvent)), &evt); err != nil {
		return err
	}
	log, err := audit.New("a token of the homeserver")
	if err != nil {
		return err
	}
	clock := func() time.Time { return now }
	keeper, defaults := pin.NewKeeper(pin.Options{Log: log, Now: clock}), policy.Defaults{Profile: policy.ProfilePersonal}
	inbox := appservice.NewInbox(st, appservice.Settings{
		Owner:       owner,
		Bot:         "@multis:example.com",
		Name:        "Nora",
		Defaults:    defaults,
		PIN:         keeper,
		ReplyMaxAge: time.Hour,
	})
	if err := inbox.Receive(ctx, []*event.Event{&evt}, ""); err != nil {
		return err
	}
	var args jobs.PINArgs
	var raw []byte
	if err := st.DB().QueryRow(ctx, "select args from river.river_job where kind = 'pin' and state = 'available'").Scan(&raw); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return err
	}
	box := outbox.New(st, outbox.Settings{
		Defaults: defaults,
		Owner:    owner,
		Name:     "Nora",
		Disclose: func(string) bool { return true },
	}, &homeserver{})
	a := admin.New(admin.Options{
		Store:    st,
		Box:      box,
		Now:      clock,
		PIN:      keeper,
		Settings: admin.Settings{Name: "Nora", Zone: time.UTC, Defaults: defaults, Audit: log, Disclose: func(string) bool { return true }},
	})
	return a.ContinueAfterPIN(ctx, args, false)
}

// A process is killed before and after each write between the PIN and its effect. The homeserver then sends the event
// again, and the job runs again.
func TestPIN_TakesEffectOnceDespiteKill(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	ana := r.chat("Ana", "whatsapp")
	r.setPIN(canary)
	offs := func() int {
		return r.count("select count(*) from audit_entries where kind = 'mode' and outcome = 'off' and chat_id = $1", ana.ID)
	}
	died := map[string]int{}
	for kill := 1; ; kill++ {
		r.ownerTypes("/pin lock")
		r.ownerTypes("/mode silent Ana")
		require.Contains(t, r.ownerTypes("/mode off Ana"), "Your PIN, please")
		before := offs()
		evt := r.newMessage(owner, textContent(canary))
		raw, err := json.Marshal(evt)
		require.NoError(t, err)
		name := storetest.NewFaultInjector(kill).Run(t, r.st, killDatabase, killEvent+"="+string(raw), killNow+"="+r.now.Format(time.RFC3339Nano))
		died[name]++
		require.LessOrEqual(t, offs(), before+1, name)
		r.receive(evt)
		r.receive(evt)
		require.Equal(t, before+1, offs(), "killed at %s", name)
		require.Equal(t, policy.ModeOff, *r.reload(ana).Mode, name)
		require.Zero(t, r.count("select count(*) from dialogs where kind = 'pin' and done_at is null"), name)
		require.Zero(t, r.count("select failures from pin"), name)
		r.ownerTypes("/pin lock")
		r.receive(evt)
		require.Zero(t, r.count("select count(*) from pin where unlocked_until is not null"), "the same event unlocks nothing")
		if name == "" {
			require.Greater(t, kill, 15, "so many places were tried")
			break
		}
	}
	require.Greater(t, len(died), 5, "%v", died)
}
