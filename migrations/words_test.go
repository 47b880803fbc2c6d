package migrations_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// beforeWords is the last migration with the old words.
const beforeWords = 134

// oldWordsSQL writes rows with each of the words that 00135_words.sql has replaced.
const oldWordsSQL = `insert into chats (protocol, channel_id, kind, closed_why) values ('matrix', 'admin', 'admin', ''), ('demo', 'ana', 'dm', 'left');
	insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason, digested_at)
		select 2, '$' || n, 'contact', '@ana:x', 'text', 'hello', now(), w.action, w.code, '', null from (values
			(1, 'listen', 'listening'), (2, 'answer', 'heard'), (3, 'archive', 'unheard'), (4, 'handoff', 'keyword'), (5, 'archive', 'owner_here'),
			(6, 'archive', 'cap_minute'), (7, 'archive', 'cap_day'), (8, 'archive', 'stale')) w (n, action, code);
	insert into outbox (id, chat_id, send_as, purpose, drafted_as, event_type, content, code, reason, state, about, rests_on, spans) values
		('11111111-1111-4111-8111-111111111111', 2, 'owner', 'handover', '', 'm.room.message', '{"body": "x"}', 'handed_over', '', 'queued', '{1}', '{1,2}', '[{"ref": {"kind": "chunk", "id": 7}, "source": "[a.md]", "quote": "q"}]'),
		('22222222-2222-4222-8222-222222222222', 2, 'owner', 'draft', 'handover', 'm.room.message', '{"body": "x"}', 'draft_stale', '', 'dropped', '{}', '{}', '[]'),
		('33333333-3333-4333-8333-333333333333', 2, 'owner', 'reply', '', 'm.room.message', '{"body": "x"}', 'taken_back', '', 'dropped', '{}', '{}', '[]');
	insert into schedules (kind, zone, does, body, catch_up, created_by, tell, chat_id) values ('at', 'UTC', 'say', 'tea', 'once', '@o:x', true, 2);
	insert into schedule_runs (schedule_id, due_at, state) values (1, now(), 'running');
	insert into tasks (key, kind, chat_id, message_id, state, about, run_id, stop_why, live_event) values
		('ask:1', 'ask', 1, 1, 'authorized', '{1}', null, '', ''), ('run:1', 'clock', 1, null, 'executing', '{}', 1, '', ''), ('ask:3', 'ask', 1, 3, 'monitoring', '{3}', null, 'enough', '$live');
	insert into task_steps (task_id, seq, kind, name, handover, asked) values (1, 1, 'model', 'm', 'the end', 'digest');
	insert into escalations (chat_id, message_id, why, told, rests_on, found) values (2, 4, 'a keyword', true, '{4}', '[]');
	insert into chat_summaries (chat_id, body, about, until) values (2, 'they greeted', '{1,2}', now());
	insert into commitments (chat_id, message_id, who, what, nudged_at) values (2, 1, 'Ana', 'pays', now());
	insert into watches (name, kind, token) values ('shop', 'inbox', '\xaa');
	insert into watch_calls (watch_id, key) values (1, 'k');
	insert into heartbeat_matters (agent, matter, told) values ('', 'task:1', true);
	insert into bridge_states (bot, protocol, why, changed_at, down_since) values ('@bot:x', 'demo', 'logged out', now(), now());
	insert into budgets (day, cap, subject, told) values ('2026-01-01', 'day', '', 80);
	insert into unanswered_questions (escalation_id, chat_id, message_ids, question, answer, person, answered_at, state) values (1, 2, '{4}', '', '', '', now(), 'known');
	insert into dialogs (chat_id, kind, payload, outbox_id, expires_at) values (1, 'offer-answer', '{}', gen_random_uuid(), now() + interval '1 day');
	insert into hook_deliveries (hook, event, ref) values ('h', 'handoff', '2');
	insert into settings values ('since', '"s1"'), ('bot_since', '"s2"'), ('keyless_since', '"s3"'), ('keys_gone', 'true'), ('told_skill:ab', 'true'), ('config:budget.at_cap', '"handover"')`

// texts reads one column of texts.
func texts(t *testing.T, st *store.Store, sql string) []string {
	t.Helper()
	rows, err := st.Pool().Query(t.Context(), sql)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return all
}

func TestWords_OldRowsGetTheNewWords(t *testing.T) {
	t.Parallel()
	st := storetest.FromVersion(t, beforeWords, oldWordsSQL, nil)
	for sql, want := range map[string][]string{
		"select action || ' ' || code from messages order by id": {
			"transcribe transcribing", "answer transcribed", "archive transcription_failed", "escalate keyword", "archive owner_active",
			"archive minute_limit", "archive day_limit", "archive stale",
		},
		"select purpose || ' ' || drafted_as || ' ' || code from outbox order by id": {
			"escalation  escalated", "draft escalation draft_outdated",
			"reply  quote_deleted",
		},
		"select key || ' ' || kind || ' ' || state from tasks order by id": {
			"ask:1 ask queued", "execution:1 schedule running",
			"ask:3 ask waiting",
		},
		"select kind from watches":               {"webhook"},
		"select state from unanswered_questions": {"not_asked"},
		"select kind from dialogs":               {"offer-answer"},
		"select event from hook_deliveries":      {"resolved"},
		"select key || ' ' || value::text from settings order by key": {
			`bot_sync_token "s2"`,
			`config:budget.at_cap "escalate"`, `keyless_sync_token "s3"`, "keys_unreadable true", "skill_notified:ab true", `sync_token "s1"`,
		},
		"select finding || ' ' || notified from heartbeat_findings":                                                 {"task:1 true"},
		"select key from webhook_requests":                                                                          {"k"},
		"select sources::text from chat_summaries":                                                                  {"{1,2}"},
		"select end_reason || ' ' || request_digest from task_steps":                                                {"the end digest"},
		"select reason || ' ' || contact_notified || ' ' || sources::text from escalations":                         {"a keyword true {4}"},
		"select notified_percent::text from budgets":                                                                {"80"},
		"select reason from bridge_states":                                                                          {"logged out"},
		"select closed_reason from chats where kind = 'dm'":                                                         {"left"},
		"select action || ' ' || notify from schedules where created_by <> ''":                                      {"say true"},
		"select count(*)::text from commitments where reminded_at is not null":                                      {"1"},
		"select count(*)::text from messages where notified_at is null and code = 'stale'":                          {"1"},
		"select state from schedule_executions":                                                                     {"running"},
		"select (citations->0->>'quote') || quotes::text || sources::text from outbox where purpose = 'escalation'": {"q{1}{1,2}"},
	} {
		t.Run(sql, func(t *testing.T) { require.Equal(t, want, texts(t, st, sql)) })
	}
}

func TestWords_WaitingWorkOfBeforeIsFound(t *testing.T) {
	t.Parallel()
	st := storetest.FromVersion(t, beforeWords, oldWordsSQL+`; update messages set received_at = now() - interval '5 minutes';
		update outbox set created_at = now() - interval '5 minutes'; update schedule_runs set started_at = now() - interval '5 minutes'; update tasks set created_at = now() - interval '5 minutes'`, nil)
	work, err := store.WorkWithoutJob(t.Context(), st.DB())
	require.NoError(t, err)
	found := map[store.WorkKind]int64{}
	for _, w := range work {
		found[w.Kind] += max(w.ID, 1)
	}
	require.Equal(t, map[store.WorkKind]int64{
		// tasks 1, 2 and 3
		store.WorkTurn: 2, store.WorkTranscribe: 1, store.WorkSend: 1, store.WorkLateMessages: 1, store.WorkRun: 1, store.WorkTask: 6,
	}, found)

	out, err := store.OutboxMessageByID(t.Context(), st.DB(), uuid.MustParse("11111111-1111-4111-8111-111111111111"))
	require.NoError(t, err)
	require.Equal(t, policy.PurposeEscalation, out.Purpose)
	require.Equal(t, []store.MessageID{1}, out.Quotes)
	require.Equal(t, []store.MessageID{1, 2}, out.Sources)
	task, err := store.TaskByKey(t.Context(), st.DB(), store.ExecutionKey(1))
	require.NoError(t, err)
	require.Equal(t, store.TaskSchedule, task.Kind)
	require.NoError(t, store.SetTaskState(t.Context(), st.Writer(), task, store.TaskWaiting), "it goes on")
}
