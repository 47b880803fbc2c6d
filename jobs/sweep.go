package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"multis/store"
)

// Sweep gives work that waits without a job a job.
func Sweep(ctx context.Context, st *store.Store) error {
	return st.InTx(ctx, func(tx store.Tx) error {
		found, err := store.WorkWithoutJob(ctx, tx)
		if err != nil {
			return err
		}
		for _, w := range found {
			args, err := argsFor(w.Kind, w.ID)
			if err != nil {
				return fmt.Errorf("find the job for %s %s: %w", w.Kind, w.ID, err)
			}
			if err := Enqueue(ctx, tx, args); err != nil {
				return err
			}
		}
		return rearm(ctx, tx)
	})
}

// argsFor returns the arguments of the job that a piece of work needs. id is an integer, for what goes out a UUID.
func argsFor(kind store.WorkKind, id string) (Args, error) {
	n, notInt := strconv.ParseInt(id, 10, 64)
	out, notUUID := uuid.Parse(id)
	switch kind {
	case store.WorkDigest:
		return DigestArgs{}, nil
	case store.WorkSend:
		return SendArgs{Out: out}, notUUID
	case store.WorkDraft:
		return DraftArgs{Out: out}, notUUID
	case store.WorkTurn:
		return TurnArgs{Chat: n}, notInt
	case store.WorkCommand:
		return CommandArgs{Message: n}, notInt
	case store.WorkWatch:
		return WatchArgs{Watch: n}, notInt
	case store.WorkTranscribe:
		return TranscribeArgs{Message: n}, notInt
	case store.WorkForget:
		return ForgetArgs{Forgetting: n}, notInt
	case store.WorkRun:
		return RunArgs{Run: n}, notInt
	case store.WorkTask:
		return TaskArgs{Task: n}, notInt
	case store.WorkLostTask:
		return TaskArgs{Task: n, Lost: true}, notInt
	case store.WorkChild:
		return ChildArgs{Task: n}, notInt
	default:
		return nil, errors.New("no kind of job is known for it")
	}
}
