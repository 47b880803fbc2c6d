package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"

	"multis/store"
)

// Sweep enqueues a job for all work that waits and has none, because its job was lost or given up.
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
		return enqueueMissingTicks(ctx, tx)
	})
}

// argsFor returns the arguments of the job that a piece of work needs. id is an integer, or a UUID for a row of outbox.
func argsFor(kind store.WorkKind, id string) (Args, error) {
	n, notInt := strconv.ParseInt(id, 10, 64)
	out, notUUID := uuid.Parse(id)
	switch kind {
	case store.WorkDigest:
		return DigestArgs{}, nil
	case store.WorkSend:
		return SendArgs{OutboxID: out}, notUUID
	case store.WorkDraft:
		return DraftArgs{OutboxID: out}, notUUID
	case store.WorkTurn:
		return TurnArgs{ChatID: n}, notInt
	case store.WorkCommand:
		return CommandArgs{MessageID: n}, notInt
	case store.WorkWatch:
		return WatchArgs{WatchID: n}, notInt
	case store.WorkTranscribe:
		return TranscribeArgs{MessageID: n}, notInt
	case store.WorkForget:
		return ForgetArgs{ForgettingID: n}, notInt
	case store.WorkRun:
		return ExecutionArgs{ExecutionID: n}, notInt
	case store.WorkTask:
		return TaskArgs{TaskID: n}, notInt
	case store.WorkLostTask:
		return TaskArgs{TaskID: n, Lost: true}, notInt
	case store.WorkChild:
		return ChildArgs{TaskID: n}, notInt
	default:
		return nil, errors.New("no kind of job is known for it")
	}
}
