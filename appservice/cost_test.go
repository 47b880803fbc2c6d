package appservice

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"

	"multis/policy"
	"multis/store"
)

// statementCounter records the statements of a pool. Each is a round trip.
type statementCounter struct {
	mu         sync.Mutex
	statements []string
}

func (c *statementCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q.SQL != "-- ping" { // of a connection that was idle for a second
		c.statements = append(c.statements, q.SQL[:min(len(q.SQL), 80)])
	}
	return ctx
}

func (*statementCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// countStatements makes the inbox of a fixture count its statements.
func countStatements(t *testing.T, b *fixture) *statementCounter {
	t.Helper()
	counter := &statementCounter{}
	cfg := b.store.Pool().Config()
	cfg.ConnConfig.Tracer = counter
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	counting, err := store.New(t.Context(), pool)
	require.NoError(t, err)
	b.inbox = NewInbox(counting, b.inbox.settings)
	return counter
}

func TestIntake_NeedsFewStatements(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ events, chats, statements int }{
		"an event":               {1, 1, 11},
		"20 events of 10 chats":  {20, 10, 30},
		"20 events of one chat":  {20, 1, 30},
		"100 events of 10 chats": {100, 10, 110},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			counter := countStatements(t, b)
			var chats []store.Chat
			for i := range c.chats {
				chats = append(chats, b.chat(idRoom(i), policy.ModeBusiness))
			}
			var events []*event.Event
			for i := range c.events {
				chat := chats[i%c.chats]
				evt := b.text(*chat.RoomID, chat.Contact, "What does delivery "+strconv.Itoa(i)+" cost?")
				events = append(events, evt)
			}
			// The first job of a process makes River ask for more.
			b.receive(b.text(*chats[0].RoomID, chats[0].Contact, "Hello, what does delivery cost?"))
			counter.statements = nil
			require.NoError(t, b.inbox.Receive(t.Context(), events, ""))
			require.Len(t, counter.statements, c.statements, strings.Join(counter.statements, "\n"))
			require.Equal(t, c.events+1, b.count("messages"))
		})
	}
}

// TestIntake_WithdrawsUnlessReply: the message of a schedule that a contact forestalls is withdrawn with what they write, for no
// statement more than the job.
func TestIntake_WithdrawsUnlessReply(t *testing.T) {
	t.Parallel()
	b := setup(t)
	counter := countStatements(t, b)
	chat := b.chat(idRoom(0), policy.ModeSilent)
	other := b.chat(idRoom(1), policy.ModeSilent)
	b.exec(`insert into schedules (id, kind, spec, zone, next_at, action, body, chat_id, catch_up, created_by, created_at, unless_reply)
		select n, 'at', '', 'UTC', now() + interval '1 hour', 'say', 'are you there?', $1, 'once', '@you:example.com', now(), n = 100 from generate_series(100, 101) n`, chat.ID)
	write := func(chat store.Chat) int {
		counter.statements = nil
		b.receive(b.text(*chat.RoomID, chat.Contact, "Hello"))
		return len(counter.statements)
	}
	write(other)
	without := write(other)
	require.Zero(t, b.jobs("withdraw_schedule"))
	write(chat) // the first job of a process makes River ask for more
	require.Equal(t, 1, b.jobs("withdraw_schedule"))
	with := write(chat)
	require.LessOrEqual(t, with-without, 1)
	t.Log("statements:", without, with)
}

// fillChatSQL, in which the code backfill only saves the time of the triggers, stores messages of a chat that wait for an answer, sent answers, and withdrawn drafts whose cards are closed.
var fillChatSQL = []string{
	`insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason, unindexed)
		select $1, '$waits' || n, 'contact', '@contact:x', 'text', 'words', now() - interval '2 days', now() - interval '2 days', 'answer', 'backfill', '', false
		from generate_series(1, $2::int) n`,
	`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, created_at, seen_id, event_id)
		select gen_random_uuid(), $1, 'owner', 'answer', 'm.room.message', '{}', 'ok', '', 'sent', now() - interval '2 days', 0, '$sent' || n
		from generate_series(1, $2::int) n`,
	`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, created_at, seen_id)
		select gen_random_uuid(), $1, 'owner', 'draft', 'm.room.message', '{}', 'draft_outdated', '', 'dropped', now() - interval '2 days', 1
		from generate_series(1, $2::int) n`,
}

// rowsReadSQL counts the rows that the transaction has read, and says of which tables.
const rowsReadSQL = `select sum(n)::int, string_agg(relname || ' ' || n, ', ' order by n desc) from (
	select relname, seq_tup_read + coalesce(idx_tup_fetch, 0) as n from pg_stat_xact_user_tables) t where n > 0`

func TestIntake_CostIsFlat(t *testing.T) {
	t.Parallel()
	const (
		maxRows = 150
		n       = 20_000
	)
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	for _, sql := range fillChatSQL {
		_, err := b.store.Pool().Exec(t.Context(), sql, chat.ID, n)
		require.NoError(t, err)
	}
	_, err := b.store.Pool().Exec(t.Context(), "analyze")
	require.NoError(t, err)
	for i, sender := range []string{string(chat.Contact), string(b.inbox.settings.Owner)} {
		evt := b.text("!a:x", chat.Contact, fmt.Sprintf("What does delivery %d cost?", i))
		evt.Sender = b.inbox.settings.Owner
		if i == 0 {
			evt.Sender = chat.Contact
		}
		var read int
		var tables string
		begin := time.Now()
		require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
			if err := b.inbox.newBatch(tx).storeAll(t.Context(), parseEvents(t.Context(), []*event.Event{evt})); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), rowsReadSQL).Scan(&read, &tables)
		}))
		t.Log(sender, read, "rows", time.Since(begin), tables)
		require.Less(t, read, maxRows, tables)
	}
}
