package run

import (
	"fmt"
	"slices"
	"strings"

	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// replayClip is how much of one thing that was said is shown, in characters.
const replayClip = 300

// Markdown shows a replay to people.
func (p Replay) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Task %d, replayed** (%s, %s); nothing was done\n", p.Task.ID, p.Task.Kind, p.Task.State)
	for i, round := range p.Rounds {
		fmt.Fprintf(&b, "%d. ", i+1)
		if round.Bytes > 0 {
			fmt.Fprintf(&b, "asked %d bytes: ", round.Bytes)
		}
		b.WriteString(responseText(round.Said) + "\n")
		for _, s := range round.Tools {
			fmt.Fprintf(&b, "   - %s: %s\n", text.Escape(s.Name), StepText(s))
		}
		switch {
		case round.NowFailed != "":
			fmt.Fprintf(&b, "   - %s: %s\n", text.Escape(p.With), text.Escape(text.Clip(round.NowFailed, 200)))
		case p.With != "":
			same := ""
			if sameResponse(round.Said, round.Now) {
				same = " (the same)"
			}
			fmt.Fprintf(&b, "   - %s%s: %s\n", text.Escape(p.With), same, responseText(round.Now))
		}
	}
	switch {
	case p.Over != "":
		b.WriteString("\nIt cannot be gone through to its end: " + text.Escape(p.Over) + ".")
	case p.Differs != "":
		b.WriteString("\n⚠️ **Not the same:** " + text.Escape(p.Differs) + " comes out otherwise now.")
	default:
		b.WriteString("\n**The same, to the byte.**")
	}
	return b.String()
}

// responseText shows what a model said, in a line.
func responseText(said llm.Response) string {
	var parts []string
	if said.Text != "" {
		parts = append(parts, "“"+text.Escape(policy.BreakLinks(text.Clip(text.CollapseSpaces(partialText(said.Text)), replayClip)))+"”")
	}
	for _, c := range said.Calls {
		parts = append(parts, "calls "+text.Escape(policy.BreakLinks(text.Clip(c.Name+" "+compact(c.Args), replayClip))))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// StepText shows how a tool call ended.
func StepText(s store.Step) string {
	switch {
	case s.EndedAt == nil:
		return "no result"
	case s.IsError:
		return "failed (" + text.Escape(s.Code) + ")"
	case s.ForUser != "":
		return text.Escape(text.Clip(s.ForUser, replayClip))
	default:
		return "done"
	}
}

// sameResponse reports whether two models said the same words and called the same tools.
func sameResponse(a, b llm.Response) bool {
	return a.Text == b.Text && slices.EqualFunc(a.Calls, b.Calls, func(x, y llm.Call) bool { return x.Name == y.Name && canonical(x.Args) == canonical(y.Args) })
}
