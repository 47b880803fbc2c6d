package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// approvalCommands lists the approvals of tool calls, and ends grants.
type approvalCommands struct {
	base
}

// commands returns the commands about approvals.
func (as *approvalCommands) commands() []command {
	return []command{{
		name: "approvals", args: "[days, or revoke NUMBER]", group: groupHealth, run: as.run,
		summary: "tool calls you approved or declined",
		alone:   true,
		help: "Open questions, what you allowed and denied and why, and what I may do without asking for some hours. `/approvals 7` goes back a week, at most 30 days. " +
			"`yes 1h` in answer to a question allows more calls like it for an hour, at most 8 hours: of the same agent, tool and target. `/approvals revoke 3` ends that at once.",
	}}
}

const (
	// maxApprovalDays is how long approvals are kept, with their tasks.
	maxApprovalDays = 30
	// maxListedApprovals is how many approvals are listed.
	maxListedApprovals = 40
)

func (as *approvalCommands) run(ctx context.Context, r request, args string) (answer, error) {
	words := strings.Fields(strings.ToLower(args))
	switch {
	case len(words) == 2 && words[0] == "revoke" && parseNumber(words[1]) > 0:
		return as.revoke(r, parseNumber(words[1])), nil
	case len(words) == 0:
		return as.list(ctx, r, 1)
	case len(words) == 1:
		if days, err := strconv.Atoi(words[0]); err == nil && days >= 1 && days <= maxApprovalDays {
			return as.list(ctx, r, days)
		}
	}
	return answer{text: fmt.Sprintf("Write `/approvals`, `/approvals 7` for the last 7 days (at most %d), or `/approvals revoke 3`.",
		maxApprovalDays)}, nil
}

// revoke ends a grant.
func (as *approvalCommands) revoke(r request, number int64) answer {
	return answer{changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		g, err := store.RevokeGrant(ctx, tx, number, r.now)
		if errors.Is(err, store.ErrNotFound) {
			return fmt.Sprintf("Nothing is allowed under the number %d. `/approvals` lists what is.", number), nil
		}
		if err != nil {
			return "", err
		}
		return "From now on I ask again before each " + grantLabel(g) + ".", nil
	}}
}

// list shows the grants in force and the approvals of some days, the newest first.
func (as *approvalCommands) list(ctx context.Context, r request, days int) (answer, error) {
	grants, err := store.OpenGrants(ctx, as.store.DB(), r.now)
	if err != nil {
		return answer{}, err
	}
	all, err := store.ListApprovals(ctx, as.store.DB(), r.now.Add(-time.Duration(days)*24*time.Hour), maxListedApprovals+1)
	if err != nil {
		return answer{}, err
	}
	var parts []string
	var about []store.MessageID
	if len(grants) > 0 {
		lines := []string{"**Allowed without asking**"}
		for _, g := range grants {
			lines = append(lines, fmt.Sprintf("%d %s until %s, used %s · `/approvals revoke %d`", g.ID, grantLabel(g),
				as.room.shortTime(g.ExpiresAt), timesText(g.Uses), g.ID))
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	period := "in the last " + text.Count(days, "day")
	if days == 1 {
		period = "in the last day"
	}
	lines := []string{"**Asked " + period + "**"}
	for i, a := range all {
		if i == maxListedApprovals {
			lines = append(lines, fmt.Sprintf("and older ones: the last %d are shown. `multis audit show` has all of them.", maxListedApprovals))
			break
		}
		lines, about = append(lines, as.line(a, r.now)), append(about, a.Sources...)
	}
	if len(all) == 0 {
		lines = []string{"Nothing was asked " + period + ". `/approvals 30` goes back further."}
	}
	// else the quote of an approval would take in the next ones
	return answer{text: strings.Join(append(parts, lines...), "\n\n"), quotes: about}, nil
}

// timesText says how often something was done: "once", "3 times".
func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// line describes one approval: when, what, with which arguments, and who decided how.
func (as *approvalCommands) line(a store.ListedApproval, now time.Time) string {
	what := code(a.Tool)
	if a.Tool == store.PlanCall {
		what = "the plan"
	}
	who := fmt.Sprintf("task %d", a.TaskID)
	if a.Agent != "" {
		who += " of " + esc(a.Agent)
	}
	line := fmt.Sprintf("%s · %s · %s: **%s**", as.room.shortTime(a.CreatedAt), who, what, outcomeOf(a.Approval, now))
	if why := howDecided(a.Approval); why != "" {
		line += ", " + why
	}
	if a.Reason != "" {
		line += ": " + quote(a.Reason, 200)
	}
	if a.Arguments != "" && a.Tool != store.PlanCall {
		line += "\n> " + strings.ReplaceAll(text.Clip(argumentsText(a.Arguments), maxListedArguments), "\n", " · ")
	}
	return line
}

// maxListedArguments is how much of the arguments of a call is listed, in characters. The card that asked shows all of them.
const maxListedArguments = 300

// outcomeOf returns the outcome of an approval in a word or two.
func outcomeOf(a store.Approval, now time.Time) string {
	switch {
	case a.Allowed == nil && a.ExpiresAt.After(now):
		return "open"
	case a.Allowed == nil || !*a.Allowed:
		return "not done"
	default:
		return "allowed"
	}
}

// howDecided says how an approval was decided: by the owner, by a grant, or by nobody.
func howDecided(a store.Approval) string {
	switch a.How {
	case store.HowReaction:
		return "by your reaction"
	case store.HowText:
		return "by your word"
	case store.HowReply:
		return "by your reply"
	case store.HowGrant:
		return fmt.Sprintf("without asking (%d)", *a.GrantID)
	case store.HowExpired:
		return "nobody answered in time"
	case store.HowUnreachable:
		return "nobody could be asked"
	case store.HowRedacted, store.HowContinued:
		return ""
	default:
		return ""
	}
}
