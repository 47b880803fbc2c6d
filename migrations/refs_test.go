package migrations_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/migrations"
	"multis/store"
)

// baselineRowsSQL writes rows as they were before the first migration after the baseline.
const baselineRowsSQL = `insert into chats (protocol, channel_id, kind) values ('matrix', 'admin', 'admin');
	insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, spans) values
		('11111111-1111-4111-8111-111111111111', 1, 'bot', 'answer', 'm.room.message', '{}', 'ok', 'allowed', 'sent',
			'[{"chunk": 7, "source": "[a.md]", "quote": "eighty"}, {"chunk": -9, "source": "[Ana]", "quote": "ninety"}]'),
		('22222222-2222-4222-8222-222222222222', 1, 'bot', 'notice', 'm.room.message', '{}', 'ok', 'allowed', 'sent', '[]');
	insert into tasks (key, kind, chat_id, request) values
		('ask:1', 'ask', 1, '{"request": {"system": "s"}, "passages": [{"ChunkID": 7, "DocumentID": 3, "Text": "eighty"}, {"ChunkID": -9, "DocumentID": 1, "Text": "ninety"}]}'),
		('ask:2', 'ask', 1, '{"request": {}, "passages": null}'), ('ask:3', 'ask', 1, null);
	insert into task_steps (task_id, seq, kind, name, call_id, passages) values
		(1, 1, 'tool', 'search', 'c1', '[{"ChunkID": -9, "DocumentID": 1, "Text": "ninety", "Link": "https://x"}]'), (1, 2, 'tool', 'send', 'c2', null)`

// fromBaseline opens a database of the baseline with these rows, brought up to date.
func fromBaseline(t *testing.T, name, rows string) *store.Store {
	t.Helper()
	dsn := database(t, name)
	require.NoError(t, migrations.RunBaseline(t.Context(), connect(t, dsn)))
	run(t, dsn, rows)
	require.NoError(t, migrations.Run(t.Context(), dsn))
	st, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st
}

func TestRefs_FromOldCitations(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := fromBaseline(t, "refs", baselineRowsSQL)
	out, err := store.OutboxMessageByID(ctx, st.DB(), uuid.MustParse("11111111-1111-4111-8111-111111111111"))
	require.NoError(t, err)
	require.Equal(t, []store.Citation{
		{Ref: store.ChunkRef(7), Source: "[a.md]", Quote: "eighty"}, {Ref: store.MessageRef(9), Source: "[Ana]", Quote: "ninety"},
	}, out.Citations)
	out, err = store.OutboxMessageByID(ctx, st.DB(), uuid.MustParse("22222222-2222-4222-8222-222222222222"))
	require.NoError(t, err)
	require.Empty(t, out.Citations)

	chunk := search.Hit{Ref: store.ChunkRef(7), DocumentID: 3, Text: "eighty"}
	message := search.Hit{Ref: store.MessageRef(9), ChatID: 1, Text: "ninety"}
	task, err := store.TaskByKey(ctx, st.DB(), "ask:1")
	require.NoError(t, err)
	var asked struct {
		Request  map[string]string
		Passages []search.Hit
	}
	require.NoError(t, json.Unmarshal(task.Request, &asked))
	require.Equal(t, map[string]string{"system": "s"}, asked.Request)
	require.Equal(t, []search.Hit{chunk, message}, asked.Passages)
	task, err = store.TaskByKey(ctx, st.DB(), "ask:2")
	require.NoError(t, err)
	require.JSONEq(t, `{"request": {}, "passages": null}`, string(task.Request))

	steps, err := store.Steps(ctx, st.DB(), 1)
	require.NoError(t, err)
	require.Len(t, steps, 2)
	var found []search.Hit
	require.NoError(t, json.Unmarshal(steps[0].Passages, &found))
	message.Link = "https://x"
	require.Equal(t, []search.Hit{message}, found)
	require.Nil(t, steps[1].Passages)
}

// linkedRowsSQL writes rows whose references were not yet columns of their own.
const linkedRowsSQL = `insert into chats (protocol, channel_id, kind) values ('matrix', 'admin', 'admin'), ('demo', 'ana', 'dm');
	insert into tasks (key, kind, chat_id, state, created_at, finished_at) values
		('ask:1', 'ask', 1, 'completed', '2026-01-01', '2026-01-01 00:01'), ('run:5', 'clock', 1, 'executing', '2026-01-01', null),
		('run:6', 'heartbeat', 1, 'completed', '2026-01-01', '2026-01-01 00:02'), ('run:x', 'clock', 1, 'executing', '2026-01-01', null);
	insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, created_at) values
		('11111111-1111-4111-8111-111111111111', 1, 'bot', 'answer', 'm.room.message', '{}', 'ok', 'allowed', 'sent', '2026-01-01 00:01'),
		('22222222-2222-4222-8222-222222222222', 1, 'bot', 'notice', 'm.room.message', '{}', 'ok', 'allowed', 'sent', '2026-01-01 00:03'),
		('33333333-3333-4333-8333-333333333333', 2, 'bot', 'notice', 'm.room.message', '{}', 'ok', 'allowed', 'sent', '2026-01-01 00:01');
	insert into dialogs (chat_id, kind, payload, outbox_id, expires_at) values
		(1, 'role', '{"Message": 9, "Name": "a.pdf"}', gen_random_uuid(), '2027-01-01'),
		(1, 'draft', '{"Out": "22222222-2222-4222-8222-222222222222"}', gen_random_uuid(), '2027-01-01'),
		(1, 'forget', '{"Kind": "some"}', gen_random_uuid(), '2027-01-01'), (1, 'list', '[1]', gen_random_uuid(), '2027-01-01')`

func TestRefs_AreColumns(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := fromBaseline(t, "links", linkedRowsSQL)
	for id, want := range map[string]*store.TaskID{
		"11111111-1111-4111-8111-111111111111": new(store.TaskID(1)),
		"22222222-2222-4222-8222-222222222222": nil, // said at another time
		"33333333-3333-4333-8333-333333333333": nil, // said in another chat
	} {
		out, err := store.OutboxMessageByID(ctx, st.DB(), uuid.MustParse(id))
		require.NoError(t, err)
		require.Equal(t, want, out.TaskID)
	}
	for key, want := range map[string]*store.ExecutionID{
		"ask:1": nil, "execution:5": new(store.ExecutionID(5)),
		"execution:6": new(store.ExecutionID(6)), "execution:x": nil,
	} {
		task, err := store.TaskByKey(ctx, st.DB(), key)
		require.NoError(t, err)
		require.Equal(t, want, task.ExecutionID)
	}
	dialogs, err := store.RecentDialogs(ctx, st.DB(), 1, time.Time{}, 10)
	require.NoError(t, err)
	require.Len(t, dialogs, 4)
	draft := uuid.MustParse("22222222-2222-4222-8222-222222222222")
	for _, d := range dialogs {
		switch d.Kind {
		case "role":
			require.Equal(t, new(store.MessageID(9)), d.MessageID)
		case "draft":
			require.Equal(t, &draft, d.DraftID)
			asked, err := store.DraftDialog(ctx, st.DB(), "draft", draft)
			require.NoError(t, err)
			require.Equal(t, d.ID, asked.ID)
		default:
			require.Nil(t, d.MessageID)
			require.Nil(t, d.DraftID)
		}
	}
}
