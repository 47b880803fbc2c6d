package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"multis/store"
)

// holdWait is how long a job waits before it checks again whether multis may go on.
const holdWait = 15 * time.Second

// holdMiddleware makes jobs wait while a restored backup is on hold, and in safe mode. A kind of job waits unless kindsOnHold
// names it.
func holdMiddleware(st *store.Store) rivertype.WorkerMiddleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		restore, err := st.RestoreState(ctx, st.DB())
		if err != nil {
			return err
		}
		_, safe, err := store.SafeModeOf(ctx, st.DB())
		if err != nil {
			return err
		}
		if (restore.OnHold() || safe) && !slices.Contains(kindsOnHold(), job.Kind) {
			return Snooze(holdWait)
		}
		return work(ctx)
	})
}

// kindsOnHold returns the kinds of jobs that run on hold and in safe mode: those that take messages in, and those of the
// admin room, where the owner decides. The gate refuses what they send elsewhere; questions are refused in safe mode.
func kindsOnHold() []string {
	return []string{
		AdminRoomArgs{}.Kind(), AskArgs{}.Kind(), CommandArgs{}.Kind(), DecryptArgs{}.Kind(), DescribeArgs{}.Kind(), HistoryArgs{}.Kind(),
		IndexMessagesArgs{}.Kind(), NoticeArgs{}.Kind(), PINArgs{}.Kind(), RedactArgs{}.Kind(), SendArgs{}.Kind(),
	}
}
