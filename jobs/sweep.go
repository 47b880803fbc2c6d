package jobs

import (
	"context"
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
		silent, err := store.SilentBridges(ctx, tx)
		if err != nil {
			return err
		}
		for _, state := range silent {
			if err := Enqueue(ctx, tx, TellArgs{Topic: TopicBridgeDown, About: state}); err != nil {
				return err
			}
			if err := Emit(ctx, tx, store.HookBridgeDown, strconv.FormatInt(state, 10)); err != nil {
				return err
			}
		}
		again, err := store.HeardAgain(ctx, tx)
		if err != nil {
			return err
		}
		for _, state := range again {
			if err := Enqueue(ctx, tx, TellArgs{Topic: TopicBridgeUp, About: state}); err != nil {
				return err
			}
		}
		for _, w := range found {
			args, err := argsFor(w.Kind, w.ID)
			if err != nil {
				return err
			}
			if err := Enqueue(ctx, tx, args); err != nil {
				return err
			}
		}
		return rearm(ctx, tx)
	})
}

func argsFor(kind store.WorkKind, id string) (Args, error) {
	switch kind {
	case store.WorkDigest:
		return DigestArgs{}, nil
	case store.WorkSend, store.WorkDraft:
		out, err := uuid.Parse(id)
		if err != nil {
			return nil, fmt.Errorf("read the id of waiting work: %w", err)
		}
		if kind == store.WorkDraft {
			return DraftArgs{Out: out}, nil
		}
		return SendArgs{Out: out}, nil
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the id of waiting work: %w", err)
	}
	switch kind {
	case store.WorkTurn:
		return TurnArgs{Chat: n}, nil
	case store.WorkCommand:
		return CommandArgs{Message: n}, nil
	case store.WorkWatch:
		return WatchArgs{Watch: n}, nil
	case store.WorkTranscribe:
		return TranscribeArgs{Message: n}, nil
	case store.WorkForget:
		return ForgetArgs{Forgetting: n}, nil
	case store.WorkRun:
		return RunArgs{Run: n}, nil
	case store.WorkTask:
		return TaskArgs{Task: n}, nil
	case store.WorkLostTask:
		return TaskArgs{Task: n, Lost: true}, nil
	case store.WorkChild:
		return ChildArgs{Task: n}, nil
	default:
		return nil, fmt.Errorf("no job is known for work of kind %q", kind)
	}
}
