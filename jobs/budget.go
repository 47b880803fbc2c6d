package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// BudgetArgs asks to tell the owner how far a day's budget is used up, or that a cap refused a call.
type BudgetArgs struct {
	Day     string `json:"day"`     // "2006-01-02"
	Percent int    `json:"percent"` // 100: refused
	Cap     string `json:"cap"`     // store.CapDay, ...
	ChatID  int64  `json:"chat,omitempty"`
	Agent   string `json:"agent,omitempty"`
}

// Kind names the job.
func (BudgetArgs) Kind() string { return "budget" }

// InsertOpts puts it on its queue.
func (BudgetArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20}
}

// BudgetNotifier tells the owner what became of a budget.
type BudgetNotifier interface {
	NotifyBudget(ctx context.Context, news BudgetArgs) error
}
