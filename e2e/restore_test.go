//go:build e2e

package e2e

import (
	"context"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// restore creates an empty database, restores a backup into it and makes it the one that multis uses.
func (a *app) restore(backup string) {
	a.t.Helper()
	a.databases++
	name := "restored_" + filepath.Base(a.Dir)[:3] + "_" + string(rune('a'+a.databases))
	require.NoError(a.t, a.administer(a.t.Context(), "create database "+name+" owner "+databaseRole))
	var err error
	a.setup.Database, err = a.dsn(name)
	require.NoError(a.t, err)
	printed, err := a.RunMultis(a.t.Context(), a.config(a.port), "", "backup", "restore", backup)
	require.NoError(a.t, err, printed)
	require.Contains(a.t, printed, "Nothing is sent yet")
	a.db, err = store.Open(a.t.Context(), a.setup.Database)
	require.NoError(a.t, err)
	a.t.Cleanup(a.db.Close)
}

var backupPath = regexp.MustCompile(`Wrote (\S+)`)

// backup makes a backup while multis runs, checks it and returns its path.
func (a *app) backup() string {
	a.t.Helper()
	printed, err := a.RunMultis(a.t.Context(), a.config(a.port), "", "backup", "create", "--to", a.t.TempDir())
	require.NoError(a.t, err, printed)
	found := backupPath.FindStringSubmatch(printed)
	require.NotNil(a.t, found, printed)
	printed, err = a.RunMultis(a.t.Context(), a.config(a.port), "", "backup", "verify", found[1])
	require.NoError(a.t, err, printed)
	require.Contains(a.t, printed, "are as they were")
	return found[1]
}

// deliveries counts what reached a contact so far.
func (a *app) deliveries(contact string) int {
	a.t.Helper()
	got, err := a.Delivered(a.t.Context(), contact)
	require.NoError(a.t, err)
	return len(got)
}

// eventDropper loses the events to some rooms.
type eventDropper struct {
	mu     sync.Mutex
	closed map[id.RoomID]bool
}

func (g *eventDropper) decide(s sendRequest) verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed[s.Room] {
		return lost
	}
	return passed
}

func (g *eventDropper) set(closed bool, rooms ...id.RoomID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, room := range rooms {
		g.closed[room] = closed
	}
}

// ageSQL makes a restored database a week older than it is.
const ageSQL = `with message as (update messages set ts = ts - interval '7 days', received_at = received_at - interval '7 days'),
	message_out as (update outbox set created_at = created_at - interval '7 days'),
	hold as (update settings set value = value || jsonb_build_object('backup_at', (value->>'backup_at')::timestamptz - interval '7 days') where key = 'restore')
	update schedules set next_at = next_at - interval '7 days' where created_by <> ''`

const queuedSQL = "select exists (select from outbox o join chats c on c.id = o.chat_id where c.room_id = $1 and o.state = 'queued')"

func TestRestore_OldBackupSendsNothingTwice(t *testing.T) {
	a := start(t, setup{Locked: true})
	a.learn()
	const sentLater, neverSent = "sealed-sent", "sealed-unsent"
	a.switchToBusiness(sentLater, neverSent)
	later, never := *a.chat(sentLater).RoomID, *a.chat(neverSent).RoomID
	doors := &eventDropper{closed: map[id.RoomID]bool{}}
	a.back.onSend(doors.decide)
	doors.set(true, later, never)
	for contact, room := range map[string]id.RoomID{sentLater: later, neverSent: never} {
		a.say(contact, question)
		a.await("an answer that waits", func(ctx context.Context) (bool, error) { return a.exists(ctx, queuedSQL, room) })
	}
	require.Contains(t, a.command("/remind in 3 days call the plumber"), "Set")
	old := a.session()
	file := a.backup()

	doors.set(false, later)
	a.awaitSent(sentLater, 1)
	meanwhile, _ := a.say(sentLater, question)
	a.awaitSent(sentLater, 2)
	require.NoError(t, a.process.Kill())
	unheard, err := a.Say(t.Context(), neverSent, "And on Sundays?")
	require.NoError(t, err)
	doors.set(false, never)

	a.restore(file)
	_, err = a.db.Pool().Exec(t.Context(), ageSQL)
	require.NoError(t, err)
	a.run()
	require.NotEqual(t, old, a.session(), "keys are not used twice")
	a.await("the question to the owner", func(ctx context.Context) (bool, error) {
		return a.exists(ctx,
			"select exists (select from dialogs d join outbox o on o.id = d.outbox_id where d.kind = 'restored' and o.event_id is not null)")
	})
	for _, event := range []id.EventID{meanwhile.Event, unheard.Event} {
		require.Equal(t, policy.CodeRestored, a.awaitMessage(event).Code, "read, and not answered")
	}
	_, live := a.say(sentLater, question)
	require.Equal(t, policy.CodeRestored, live.Code, "nothing is answered before the owner's word")
	require.Contains(t, a.command("/status"), "Nothing is sent")
	require.Equal(t, 2, a.deliveries(sentLater))
	require.Zero(t, a.deliveries(neverSent))

	require.Contains(t, a.command("/restored"), "Nothing is sent until you say so")
	require.Contains(t, a.command("/restored"), "call the plumber", "it was due four days ago")
	require.Contains(t, a.command("yes"), "1 message sent now", "the other one was sent meanwhile")
	a.awaitSent(neverSent, 1)
	require.Equal(t, 1, a.count("select count(*) from schedule_executions where state = 'skipped'"), "the reminder is left out")
	a.say(sentLater, question)
	a.awaitSent(sentLater, 3)
	a.say(neverSent, question)
	a.awaitDeliveries(neverSent, 2)
	a.awaitDeliveries(sentLater, 3)
	devices, err := a.Owner.GetDevicesInfo(t.Context())
	require.NoError(t, err)
	for _, d := range devices.Devices {
		require.NotEqual(t, old, d.DeviceID, "the former session is gone")
	}
}

// awaitSent waits until n messages have reached a contact. Others may wait.
func (a *app) awaitSent(contact string, n int) {
	a.t.Helper()
	a.await("deliveries to "+contact, func(ctx context.Context) (bool, error) {
		got, err := a.Delivered(ctx, contact)
		return len(got) == n, err
	})
}
