package jobs

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/store"
	"multis/store/storetest"
)

// oldJobsSQL inserts jobs as the program of before 00135_words.sql did. The last number is a kind of its own: it is unchanged.
const oldJobsSQL = `insert into river.river_job (kind, queue, args, max_attempts, state, unique_key, unique_states) values
	('tell', 'admin', '{"about": 5, "topic": "bridge"}', 20, 'available', sha256('&kind=tell&args={"about":5,"topic":"bridge"}'), b'11110101'),
	('digest', 'admin', '{}', 20, 'available', sha256('&kind=digest&args={}'), b'11110101'),
	('send', 'send', '{"out": "11111111-1111-4111-8111-111111111111"}', 60, 'available', null, null),
	('undelivered', 'admin', '{"out": "11111111-1111-4111-8111-111111111111"}', 20, 'available', null, null),
	('retract', 'send', '{"out": "11111111-1111-4111-8111-111111111111"}', 20, 'available', null, null),
	('decrypt', 'admin', '{"message": 7, "ask": 2}', 20, 'available', null, null),
	('history', 'describe', '{"chat": 2, "stored": 3, "done": true}', 20, 'available', null, null),
	('keep', 'index', '{"message": 7}', 20, 'available', null, null),
	('thread_reply', 'admin', '{"message": 7}', 20, 'available', null, null),
	('quiet_chats', 'admin', '{}', 20, 'available', null, null),
	('escalation', 'admin', '{"escalation": 1}', 20, 'available', null, null),
	('turn', 'chat', '{"chat": 2}', 5, 'available', null, null)`

// beforeWords is the last migration with the old words.
const beforeWords = 134

func TestJobs_QueuedBeforeTheWordsAreDone(t *testing.T) {
	t.Parallel()
	st := storetest.FromVersion(t, beforeWords, oldJobsSQL, nil)
	enqueue(t, st, NoticeArgs{Topic: TopicBridgeReplaced, SubjectID: 5}, LateMessagesArgs{})
	require.Equal(t, 12, storetest.Count(t, st, "select count(*) from river.river_job"),
		"an old job counts as the same, so that it is not there twice")
	w := newWork()
	start(t, st, w)
	w.await(t, 12)
	require.ElementsMatch(t, []string{
		"notice", "late_messages", "send", "undelivered", "retract", "decrypt", "imported", "keep", "reply",
		"quiet", "escalation", "turn",
	}, w.seen)
	require.Equal(t, 3, storetest.Count(t, st, "select count(*) from river.river_job where args->>'outbox' = $1",
		uuid.MustParse("11111111-1111-4111-8111-111111111111")))
	require.Equal(t, 1, storetest.Count(t, st, "select count(*) from river.river_job where args->>'key_requests' = '2'"))
	require.Equal(t, 1, storetest.Count(t, st, "select count(*) from river.river_job where args->>'topic' = $1 and args->>'subject' = '5'",
		TopicBridgeReplaced))
}

func TestJobs_SweptWorkOfBeforeTheWordsIsFoundOnce(t *testing.T) {
	t.Parallel()
	st := storetest.FromVersion(t, beforeWords, `insert into chats (protocol, channel_id, kind) values ('demo', 'ana', 'dm');
		insert into watches (name, kind, next_at) values ('prices', 'page', now() - interval '1 hour');
		insert into river.river_job (kind, queue, args, max_attempts, state, unique_key, unique_states, scheduled_at) values
			('watch', 'hooks', '{"watch": 1}', 25, 'scheduled', sha256('&kind=watch&args={"watch":1}'), b'11110101', now() + interval '1 hour')`,
		nil)
	require.NoError(t, Sweep(t.Context(), st))
	enqueue(t, st, CheckPageArgs{WatchID: store.WatchID(1)})
	require.Equal(t, 1, storetest.Count(t, st, "select count(*) from river.river_job where kind = 'check_page'"))
	require.Equal(t, 1, storetest.Count(t, st, "select count(*) from river.river_job"))
}
