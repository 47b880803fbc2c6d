package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// fakeWork is every part of the program, as far as jobs see it: it notes what it was asked.
type fakeWork struct {
	mu   sync.Mutex
	seen []string
	turn func(attempt string, last bool) error
	done chan struct{}
}

func newWork() *fakeWork { return &fakeWork{done: make(chan struct{}, 1000)} }

func (w *fakeWork) note(what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, what)
	w.done <- struct{}{}
	return nil
}

func (w *fakeWork) Turn(_ context.Context, _ store.ChatID, job string, last bool) error {
	if w.turn != nil {
		if err := w.turn(job, last); err != nil {
			return err
		}
	}
	return w.note("turn")
}
func (w *fakeWork) HasQuietChats(context.Context) (bool, error) { return false, nil }
func (w *fakeWork) CheckQuietChats(context.Context) error       { return w.note("quiet") }
func (w *fakeWork) HandleCommand(context.Context, store.MessageID, bool) error {
	return w.note("command")
}
func (w *fakeWork) Send(context.Context, uuid.UUID, bool) error        { return w.note("send") }
func (w *fakeWork) Describe(context.Context, id.RoomID) error          { return w.note("describe") }
func (w *fakeWork) NotifyOfLateMessages(context.Context) error         { return w.note("late_messages") }
func (w *fakeWork) Index(context.Context, IndexArgs, bool) error       { return w.note("index") }
func (w *fakeWork) NotifyUndelivered(context.Context, uuid.UUID) error { return w.note("undelivered") }

func (w *fakeWork) UpdateEscalation(context.Context, store.EscalationID, bool) error {
	return w.note("escalation")
}
func (w *fakeWork) ChangeReply(context.Context, store.MessageID) error { return w.note("reply") }

func (w *fakeWork) Answer(context.Context, store.MessageID, bool) error { return w.note("ask") }
func (w *fakeWork) MakeAdminRoom(context.Context) error                 { return w.note("room") }

func (w *fakeWork) Retract(context.Context, uuid.UUID) error { return w.note("retract") }

func (w *fakeWork) Decrypt(context.Context, DecryptArgs) error { return w.note("decrypt") }

func (w *fakeWork) Notify(context.Context, NoticeArgs) error { return w.note("notice") }

func (w *fakeWork) History(context.Context, HistoryArgs) error { return w.note("history") }

func (w *fakeWork) NotifyImported(context.Context, store.ChatID, int) error {
	return w.note("imported")
}

func (w *fakeWork) Transcribe(context.Context, store.MessageID, bool) error {
	return w.note("transcribe")
}

func (w *fakeWork) CopyFile(context.Context, store.EscalationID, store.MessageID) error {
	return w.note("copy")
}

func (w *fakeWork) KeepFile(context.Context, store.MessageID) error { return w.note("keep") }

func (w *fakeWork) handlers() Handlers {
	return Handlers{
		Turn:         w,
		Quiet:        w,
		Command:      w,
		Ask:          w,
		Send:         w,
		Describe:     w,
		LateMessages: w,
		Index:        w,
		Undelivered:  w,
		Decrypt:      w,
		Notice:       w,
		History:      w,
		ImportNotice: w,
		Retract:      w,
		AdminRoom:    w,
		KeepFile:     w,
		CopyFile:     w,
		Transcribe:   w,
		Escalation:   w,
		Reply:        w,
	}
}

// await waits until n jobs are done.
func (w *fakeWork) await(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-w.done:
		case <-time.After(time.Minute):
			require.Fail(t, "the job was not done")
		}
	}
}

// start runs a runner until the test ends.
func start(t *testing.T, st *store.Store, w *fakeWork) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := NewRunner(ctx, st, w.handlers(), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

func enqueue(t *testing.T, st *store.Store, args ...Args) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) error { return Enqueue(ctx, tx, args...) }))
}

func TestKinds_ReachTheirWorkers(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	enqueue(t, st, TurnArgs{ChatID: 1}, CommandArgs{MessageID: 1}, SendArgs{OutboxID: uuid.New()}, DescribeArgs{RoomID: "!a:x"},
		LateMessagesArgs{}, IndexArgs{Path: "a.md"}, UndeliveredArgs{OutboxID: uuid.New()},
		DecryptArgs{MessageID: 1}, AskArgs{MessageID: 1}, AdminRoomArgs{}, RetractArgs{OutboxID: uuid.New()},
		NoticeArgs{Topic: TopicSessionReplaced}, HistoryArgs{ChatID: 1}, HistoryArgs{ChatID: 1, NotifyOnly: true},
		TranscribeArgs{MessageID: 1}, KeepFileArgs{MessageID: 1}, UpdateEscalationArgs{EscalationID: 1},
		CopyFileArgs{EscalationID: 1, MessageID: 1}, ChangeReplyArgs{MessageID: 1}, CheckQuietChatsArgs{})
	start(t, st, w)
	w.await(t, 20)
	require.ElementsMatch(t, []string{
		"turn", "command", "send", "describe", "late_messages", "index", "undelivered", "decrypt", "ask", "room",
		"retract", "notice", "history", "imported", "transcribe", "keep", "escalation", "copy", "reply", "quiet",
	}, w.seen)
}

func TestEnqueue_RollsBackWithTransaction(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ctx := context.Background()
	broken := errors.New("broken")
	require.ErrorIs(t, st.InTx(ctx, func(tx store.Tx) error {
		require.NoError(t, Enqueue(ctx, tx, TurnArgs{ChatID: 1}))
		return broken
	}), broken)
	var n int
	require.NoError(t, st.DB().QueryRow(ctx, "select count(*) from river.river_job").Scan(&n))
	require.Zero(t, n)
}

func TestRetry_LaterIsNoFailure(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	calls := 0
	w.turn = func(_ string, last bool) error {
		calls++
		require.False(t, last)
		switch calls {
		case 1:
			return Snooze(10 * time.Millisecond)
		case 2:
			return errors.New("broken")
		default:
			return nil
		}
	}
	start(t, st, w)
	enqueue(t, st, TurnArgs{ChatID: 1})
	w.await(t, 1)
	require.Equal(t, 3, calls)
}

func TestLateMessages_OneNoticeWaits(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	for range 5 {
		enqueue(t, st, LateMessagesArgs{})
	}
	var n int
	require.NoError(t, st.DB().QueryRow(context.Background(), "select count(*) from river.river_job where kind = 'late_messages'").Scan(&n))
	require.Equal(t, 1, n)
}

func requireLook(t *testing.T, c *client) {
	t.Helper()
	_, err := c.pollQueue(t.Context())
	require.NoError(t, err)
}

// orphanJob leaves a job as a killed process leaves it: running, under a client id.
func orphanJob(t *testing.T, st *store.Store, client string) {
	t.Helper()
	enqueue(t, st, TurnArgs{ChatID: 1})
	_, err := st.Pool().Exec(context.Background(),
		"update river.river_job set state = 'running', attempt = 1, attempted_at = now(), attempted_by = array[$1::text] where state = 'available'", client)
	require.NoError(t, err)
}

func TestRescue_KilledProcessAtOnce(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	orphanJob(t, st, "multis-1")
	start(t, st, w) // takes the same client id again
	w.await(t, 1)
}

func TestRescue_KilledNeighbour(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	start(t, st, w)
	orphanJob(t, st, "multis-9")
	w.await(t, 1)
}

func TestRescue_FreesChatOfKilledTurn(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ctx := context.Background()
	orphanJob(t, st, "multis-9")
	var dead int64
	require.NoError(t, st.DB().QueryRow(ctx, "select id from river.river_job").Scan(&dead))
	chats := map[string]string{"of the killed turn": fmt.Sprintf("%d.1.x", dead), "of another": fmt.Sprintf("%d.1.x", dead*10+1)}
	for name, holder := range chats {
		require.NoError(t, st.InTx(ctx, func(tx store.Tx) error {
			chat, err := store.UpsertChat(ctx, tx, store.Chat{
				Protocol:   "demo",
				ChannelID:  name,
				Kind:       policy.KindDM,
				Encryption: policy.EncryptionNo,
			})
			require.NoError(t, err)
			_, err = store.LeaseChat(ctx, tx, chat.ID, holder)
			return err
		}))
	}
	own, err := newClient(ctx, st)
	require.NoError(t, err)
	defer func() { own.lock.Release(ctx) }()
	require.NoError(t, own.takeOver(ctx, true))
	rows, err := st.DB().Query(ctx, "select channel_id from chats where locked_until > now()")
	require.NoError(t, err)
	held, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"of another"}, held)
}

func TestRescue_SparesLivingNeighbour(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ctx := context.Background()
	neighbour, err := newClient(ctx, st)
	require.NoError(t, err)
	defer func() { neighbour.lock.Release(ctx) }()
	orphanJob(t, st, neighbour.id)
	own, err := newClient(ctx, st)
	require.NoError(t, err)
	defer func() { own.lock.Release(ctx) }()
	require.NotEqual(t, neighbour.id, own.id)
	require.NoError(t, own.takeOver(ctx, true))
	requireLook(t, own)
	var state string
	require.NoError(t, st.DB().QueryRow(ctx, "select state from river.river_job").Scan(&state))
	require.Equal(t, "running", state)
}

func TestLock_IsRetakenAfterLoss(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ctx := context.Background()
	s, err := newClient(ctx, st)
	require.NoError(t, err)
	s.lock.Release(ctx) // as when the database restarts; the server notices a moment later
	require.Eventually(t, func() bool { _, err := s.pollQueue(ctx); return err == nil }, time.Minute, 10*time.Millisecond)
	defer func() { s.lock.Release(ctx) }()
	_, ok, err := st.TryLock(ctx, store.LockClient, s.number)
	require.NoError(t, err)
	require.False(t, ok, "we hold it")
}

func TestSweep_EnqueuesWaitingWork(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	ctx := context.Background()
	for _, sql := range []string{
		"insert into chats (protocol, channel_id, kind) values ('demo', 'ana', 'dm')",
		"insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason) select id, '$1', 'contact', '@a:x', 'text', '', now(), now() - interval '1 hour', 'answer', 'answer', '' from chats",
		"insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason) select id, '$2', 'owner_client', '@o:x', 'text', '', now(), now() - interval '1 hour', 'command', 'command', '' from chats",
		"insert into messages (chat_id, event_id, author, sender, kind, body, ts, received_at, action, code, reason) select id, '$3', 'contact', '@a:x', 'text', '', now(), now() - interval '1 hour', 'archive', 'stale', '' from chats",
		"insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, created_at) select gen_random_uuid(), id, 'bot', 'notice', 'm.room.message', '{}', '', '', 'queued', now() - interval '1 hour' from chats",
	} {
		_, err := st.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	for range 2 { // a second look finds the jobs of the first
		require.NoError(t, Sweep(ctx, st))
		var kinds []string
		require.NoError(t, st.DB().QueryRow(ctx, "select array_agg(kind order by kind) from river.river_job").Scan(&kinds))
		require.Equal(t, []string{"command", "late_messages", "send", "turn"}, kinds)
	}
}

func TestSweep_ResumesTaskWithoutJob(t *testing.T) {
	t.Parallel()
	st, ctx := storetest.New(t), t.Context()
	_, err := st.Pool().Exec(ctx, `insert into chats (protocol, channel_id, kind) values ('matrix', 'admin', 'admin')`)
	require.NoError(t, err)
	_, err = st.Pool().Exec(ctx, `insert into tasks (key, kind, chat_id, message_id, parent_id, state, created_at, finished_at) values
		('ask:1', 'ask', 1, 1, null, 'waiting', now() - interval '2 minutes', null),
		('child:1:a', 'child', 1, null, 1, 'running', now() - interval '2 minutes', null),
		('step:1:1', 'step', 1, null, 1, 'pending', now() - interval '2 minutes', null),
		('ask:2', 'ask', 1, 2, null, 'running', now() - interval '2 minutes', null),
		('execution:3', 'schedule', 1, null, null, 'running', now() - interval '2 minutes', null),
		('ask:4', 'ask', 1, 4, null, 'running', now(), null),
		('ask:7', 'ask', 1, 7, null, 'running', now() - interval '2 minutes', null),
		('ask:8', 'ask', 1, 8, null, 'running', now() - interval '2 days', null),
		('ask:9', 'ask', 1, 9, null, 'waiting', now() - interval '2 days', null),
		('ask:5', 'ask', 1, 5, null, 'completed', now() - interval '2 minutes', now()),
		('turn:1', 'turn', 1, 6, null, 'running', now() - interval '2 minutes', null)`)
	require.NoError(t, err)
	_, err = st.Pool().Exec(ctx,
		"update tasks set attempt = 20 where key = 'ask:7'; update tasks set execution_id = 3 where key = 'execution:3'")
	require.NoError(t, err)
	enqueue(t, st, AskArgs{MessageID: 2})
	enqueue(t, st, ExecutionArgs{ExecutionID: 3})
	for range 2 {
		require.NoError(t, Sweep(ctx, st))
		var found []string
		const foundSQL = "select array_agg(concat_ws(' ', kind, args->>'task', case when args ? 'give_up' then 'lost' end) order by kind, id) from river.river_job where kind in ('task', 'subtask')"
		require.NoError(t, st.DB().QueryRow(ctx, foundSQL).Scan(&found))
		require.ElementsMatch(t, []string{"subtask 2", "task 1", "task 7 lost", "task 8 lost"}, found)
	}
}

func TestLeader_DeadIsRemoved(t *testing.T) {
	t.Parallel()
	st, ctx := storetest.New(t), t.Context()
	mine, err := newClient(ctx, st)
	require.NoError(t, err)
	defer func() { mine.lock.Release(ctx) }()
	other, err := newClient(ctx, st)
	require.NoError(t, err)
	lead := func(client string) {
		_, err := st.Pool().Exec(ctx,
			`insert into river.river_leader (name, leader_id, elected_at, expires_at) values ('default', $1, now(), now() + interval '15 seconds')
			on conflict (name) do update set leader_id = excluded.leader_id`, client)
		require.NoError(t, err)
	}
	leader := func() (id string) {
		require.NoError(t, st.DB().QueryRow(ctx, "select coalesce(max(leader_id), '') from river.river_leader").Scan(&id))
		return id
	}
	ear, err := st.Pool().Acquire(ctx)
	require.NoError(t, err)
	defer ear.Release()
	_, err = ear.Exec(ctx, `listen "river.river_leadership"`)
	require.NoError(t, err)
	lead(other.id)
	requireLook(t, mine)
	require.Equal(t, other.id, leader(), "it lives")
	other.lock.Release(ctx) // as the death of its process does
	require.Eventually(t, func() bool { _, err := mine.pollQueue(ctx); return err == nil && leader() == "" }, time.Minute, 10*time.Millisecond)
	wait, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	told, err := ear.Conn().WaitForNotification(wait)
	require.NoError(t, err)
	require.JSONEq(t, `{"leader_id": "`+other.id+`", "action": "resigned"}`, told.Payload,
		"those who wait to lead need not wait for their next look")
	lead(mine.id)
	requireLook(t, mine)
	require.Equal(t, mine.id, leader())
	require.LessOrEqual(t, watchInterval, 3*time.Second)
}

func TestSweep_EnqueuesMissingSchedule(t *testing.T) {
	t.Parallel()
	st, ctx := storetest.New(t), t.Context()
	for _, sql := range []string{
		"insert into schedules (kind, zone, next_at, action, body, catch_up, created_by) values ('at', 'UTC', now() + interval '1.000001 hour', 'say', 'a', 'once', '@o:x')",
		"insert into schedules (kind, zone, next_at, action, body, catch_up, created_by) values ('at', 'UTC', now() - interval '1 hour', 'say', 'b', 'once', '@o:x')",
		"insert into schedules (kind, zone, next_at, action, body, catch_up, created_by, paused_at) values ('at', 'UTC', now(), 'say', 'c', 'once', '@o:x', now())",
		"insert into schedules (kind, zone, action, body, catch_up, created_by) values ('at', 'UTC', 'say', 'd', 'once', '@o:x')",
		"insert into schedule_executions (schedule_id, due_at, state, started_at) values (1, now(), 'running', now() - interval '2 minutes')",
		"insert into schedule_executions (schedule_id, due_at, state) values (2, now(), 'running')",
	} {
		_, err := st.Pool().Exec(ctx, sql)
		require.NoError(t, err)
	}
	for range 2 {
		require.NoError(t, Sweep(ctx, st))
		var kinds []string
		require.NoError(t, st.DB().QueryRow(ctx,
			"select array_agg(kind || ' ' || state || ' ' || coalesce(args->>'schedule', args->>'execution') order by 1) from river.river_job").Scan(&kinds))
		require.Equal(t, []string{"execution available 1", "tick available 2", "tick scheduled 1"}, kinds)
	}
}

// limitedArgs notes how long a run may take.
type limitedArgs struct{ left chan time.Duration }

func (l limitedArgs) Execute(ctx context.Context, _ store.ExecutionID, _ bool) error {
	deadline, _ := ctx.Deadline()
	l.left <- time.Until(deadline)
	return nil
}

func TestTask_JobTimeoutFollowsRun(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	l := limitedArgs{make(chan time.Duration, 1)}
	h := newWork().handlers()
	h.Execution = l
	runner, err := NewRunner(t.Context(), st, h, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	enqueue(t, st, ExecutionArgs{ExecutionID: 1})
	left := <-l.left
	require.LessOrEqual(t, left, UpkeepTimeout+time.Minute)
	require.Positive(t, left)
	cancel()
	require.NoError(t, <-ended)
}
