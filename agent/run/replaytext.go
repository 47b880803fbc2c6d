package run

import (
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// maxReplayText is the maximum length of a shown text, in characters.
const maxReplayText = 300

// Markdown formats a replay for people.
func (p Replay) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**Task %d, replayed** (%s, %s); nothing was done\n", p.Task.ID, p.Task.Kind, p.Task.State)
	for i, round := range p.Rounds {
		fmt.Fprintf(&b, "%d. ", i+1)
		if round.Bytes > 0 {
			fmt.Fprintf(&b, "asked %d bytes: ", round.Bytes)
		}
		b.WriteString(responseText(round.Response) + "\n")
		for _, s := range round.Tools {
			fmt.Fprintf(&b, "   - %s: %s\n", text.Escape(s.Name), StepText(s))
		}
		switch {
		case round.OtherFailure != "":
			fmt.Fprintf(&b, "   - %s: %s\n", text.Escape(p.OtherModel), text.Escape(text.Clip(round.OtherFailure, 200)))
		case p.OtherModel != "":
			same := ""
			if sameResponse(round.Response, round.OtherResponse) {
				same = " (the same)"
			}
			fmt.Fprintf(&b, "   - %s%s: %s\n", text.Escape(p.OtherModel), same, responseText(round.OtherResponse))
		}
	}
	switch {
	case p.Incomplete != "":
		b.WriteString("\nIt cannot be gone through to its end: " + text.Escape(p.Incomplete) + ".")
	case p.Difference != "":
		b.WriteString("\n⚠️ **Not the same:** " + text.Escape(p.Difference) + " comes out otherwise now.")
	default:
		b.WriteString("\n**The same, to the byte.**")
	}
	return b.String()
}

// responseText formats a model's response on one line.
func responseText(said llm.Response) string {
	var parts []string
	switch words := VisibleText(said.Text); {
	case words != "":
		parts = append(parts, "“"+text.Escape(policy.BreakLinks(text.Clip(text.CollapseSpaces(words), maxReplayText)))+"”")
	case said.Text != "":
		parts = append(parts, "no sentence, or none that can be read")
	}
	for _, c := range said.Calls {
		parts = append(parts, "calls "+text.Escape(policy.BreakLinks(text.Clip(c.Name+" "+compactJSON(c.Args), maxReplayText))))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// StepText returns how a tool call ended, for people.
func StepText(s store.Step) string {
	switch {
	case s.EndedAt == nil:
		return "no result"
	case s.IsError:
		return "failed (" + text.Escape(s.Code) + ")"
	case s.ForUser != "":
		return text.Escape(text.Clip(s.ForUser, maxReplayText))
	default:
		return "done"
	}
}

// sameResponse reports whether two responses have the same text and calls.
func sameResponse(a, b llm.Response) bool {
	return a.Text == b.Text && slices.EqualFunc(a.Calls, b.Calls, func(x, y llm.ToolCall) bool {
		return x.Name == y.Name && canonicalJSON(x.Args) == canonicalJSON(y.Args)
	})
}
