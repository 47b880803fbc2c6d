package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// retainedSQL makes chat 1 of a contact and chat 2 of the owner's room, with messages that other rows refer to.
const retainedSQL = `insert into chats (id, protocol, channel_id, kind, name) overriding system value values (1, 'demo', 'ana', 'dm', 'Ana'), (2, 'demo', 'room', 'admin', 'Admin');
	insert into messages (id, chat_id, event_id, author, sender, kind, body, ts, action, code, reason) overriding system value
		select n, case when n < 50 then 1 else 2 end, '$' || n, 'contact', '@ana:x', 'text', 'old', now() - interval '100 days', 'archive', '', '' from generate_series(1, 99) n;
	select setval(pg_get_serial_sequence('messages', 'id'), 100);
	insert into hooks (name, target, events) values ('h', 't', '{}');
	insert into watches (id, name, kind) overriding system value values (1, 'w', 'webhook')`

// upkeepCase is one table and the statement that takes its old rows out. Both rows are named by key; what is old is named "goes".
type upkeepCase struct {
	keeps, goes string // statements that write a row to keep, and one to go
	left        string // a query that lists what is left, and must bring "keeps" alone
	run         func(ctx context.Context, st *store.Store) error
}

func daysAgo(n int) time.Time { return time.Now().AddDate(0, 0, -n) }

func inTx(fn func(ctx context.Context, tx store.Tx) error) func(context.Context, *store.Store) error {
	return func(ctx context.Context, st *store.Store) error {
		return st.InTx(ctx, func(tx store.Tx) error { return fn(ctx, tx) })
	}
}

var (
	pruneUsage = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneUsage(ctx, st.Writer(), daysAgo(30))
		return err
	}
	pruneRuns = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneExecutions(ctx, st.Writer(), daysAgo(30))
		return err
	}
	pruneSeen = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneSeenEvents(ctx, st.Writer(), daysAgo(90))
		return err
	}
	prunePending = func(ctx context.Context, st *store.Store) error {
		_, err := store.PrunePending(ctx, st.Writer(), daysAgo(7))
		return err
	}
	dropExpiredFiles = func(ctx context.Context, st *store.Store) error {
		_, err := store.DeleteExpiredFiles(ctx, st.Writer(), time.Now())
		return err
	}
	pruneTasks = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneTasks(ctx, st.Writer(), daysAgo(30))
		return err
	}
	pruneRequests = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneWebhookRequests(ctx, st.Writer(), daysAgo(7))
		return err
	}
	pruneDialogs = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneDialogs(ctx, st.Writer(), daysAgo(7))
		return err
	}
	pruneMatters = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneJudgements(ctx, st.Writer(), daysAgo(30))
		return err
	}
	pruneDeliveries = func(ctx context.Context, st *store.Store) error {
		_, err := store.PruneDeliveries(ctx, st.Writer(), daysAgo(30))
		return err
	}
	freeLeases = func(ctx context.Context, st *store.Store) error {
		_, err := store.ClearExpiredLeases(ctx, st.Writer())
		return err
	}
	expireMessages = inTx(func(ctx context.Context, tx store.Tx) error {
		_, err := store.ExpireMessages(ctx, tx, store.Cutoffs{Chats: daysAgo(90), Owner: daysAgo(365)}, 1000)
		return err
	})
	expireRest = inTx(func(ctx context.Context, tx store.Tx) error {
		_, err := store.ExpireRest(ctx, tx, store.Cutoffs{Chats: daysAgo(90), Owner: daysAgo(365)}, 1000)
		return err
	})
)

// writeMessages writes messages of chat 1 or 2. The test refers to them by their text.
func writeMessages(chat, text, at string) string {
	return `insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason)
		values (` + chat + `, 'new ` + text + `', 'contact', '@ana:x', 'text', '` + text + `', now() - interval '` + at + `', 'archive', '', '')`
}

func commitment(message, what, columns, values string) string {
	return `insert into commitments (chat_id, message_id, who, what` + columns + `) values (1, ` + message + `, 'Ana', '` + what + `'` +
		values + `)`
}

const commitmentsLeft = "select what from commitments"

func task(name, columns, values string) string {
	return `insert into tasks (key, kind, chat_id` + columns + `) values ('` + name + `', 'ask', ` + values + `)`
}

func outRow(state, code, chat, at string) string {
	return `insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, created_at)
		values (gen_random_uuid(), ` + chat + `, 'bot', 'notice', 'm.room.message', '{}', '` + code + `', '', '` + state +
		`', now() - interval '` + at + `')`
}

func upkeepCases() map[string]upkeepCase {
	return map[string]upkeepCase{
		"what a call cost": {
			`insert into usage (day, chat_id, purpose, model, reserved, created_at) values (current_date, 0, 'keeps', '', 1, now() - interval '29 days')`,
			`insert into usage (day, chat_id, purpose, model, reserved, created_at) values (current_date, 0, 'goes', '', 1, now() - interval '31 days')`,
			"select purpose from usage", pruneUsage,
		},
		"a day's budget": {
			`insert into budgets (day, cap, subject) values (current_date - 29, 'chat', 'keeps')`,
			`insert into budgets (day, cap, subject) values (current_date - 32, 'chat', 'goes')`,
			"select subject from budgets", pruneUsage,
		},
		"a run's budget": {
			`insert into budgets (day, cap, subject, committed) values ('-infinity', 'run', 'keeps', 5);
				insert into usage (day, chat_id, run, purpose, model, reserved, created_at) values (current_date - 40, 0, 'keeps', '', '', 1, now() - interval '40 days'), (current_date, 0, 'keeps', '', '', 1, now())`,
			`insert into budgets (day, cap, subject, committed) values ('-infinity', 'run', 'goes', 5);
				insert into usage (day, chat_id, run, purpose, model, reserved, created_at) values (current_date - 40, 0, 'goes', '', '', 1, now() - interval '40 days')`,
			"select subject from budgets", pruneUsage,
		},
		"an execution of a schedule": {
			`insert into schedules (id, kind, zone, action, body, catch_up, created_by, next_at) values (8, 'at', 'UTC', 'say', '', 'once', '@o:x', now());
				insert into schedule_executions (schedule_id, due_at, state, note, started_at) values (8, now(), 'done', 'keeps', now() - interval '29 days')`,
			`insert into schedules (id, kind, zone, action, body, catch_up, created_by, next_at) values (9, 'at', 'UTC', 'say', '', 'once', '@o:x', now());
				insert into schedule_executions (schedule_id, due_at, state, note, started_at) values (9, now(), 'done', 'goes', now() - interval '31 days')`,
			"select note from schedule_executions", pruneRuns,
		},
		"an execution that still runs": {
			`insert into schedules (id, kind, zone, action, body, catch_up, created_by, next_at) values (8, 'at', 'UTC', 'say', '', 'once', '@o:x', now());
				insert into schedule_executions (schedule_id, due_at, state, note, started_at) values (8, now(), 'running', 'keeps', now() - interval '31 days')`,
			"", "select note from schedule_executions", pruneRuns,
		},
		"a schedule that is over": {
			`insert into schedules (id, kind, zone, action, body, catch_up, created_by, created_at) values (8, 'at', 'UTC', 'say', 'keeps', 'once', '@o:x', now() - interval '99 days');
				insert into schedule_executions (schedule_id, due_at, state, started_at) values (8, now(), 'done', now() - interval '29 days')`,
			`insert into schedules (id, kind, zone, action, body, catch_up, created_by, created_at) values (9, 'at', 'UTC', 'say', 'goes', 'once', '@o:x', now() - interval '99 days');
				insert into schedule_executions (schedule_id, due_at, state, started_at) values (9, now(), 'done', now() - interval '31 days')`,
			"select body from schedules", pruneRuns,
		},
		"a schedule to keep, and one still to come": {
			`insert into schedules (kind, zone, action, body, catch_up, created_by, keep, created_at) values ('at', 'UTC', 'say', 'keeps', 'once', '@o:x', true, now() - interval '99 days');
				insert into schedules (kind, zone, action, body, catch_up, created_by, created_at, next_at) values ('at', 'UTC', 'say', 'keeps', 'once', '@o:x', now() - interval '99 days', now())`,
			"", "select distinct body from schedules", pruneRuns,
		},
		"the id of an event": {
			`insert into seen_events (event_id, seen_at) values ('keeps', now() - interval '89 days')`,
			`insert into seen_events (event_id, seen_at) values ('goes', now() - interval '91 days')`,
			"select event_id from seen_events", pruneSeen,
		},
		"an event of a room not described": {
			`insert into pending_events (event_id, room_id, received_at) values ('keeps', '!r', now() - interval '6 days')`,
			`insert into pending_events (event_id, room_id, received_at) values ('goes', '!r', now() - interval '8 days')`,
			"select event_id from pending_events", prunePending,
		},
		"a kept file": {
			`insert into kept_files (message_id, data, size, expires_at) values (1, 'keeps', 5, now() + interval '1 day')`,
			`insert into kept_files (message_id, data, size, expires_at) values (2, 'goes', 4, now() - interval '1 day')`,
			"select convert_from(data, 'UTF8') from kept_files", dropExpiredFiles,
		},
		"a kept file beyond the limit": {
			`insert into kept_files (message_id, data, size, expires_at) values (1, 'keeps', 5, now() + interval '1 day')`,
			`insert into kept_files (message_id, data, size, kept_at, expires_at) values (2, 'goes', 4, now() - interval '1 hour', now() + interval '1 day')`,
			"select convert_from(data, 'UTF8') from kept_files", inTx(func(ctx context.Context, tx store.Tx) error {
				return store.LimitKeptFiles(ctx, tx, 5)
			}),
		},
		"a task that is over": {
			task("keeps", ", finished_at, created_at", "1, now() - interval '29 days', now() - interval '60 days'"),
			task("goes", ", finished_at, created_at", "1, now() - interval '31 days', now() - interval '60 days'"),
			"select key from tasks", pruneTasks,
		},
		"a task that nobody ended": {
			task("keeps", ", created_at", "1, now() - interval '29 days'"), task("goes", ", created_at", "1, now() - interval '31 days'"),
			"select key from tasks", pruneTasks,
		},
		"what the heartbeat judged": {
			`insert into heartbeat_findings (agent, finding, notified, seen_at) values ('', 'keeps', true, now() - interval '29 days')`,
			`insert into heartbeat_findings (agent, finding, notified, seen_at) values ('', 'goes', true, now() - interval '31 days')`,
			"select finding from heartbeat_findings", pruneMatters,
		},
		"what a hook was told": {
			`insert into hook_deliveries (hook, event, ref, at, done_at) values ('h', 'e', 'keeps', now() - interval '60 days', now() - interval '29 days'), ('h', 'e', 'keeps', now() - interval '60 days', null)`,
			`insert into hook_deliveries (hook, event, ref, at, done_at) values ('h', 'e', 'goes', now() - interval '60 days', now() - interval '31 days')`,
			"select distinct ref from hook_deliveries", pruneDeliveries,
		},
		"a call of an inbox": {
			`insert into webhook_requests (watch_id, key, at) values (1, 'keeps', now() - interval '6 days')`,
			`insert into webhook_requests (watch_id, key, at) values (1, 'goes', now() - interval '8 days')`,
			"select key from webhook_requests where key <> 'new'", inTx(func(ctx context.Context, tx store.Tx) error {
				_, err := store.RecordWebhookCall(ctx, tx, 1, "new", daysAgo(7))
				return err
			}),
		},
		"a request to a webhook that is called no more": {
			`insert into webhook_requests (watch_id, key, at) values (1, 'keeps', now() - interval '6 days')`,
			`insert into webhook_requests (watch_id, key, at) values (1, 'goes', now() - interval '8 days')`,
			"select key from webhook_requests", pruneRequests,
		},
		"a lease": {
			`update chats set locked_by = 'keeps', locked_until = now() - interval '9 minutes' where id = 1`,
			`update chats set locked_by = 'goes', locked_until = now() - interval '11 minutes' where id = 2`,
			"select locked_by from chats where locked_by <> ''", freeLeases,
		},
		"a contact's message": {
			writeMessages("1", "keeps", "89 days"), writeMessages("1", "goes", "91 days"),
			"select body from messages where body <> 'old'", expireMessages,
		},
		"the owner's message": {
			writeMessages("2", "keeps", "364 days"), writeMessages("2", "goes", "366 days"),
			"select body from messages where body <> 'old'", expireMessages,
		},
		"a commitment with a day": {
			commitment("1", "keeps", ", due_at", ", now() + interval '1 day'"), commitment("2", "goes", ", due_at", ", now() - interval '1 day'"),
			commitmentsLeft, expireMessages,
		},
		"a commitment without a day": {
			commitment("1", "keeps", "", ""), commitment("2", "goes", ", state", ", 'done'"),
			commitmentsLeft, expireMessages,
		},
		"a commitment that was put off": {
			commitment("1", "keeps", ", due_at, snoozed_to", ", now() - interval '1 day', now() + interval '1 day'"),
			commitment("2", "goes", ", due_at, snoozed_to", ", now() + interval '1 day', now() - interval '1 day'"),
			commitmentsLeft, expireMessages,
		},
		"an escalation": {
			`insert into escalations (chat_id, message_id, reason) values (1, 1, 'keeps')`,
			`insert into escalations (chat_id, message_id, reason, closed_at) values (1, 2, 'goes', now())`,
			"select reason from escalations", expireMessages,
		},
		"what was said in a chat": {
			outRow("sent", "keeps", "1", "89 days"), outRow("sent", "goes", "1", "91 days"),
			"select code from outbox", expireRest,
		},
		"what was said in the owner's room": {
			outRow("sent", "keeps", "2", "364 days"), outRow("sent", "goes", "2", "366 days"),
			"select code from outbox", expireRest,
		},
		"what waits to be sent": {outRow("queued", "keeps", "1", "91 days"), "", "select code from outbox", expireRest},
		"a task of a chat": {
			task("keeps", ", created_at", "1, now() - interval '89 days'"), task("goes", ", created_at", "1, now() - interval '91 days'"),
			"select key from tasks", expireRest,
		},
		"a question to the owner": {
			`insert into dialogs (chat_id, kind, payload, outbox_id, expires_at) values (2, 'keeps', '{}', gen_random_uuid(), now() - interval '6 days')`,
			`insert into dialogs (chat_id, kind, payload, outbox_id, expires_at) values (2, 'goes', '{}', gen_random_uuid(), now() - interval '8 days')`,
			"select kind from dialogs", pruneDialogs,
		},
		"a forgetting": {
			`insert into forgettings (kind, remaining, command, done_at) values ('some', '{}', 1, now() - interval '364 days')`,
			`insert into forgettings (kind, remaining, command, done_at) values ('chats', '{}', 1, now() - interval '366 days')`,
			"select case kind when 'some' then 'keeps' else 'goes' end from forgettings", expireRest,
		},
		"a capture": {
			`insert into note_sections (chat_id, role, last_message, created_at) values (1, 'user:1', 1, now() - interval '89 days')`,
			`insert into note_sections (chat_id, role, last_message, created_at) values (1, 'user:1', 2, now() - interval '91 days')`,
			"select case last_message when 1 then 'keeps' else 'goes' end from note_sections", expireRest,
		},
	}
}

func TestUpkeep_DeletesOnlyOld(t *testing.T) {
	t.Parallel()
	for name, c := range upkeepCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, ctx := storetest.New(t), t.Context()
			for _, sql := range []string{retainedSQL, c.keeps, c.goes} {
				_, err := st.Pool().Exec(ctx, sql)
				require.NoError(t, err, sql)
			}
			left := func() []string {
				rows, err := st.DB().Query(ctx, c.left)
				require.NoError(t, err)
				defer rows.Close()
				var all []string
				for rows.Next() {
					var s string
					require.NoError(t, rows.Scan(&s))
					all = append(all, s)
				}
				return all
			}
			if c.goes != "" {
				require.ElementsMatch(t, []string{"keeps", "goes"}, left(), "the case is wrong")
			}
			require.NoError(t, c.run(ctx, st))
			require.Equal(t, []string{"keeps"}, left())
		})
	}
}
