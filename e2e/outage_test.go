//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/e2e/rig"
	"multis/llm/llmtest"
	"multis/migrations"
	"multis/store/pgserver"
)

func TestOutage_SynapseEndsInBurst(t *testing.T) {
	for _, end := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(end.String(), func(t *testing.T) {
			a := start(t, setup{})
			contact := fmt.Sprintf("burst-%d", int(end))
			room := a.portal(contact)
			releasePush, releaseSync := a.front.hold(), a.back.holdSync()
			defer releasePush()
			defer releaseSync()
			accepted := a.burst(t, contact, room, end)
			releasePush()
			releaseSync()

			var inRoom []id.EventID
			a.await("all that Synapse accepted, which it keeps", func(ctx context.Context) (bool, error) {
				timeline, err := a.Timeline(ctx, room)
				inRoom = nil
				for _, evt := range timeline {
					if evt.Type == event.EventMessage {
						inRoom = append(inRoom, evt.ID)
					}
				}
				return !slices.ContainsFunc(accepted, func(event id.EventID) bool { return !slices.Contains(inRoom, event) }), err
			})
			a.await("all that is in the room", func(ctx context.Context) (bool, error) {
				stored, err := a.storedMessages(ctx, room)
				return len(stored) >= len(inRoom), err
			})
			stored, err := a.storedMessages(t.Context(), room)
			require.NoError(t, err)
			require.Equal(t, inRoom, stored, "in the order of the room")
		})
	}
}

// burst has the owner and the contact write in turn, ends Synapse in the middle and starts it again. It returns what Synapse
// accepted. While both doors are held, all of it is still on the way to multis when Synapse ends.
func (a *app) burst(t *testing.T, contact string, room id.RoomID, end syscall.Signal) (accepted []id.EventID) {
	t.Helper()
	back := make(chan error, 1)
	for i := range burst {
		text := fmt.Sprintf("line %d", i)
		if i == burst/2 {
			go func() { back <- errors.Join(a.Stack.StopSynapse(end), a.Stack.StartSynapse(t.Context())) }()
		}
		a.await("a place for "+text, func(ctx context.Context) (bool, error) {
			if i%6 > 0 { // of one contact, multis keeps no more than 60 messages a minute
				sent, err := a.Owner.SendText(ctx, room, text)
				if err == nil {
					accepted = append(accepted, sent.EventID)
				}
				return err == nil, nil // Synapse is away
			}
			said, err := a.Say(ctx, contact, text)
			if err == nil {
				accepted = append(accepted, said.Event)
			}
			return err == nil, nil
		})
	}
	require.NoError(t, <-back)
	return accepted
}

const storedSQL = "select m.event_id from messages m join chats c on c.id = m.chat_id where c.room_id = $1 order by m.ts, m.id"

// storedMessages lists the stored messages of a room in their order.
func (a *app) storedMessages(ctx context.Context, room id.RoomID) ([]id.EventID, error) {
	rows, err := a.db.DB().Query(ctx, storedSQL, room)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[id.EventID])
}

func TestOutage_PostgresGoesAway(t *testing.T) {
	dir := plainWorlds.claim(t).Dir + "/pg"
	options := pgserver.Options{Dir: dir, Throwaway: true}
	server, err := pgserver.Start(t.Context(), options)
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop()) }()
	dsn, err := server.EnsureDatabase(t.Context(), "multis", "multis")
	require.NoError(t, err)
	require.NoError(t, migrations.Run(t.Context(), dsn))
	a := start(t, setup{Database: dsn})
	a.learn()
	contacts := []string{"away-dan", "away-eli"}
	a.switchToBusiness(contacts...)
	a.awaitIdle()

	require.NoError(t, server.Stop())
	var said []id.EventID
	for i := range 10 {
		s, err := a.Say(t.Context(), contacts[i%2], fmt.Sprintf("%s (%d)", question, i))
		require.NoError(t, err)
		said = append(said, s.Event)
	}
	server, err = pgserver.Start(t.Context(), options)
	require.NoError(t, err)
	a.db.Pool().Reset()
	for _, event := range said {
		a.awaitMessage(event)
	}
	a.awaitIdle()
	require.Zero(t, a.count("select count(*) from messages where action = 'answer' and answered_at is null"))
	for _, contact := range contacts {
		t.Run(contact, func(t *testing.T) {
			replies := a.count("select count(*) from outbox where chat_id = $1", a.chat(contact).ID)
			require.Positive(t, replies)
			a.awaitDeliveries(contact, replies)
		})
	}
}

func TestProcesses_ShareDatabase(t *testing.T) {
	var mu sync.Mutex
	processes := map[string]*rig.Multis{} // by API key
	died := ""
	model := llmtest.Start(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		if died == "" {
			died = r.Key
			if err := processes[r.Key].Kill(); err != nil {
				panic(err) // a child of ours that cannot be killed
			}
			<-ctx.Done()
		}
		return llmtest.Reply{Text: draft}
	})
	a := start(t, setup{Profile: "business", Model: model.URL, APIKey: "one"})
	a.learn()
	processes["one"], processes["two"] = a.process, a.startSecond(t, "two")
	room := a.portal("pair-flo")

	asked := time.Now()
	_, err := a.Say(t.Context(), "pair-flo", question)
	require.NoError(t, err)
	got := a.awaitDeliveries("pair-flo", 1)
	require.Less(t, got[0].Time.Sub(asked), patience)
	require.Contains(t, processes, died, "one was killed while it asked the model")
	require.Len(t, a.back.sentTo(room), 1)
	_, err = a.Say(t.Context(), "pair-flo", question)
	require.NoError(t, err)
	a.awaitDeliveries("pair-flo", 2)
}

// startSecond starts another process on the same database.
func (a *app) startSecond(t *testing.T, key string) *rig.Multis {
	t.Helper()
	ports, err := devstack.FreePorts(1)
	require.NoError(t, err)
	other := *a
	other.setup.APIKey = key
	process, err := a.StartMultis(t.Context(), other.config(ports[0]))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, process.Kill())
		logOfFailed(t, process)
	})
	a.front.setTargets(a.port, ports[0])
	return process
}
