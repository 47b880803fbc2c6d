package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// addSpending stores a call that cost this much.
func (r *rig) addSpending(sp policy.SpendRequest, amount int64) {
	r.t.Helper()
	sp.Model = "m"
	sp.DayCap = 2_000_000
	sp.ChatCap = 2_000_000
	require.NoError(r.t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		res, err := store.ReserveCost(r.ctx, tx, sp)
		if err != nil {
			return err
		}
		_, _, err = store.SettleCost(r.ctx, tx, res.ID, policy.Settlement{Amount: amount})
		return err
	}))
}

func TestBudget_ShowsSpending(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/budget"), "**Today: 0.00 EUR of 2.00 EUR** ▱▱▱▱▱▱▱▱▱▱")
	require.Contains(t, r.asOwner("/budget"), "Nothing was spent in the last 7 days.")
	ana := r.chat("Ana", "whatsapp")
	r.addSpending(policy.SpendRequest{Day: "2026-11-18", Purpose: "ask", Amount: 600_000}, 600_000)
	r.addSpending(policy.SpendRequest{Day: "2026-11-20", Purpose: "reply", Amount: 400_000, Chat: ana.ID}, 250_000)
	r.addSpending(policy.SpendRequest{Day: "2026-11-20", Purpose: "ask", Amount: 400_000}, 50_000)
	shown := r.asOwner("/budget")
	require.Contains(t, shown, text(
		"💶 **Today: 0.30 EUR of 2.00 EUR** ▰▰▱▱▱▱▱▱▱▱",
		"**For what**",
		"reply — 0.25 EUR in 1 call",
		"ask — 0.05 EUR in 1 call",
		"**Which chats**",
		"Ana — 0.25 EUR in 1 call",
		"**The last 7 days**",
		"Sat 14 ▱▱▱▱▱▱▱▱▱▱ 0.00 EUR",
	))
	require.Contains(t, shown, text(
		"Wed 18 ▰▰▰▱▱▱▱▱▱▱ 0.60 EUR",
		"Thu 19 ▱▱▱▱▱▱▱▱▱▱ 0.00 EUR",
		"Fri 20 ▰▰▱▱▱▱▱▱▱▱ 0.30 EUR",
	))
}

func TestBudget_NotifiesOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.addSpending(policy.SpendRequest{Day: "2026-11-20", Purpose: "reply", Amount: 1_000_000}, 1_000_000)
	for _, c := range []struct {
		news jobs.BudgetArgs
		says string
	}{
		{jobs.BudgetArgs{Percent: 50, Cap: policy.CapDay}, "50 % of today's budget is spent**: 1.00 EUR of 2.00 EUR"},
		{
			jobs.BudgetArgs{Percent: 100, Cap: policy.CapDay},
			"Today's budget (2.00 EUR) is used up**: 1.00 EUR, most of it for reply. I answer from documents only until midnight.",
		},
		{jobs.BudgetArgs{Percent: 100, Cap: policy.CapChat, ChatID: ana.ID}, "Today's budget of Ana"},
		{jobs.BudgetArgs{Percent: 100, Cap: policy.CapAgent, Agent: "nora"}, "budget of agent nora"},
		{jobs.BudgetArgs{Percent: 100, Cap: policy.CapAgent, Agent: "heartbeat"}, "The cap is `heartbeat.per_day`."},
		{jobs.BudgetArgs{Percent: 100, Cap: policy.CapRun}, "budget of one task"},
	} {
		c.news.Day = "2026-11-20"
		require.NoError(t, r.admin.Budget.NotifyBudget(r.ctx, c.news))
		require.Contains(t, bodies(r.sendQueued()), c.says)
	}
}
