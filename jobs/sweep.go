package jobs

import (
	"context"
	"fmt"

	"multis/store"
)

// Sweep enqueues a job for all waiting work that has none, because its job was lost or given up.
func Sweep(ctx context.Context, st *store.Store) error {
	return st.InTx(ctx, func(tx store.Tx) error {
		found, err := store.WorkWithoutJob(ctx, tx)
		if err != nil {
			return err
		}
		for _, w := range found {
			args, err := argsFor(w)
			if err != nil {
				return err
			}
			if err := Enqueue(ctx, tx, args); err != nil {
				return err
			}
		}
		return enqueueMissingTicks(ctx, tx)
	})
}

// argsFor returns the arguments of the job that a piece of work needs.
func argsFor(w store.Work) (Args, error) {
	switch w.Kind {
	case store.WorkLateMessages:
		return LateMessagesArgs{}, nil
	case store.WorkSend:
		return SendArgs{OutboxID: w.OutboxID}, nil
	case store.WorkDraft:
		return PresentDraftArgs{OutboxID: w.OutboxID}, nil
	case store.WorkTurn:
		return TurnArgs{ChatID: store.ChatID(w.ID)}, nil
	case store.WorkCommand:
		return CommandArgs{MessageID: store.MessageID(w.ID)}, nil
	case store.WorkWatch:
		return CheckPageArgs{WatchID: store.WatchID(w.ID)}, nil
	case store.WorkMonitor:
		return CheckMonitorArgs{MonitorID: store.MonitorID(w.ID)}, nil
	case store.WorkTranscribe:
		return TranscribeArgs{MessageID: store.MessageID(w.ID)}, nil
	case store.WorkForget:
		return ForgetArgs{ForgettingID: store.ForgettingID(w.ID)}, nil
	case store.WorkRun:
		return ExecutionArgs{ExecutionID: store.ExecutionID(w.ID)}, nil
	case store.WorkTask:
		return TaskArgs{TaskID: store.TaskID(w.ID)}, nil
	case store.WorkLostTask:
		return TaskArgs{TaskID: store.TaskID(w.ID), GiveUp: true}, nil
	case store.WorkChild:
		return SubtaskArgs{TaskID: store.TaskID(w.ID)}, nil
	default:
		return nil, fmt.Errorf("no job is known for work of kind %q", w.Kind)
	}
}
