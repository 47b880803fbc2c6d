package jobs

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestHold_AllowsReadingJobs(t *testing.T) {
	t.Parallel()
	st, w := storetest.New(t), newWork()
	restore := policy.Restore{BackupAt: time.Now().Add(-time.Hour), RestoredAt: time.Now()}
	require.NoError(t, store.PutSetting(t.Context(), st.Writer(), store.SettingRestore, restore))
	enqueue(t, st, TurnArgs{ChatID: 1}, LateMessagesArgs{}, RetractArgs{OutboxID: uuid.New()}, UndeliveredArgs{OutboxID: uuid.New()},
		TranscribeArgs{MessageID: 1}, DeliverHookArgs{DeliveryID: uuid.New()},
		CheckPageArgs{WatchID: 1}, TickArgs{ScheduleID: 1, At: time.Now()}, ExecutionArgs{ExecutionID: 1}, TaskArgs{TaskID: 1},
		PresentDraftArgs{OutboxID: uuid.New()})
	held := []string{
		"turn", "late_messages", "retract", "undelivered", "transcribe", "deliver_hook", "check_page", "tick", "execution",
		"task", "present_draft",
	}
	enqueue(t, st, CommandArgs{MessageID: 1}, AskArgs{MessageID: 1}, DescribeArgs{RoomID: "!a:x"}, NoticeArgs{Topic: TopicRestored},
		DecryptArgs{MessageID: 1}, SendArgs{OutboxID: uuid.New()})
	start(t, st, w)
	w.await(t, 6)
	const waitingSQL = "select count(*) from river.river_job where kind = any ($1) and state = 'scheduled' and attempt = 0 and scheduled_at > now()"
	require.Eventually(t, func() bool { return storetest.Count(t, st, waitingSQL, held) == len(held) }, time.Minute, 20*time.Millisecond)
	require.ElementsMatch(t, []string{"command", "ask", "describe", "notice", "decrypt", "send"}, w.seen)

	restore.ReleasedAt = time.Now()
	require.NoError(t, store.PutSetting(t.Context(), st.Writer(), store.SettingRestore, restore))
	exec := "update river.river_job set state = 'available', scheduled_at = now() where kind in ('turn', 'late_messages', 'retract', 'undelivered', 'transcribe')"
	_, err := st.Pool().Exec(t.Context(), exec)
	require.NoError(t, err)
	w.await(t, 5)
}
