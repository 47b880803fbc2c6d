package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/policy"
	"multis/store"
)

// BudgetArgs asks to notify the owner that a part of a day's budget is spent, or that a cap refused a call to a model.
type BudgetArgs struct {
	Day     string       `json:"day"`     // "2006-01-02"
	Percent int          `json:"percent"` // of the cap; 100 when a call was refused
	Cap     policy.Cap   `json:"cap"`
	ChatID  store.ChatID `json:"chat,omitempty"`
	Agent   string       `json:"agent,omitempty"`
}

// Kind names the job.
func (BudgetArgs) Kind() string { return "budget" }

// InsertOpts sets the queue and the attempts.
func (BudgetArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20}
}

// BudgetNotifier notifies the owner about a budget.
type BudgetNotifier interface {
	NotifyBudget(ctx context.Context, args BudgetArgs) error
}
