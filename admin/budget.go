package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// BudgetCommands shows what was spent, and notifies the owner when a budget is nearly or fully spent.
type BudgetCommands struct {
	base
}

// commands returns the commands about the budget.
func (bg *BudgetCommands) commands() []command {
	return []command{
		{
			name: "budget", group: groupHealth, run: bg.show, operators: true,
			summary: "what models cost",
			help:    "Today against its cap, by purpose and by chat, and the last 7 days. Calls that are under way count at their worst.",
		},
	}
}

// How much /budget shows: days, chats, and boxes in a bar.
const (
	shownBudgetDays  = 7
	shownBudgetChats = 5
	barLength        = 10
)

// show compares today's spending with the cap, by purpose and chat, and lists the days before.
func (bg *BudgetCommands) show(ctx context.Context, r request, args string) (answer, error) {
	if args != "" {
		return answer{text: "I only show the budget: the caps are in config.yaml, such as `budget.per_day: 5`. `/budget` alone shows what is spent."}, nil
	}
	day := bg.room.now().In(bg.settings.Zone).Format(time.DateOnly)
	spent, err := store.Spent(ctx, bg.store.DB(), day, 0)
	if err != nil {
		return answer{}, err
	}
	lines := []string{fmt.Sprintf("💶 **Today: %s of %s** %s", text.Money(spent, bg.settings.Currency),
		text.Money(bg.settings.DayBudget, bg.settings.Currency), bar(spent, bg.settings.DayBudget))}
	for _, part := range []func(context.Context, string) (string, error){bg.purposeSpend, bg.chatSpend, bg.daySpend} {
		reply, err := part(ctx, day)
		if err != nil {
			return answer{}, err
		}
		if reply != "" {
			lines = append(lines, reply)
		}
	}
	if r.isOwner() {
		lines = append(lines,
			"Caps are in config.yaml: `budget.per_day`, `per_chat_day`, `per_agent_day`, `per_run`. At a cap I make no call that costs.")
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// purposeSpend lists the day's spending by purpose.
func (bg *BudgetCommands) purposeSpend(ctx context.Context, day string) (string, error) {
	used, err := store.UsageByPurpose(ctx, bg.store.DB(), day)
	if err != nil {
		return "", err
	}
	if len(used) == 0 {
		return "", nil
	}
	lines := []string{"**For what**"}
	for _, u := range used {
		reply := fmt.Sprintf("%s — %s in %s", esc(u.Purpose), text.Money(u.Amount, bg.settings.Currency), text.Count(u.Calls, "call"))
		if u.Open > 0 {
			reply += fmt.Sprintf(" (%d not settled, counted at their worst)", u.Open)
		}
		lines = append(lines, reply)
	}
	return strings.Join(lines, "\n"), nil
}

// chatSpend lists the day's spending in the most expensive chats.
func (bg *BudgetCommands) chatSpend(ctx context.Context, day string) (string, error) {
	used, err := store.UsageByChat(ctx, bg.store.DB(), day, shownBudgetChats)
	if err != nil {
		return "", err
	}
	if len(used) == 0 {
		return "", nil
	}
	lines := []string{"**Which chats**"}
	for _, u := range used {
		name := u.Name
		if name == "" {
			name = "a chat without a name"
		}
		lines = append(lines, fmt.Sprintf("%s — %s in %s", esc(name), text.Money(u.Amount, bg.settings.Currency), text.Count(u.Calls, "call")))
	}
	return strings.Join(lines, "\n"), nil
}

// daySpend draws the spending of the last days.
func (bg *BudgetCommands) daySpend(ctx context.Context, day string) (string, error) {
	days, err := store.UsageByDay(ctx, bg.store.DB(), day, shownBudgetDays)
	if err != nil {
		return "", err
	}
	highest := int64(0)
	for _, d := range days {
		highest = max(highest, d.Amount)
	}
	if highest == 0 {
		return "Nothing was spent in the last 7 days.", nil
	}
	lines := []string{"**The last 7 days**"}
	for _, d := range days {
		at, err := time.Parse(time.DateOnly, d.Day)
		if err != nil {
			return "", fmt.Errorf("read the day of a budget: %w", err)
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", at.Format("Mon 2"), bar(d.Amount, max(highest, bg.settings.DayBudget)),
			text.Money(d.Amount, bg.settings.Currency)))
	}
	return strings.Join(lines, "\n"), nil
}

// bar draws a part of a whole as a bar of boxes. Any part above zero fills at least one box.
func bar(part, whole int64) string {
	full := 0
	if whole > 0 {
		full = int(min((part*barLength+whole-1)/whole, barLength))
	}
	return strings.Repeat("▰", full) + strings.Repeat("▱", barLength-full)
}

// NotifyBudget tells the owner how much of a budget is spent.
func (bg *BudgetCommands) NotifyBudget(ctx context.Context, news jobs.BudgetArgs) error {
	return bg.room.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		text, err := bg.text(ctx, tx, news)
		if err != nil {
			return err
		}
		kind := outbox.Quiet
		if news.Percent >= 100 {
			kind = outbox.Alert
		}
		_, err = bg.room.notify(ctx, tx, room, kind, text, nil)
		return err
	})
}

func (bg *BudgetCommands) text(ctx context.Context, tx store.Tx, news jobs.BudgetArgs) (string, error) {
	switch {
	case news.Percent < 100:
		spent, err := store.Spent(ctx, tx, news.Day, 0)
		return fmt.Sprintf("💶 **%d %% of today's budget is spent**: %s of %s. `/budget` shows on what.",
			news.Percent, text.Money(spent, bg.settings.Currency), text.Money(bg.settings.DayBudget, bg.settings.Currency)), err
	case news.Cap == policy.CapChat:
		chat, err := store.ChatByID(ctx, tx, news.ChatID)
		if errors.Is(err, store.ErrNotFound) {
			return "", nil
		}
		return fmt.Sprintf("💶 **Today's budget of %s is used up.** %s `/budget` shows more; the cap is `budget.per_chat_day`.",
			esc(store.Chat{Name: chat.Name, Protocol: chat.Protocol}.Label()), bg.capNote()), err
	case news.Cap == policy.CapAgent && strings.HasPrefix(news.Agent+" ", "heartbeat "):
		return "💶 **Today's budget of the heartbeat is used up.** Until midnight you read what it finds as it is, unjudged. The cap is `heartbeat.per_day`.", nil
	case news.Cap == policy.CapAgent:
		return fmt.Sprintf("💶 **Today's budget of agent %s is used up.** It makes no more calls until midnight. The cap is `budget.per_agent_day`.", esc(news.Agent)), nil
	case news.Cap == policy.CapRun:
		return "💶 **The budget of one task is used up**, so it stopped. The cap is `budget.per_run`.", nil
	default:
		spent, err := store.Spent(ctx, tx, news.Day, 0)
		if err != nil {
			return "", err
		}
		used, err := store.UsageByPurpose(ctx, tx, news.Day)
		reply := fmt.Sprintf("💶 **Today's budget (%s) is used up**: %s", text.Money(bg.settings.DayBudget, bg.settings.Currency),
			text.Money(spent, bg.settings.Currency))
		if len(used) > 0 {
			reply += ", most of it for " + esc(used[0].Purpose)
		}
		return reply + ". " + bg.capNote() + " `/budget` shows more; the cap is `budget.per_day`.", err
	}
}

// capNote says what happens to questions of contacts when the budget is spent.
func (bg *BudgetCommands) capNote() string {
	if bg.settings.EscalateAtCap {
		return "Questions of contacts are escalated to you until midnight."
	}
	return "I answer from documents only until midnight."
}
