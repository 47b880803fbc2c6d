// Package budget keeps the ledger of the costs of model calls, and notifies the owner and the webhooks when a cap is
// nearly or fully used up.
package budget

import (
	"context"
	"fmt"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Ledger is an llm.Ledger in the database. All processes that share the database share the ledger.
type Ledger struct {
	store  *store.Store
	dayCap int64
}

// New returns the ledger. dayCap is the configured cap of all calls of a day, in millionths of the currency; 0 means that there is none.
func New(st *store.Store, dayCap int64) *Ledger { return &Ledger{store: st, dayCap: dayCap} }

// refusedPercent is the percentage in the notice about a refused call.
const refusedPercent = 100

// Reserve reserves the maximum cost of a call, unless a cap refuses it. The owner gets a notice of the first refusal by each cap.
func (l *Ledger) Reserve(ctx context.Context, s policy.SpendRequest) (res policy.Reservation, err error) {
	err = l.store.InTx(ctx, func(tx store.Tx) (err error) {
		res, err = store.ReserveCost(ctx, tx, s)
		if err != nil {
			return err
		}
		if res.Refused == "" {
			return nil
		}
		first := res.FirstRefusal
		if res.Refused == policy.CapDay {
			if s.DayCap < l.dayCap {
				return nil // the call was under a lower cap than the configured one, as when documents are embedded
			}
			if first, err = store.MarkBudgetNotified(ctx, tx, s.Day, 0, refusedPercent); err != nil {
				return err
			}
		}
		if !first {
			return nil
		}
		return notify(ctx, tx, jobs.BudgetArgs{
			Day:     s.Day,
			Percent: refusedPercent,
			Cap:     res.Refused,
			ChatID:  s.Chat,
			Agent:   s.Agent,
		})
	})
	return res, err
}

// Settle replaces a reservation by the actual cost. A reservation that is never settled, because the process died, counts
// as spent. The owner gets a notice when 50 % and when 80 % of the day's cap is spent. If one call passes both
// thresholds, there is only the second notice.
func (l *Ledger) Settle(ctx context.Context, reservation int64, s policy.Settlement) error {
	day, spent, err := store.SettleCost(ctx, l.store.AsyncCommit(), reservation, s)
	if err != nil {
		return err
	}
	if s.Amount == 0 || l.dayCap == 0 {
		return nil
	}
	for _, percent := range []int64{80, 50} {
		if threshold := l.dayCap * percent / 100; spent >= threshold {
			return l.notifyOnce(ctx, day, threshold, int(percent))
		}
	}
	return nil
}

// notifyOnce notifies the owner that a percentage of the day's cap is spent, unless there was a notice of this or a higher percentage.
func (l *Ledger) notifyOnce(ctx context.Context, day string, threshold int64, percent int) error {
	return l.store.InTx(ctx, func(tx store.Tx) error {
		first, err := store.MarkBudgetNotified(ctx, tx, day, threshold, percent)
		if err != nil {
			return err
		}
		if !first {
			return nil
		}
		return notify(ctx, tx, jobs.BudgetArgs{Day: day, Percent: percent, Cap: policy.CapDay})
	})
}

// notify enqueues the notice to the owner and emits the event to the webhooks. The event's reference is
// "day/cap/percent", followed by "/" and the chat or agent if the cap is for one.
func notify(ctx context.Context, tx store.Tx, args jobs.BudgetArgs) error {
	if err := jobs.Enqueue(ctx, tx, args); err != nil {
		return err
	}
	ref := fmt.Sprintf("%s/%s/%d", args.Day, args.Cap, args.Percent)
	switch args.Cap {
	case policy.CapChat:
		ref += fmt.Sprintf("/%d", args.ChatID)
	case policy.CapAgent:
		ref += "/" + args.Agent
	case policy.CapDay, policy.CapRun: // these caps are for no chat or agent
	}
	return jobs.EmitHookEvent(ctx, tx, policy.HookBudget, ref)
}
