package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/policy/rules"
	"multis/store"
)

//go:embed audit_summary.md
var auditSummaryText string

// AuditSummary returns what agents did as counts, codes and times, without texts.
type AuditSummary struct{ Store *store.Store }

type auditSummaryArgs struct {
	Hours int          `json:"hours,omitempty" jsonschema:"how far back, 24 unless told"`
	Task  store.TaskID `json:"task,omitempty" jsonschema:"the number of one task"`
}

const (
	defaultHours = 24
	maxHours     = 30 * defaultHours
)

// Spec describes the tool.
func (AuditSummary) Spec() Spec {
	return Spec{
		Name:        "audit_summary",
		Description: auditSummaryText,
		Schema:      Schema[auditSummaryArgs](),
		Tier:        Read,
		Class:       rules.ClassRead,
	}
}

// Run counts the calls, or lists the steps of one task.
func (t AuditSummary) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[auditSummaryArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	if args.Task != 0 {
		return t.task(ctx, args.Task)
	}
	hours := defaultHours
	if args.Hours > 0 {
		hours = min(args.Hours, maxHours)
	}
	counts, err := store.ActivitySince(ctx, t.Store.DB(), time.Now().Add(-time.Duration(hours)*time.Hour))
	if err != nil {
		return Result{}, err
	}
	var text strings.Builder
	fmt.Fprintf(&text, "The last %d hours:\n", hours)
	for _, a := range counts {
		fmt.Fprintf(&text, "%s %s: %d", a.What, a.Name, a.Times)
		if a.Failed > 0 {
			fmt.Fprintf(&text, " (%d failed)", a.Failed)
		}
		text.WriteString("\n")
	}
	if len(counts) == 0 {
		text.WriteString("nothing happened\n")
	}
	return Result{ForLLM: text.String(), ForUser: fmt.Sprintf("looked at what was done in the last %d hours", hours)}, nil
}

// task lists the steps of one task.
func (t AuditSummary) task(ctx context.Context, number store.TaskID) (Result, error) {
	task, err := store.TaskByID(ctx, t.Store.DB(), number)
	if errors.Is(err, store.ErrNotFound) {
		return Refused(CodeNotFound, "There is no task of that number."), nil
	}
	if err != nil {
		return Result{}, err
	}
	steps, err := store.Steps(ctx, t.Store.DB(), number)
	if err != nil {
		return Result{}, err
	}
	lines := []string{fmt.Sprintf("Task %d (%s): %s, begun %s", task.ID, task.Kind, task.State, task.CreatedAt.UTC().Format(time.RFC3339))}
	for _, s := range steps {
		line := fmt.Sprintf("%d %s %s", s.Seq+1, s.Kind, s.Name)
		switch {
		case s.EndedAt == nil:
			line += ": not ended"
		case s.IsError:
			line += ": " + s.Code
		default:
			line += fmt.Sprintf(": done in %d ms", s.EndedAt.Sub(s.StartedAt).Milliseconds())
		}
		lines = append(lines, line)
	}
	return Result{ForLLM: strings.Join(lines, "\n"), ForUser: fmt.Sprintf("looked at task %d", number)}, nil
}
