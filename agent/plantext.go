package agent

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"multis/internal/text"
	"multis/llm/reply"
	"multis/store"
)

const (
	// maxSteps is the maximum number of steps of a plan.
	maxSteps = 8
	// maxStepAnswer is how much of a step's answer the steps after it read, in characters.
	maxStepAnswer = 3000
)

// proposal is a plan in the form that a model returns; see planForm.
type proposal struct {
	Steps []struct {
		Text  string `json:"text" alias:"step,task,description,action"`
		Agent string `json:"agent"`
	} `json:"steps" alias:"plan,tasks"`
}

// parseProposal parses a plan. It leaves out empty steps and those beyond maxSteps.
func parseProposal(raw string) (proposal, error) {
	all, err := reply.Read[proposal](raw)
	if err != nil {
		return proposal{}, err
	}
	var kept proposal
	for _, s := range all.Steps {
		if s.Text = printable(s.Text); s.Text != "" && len(kept.Steps) < maxSteps {
			kept.Steps = append(kept.Steps, s)
		}
	}
	return kept, nil
}

// printable puts a text on one line, without characters that are not shown: the owner approves what he sees.
func printable(s string) string {
	return text.CollapseSpaces(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s))
}

// planTitle returns the plan's goal on one line.
func planTitle(plan store.Task) string {
	goal, _, _ := strings.Cut(plan.Input, "\n")
	return cmp.Or(text.Clip(text.CollapseSpaces(goal), maxTitle), fmt.Sprintf("Plan %d", plan.ID))
}

// planText formats a plan with the state of its steps, and the progress of the current step.
func planText(plan store.Task, steps []store.Task, now string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "🗺️ **%s**\n", text.Escape(planTitle(plan)))
	for i, s := range steps {
		fmt.Fprintf(&b, "\n%d. %s", i+1, text.Escape(s.Input))
		if s.Agent != "" && s.Agent != plan.Agent {
			b.WriteString(" (@" + text.Escape(s.Agent) + ")")
		}
		switch s.State {
		case store.TaskPending:
		case store.TaskCompleted:
			b.WriteString(" — done")
		case store.TaskFailed, store.TaskKilled, store.TaskTimeout:
			b.WriteString(" — **not done**")
		default:
			b.WriteString(" — **under way** …")
		}
	}
	if now != "" {
		b.WriteString("\n\n" + text.Escape(text.Clip(now, 1000)))
	}
	return b.String()
}

// stopHint returns the line that tells how to stop a plan.
func stopHint(plan store.TaskID) string {
	return fmt.Sprintf("\n\n_plan %d · ❌ or_ `/cancel-task %d` _stops it_", plan, plan)
}

// stepLines lists the steps of a plan for a model.
func stepLines(steps []store.Task) string {
	var lines []string
	for i, s := range steps {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, s.Input))
	}
	return strings.Join(lines, "\n")
}
