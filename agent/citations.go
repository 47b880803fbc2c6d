package agent

import (
	"fmt"
	"slices"
	"strings"

	"multis/agent/run"
	"multis/store"
	"multis/text"
)

const noSource = "\n\n(No source: nothing in your documents says this.)"

// cited writes a model's answer for the owner, with its citations. A citation that does not hold is left out; an answer without any says so.
func (r *attempt) cited(answer string) sourcedText {
	parsed, err := run.ParseAnswer(answer)
	if err != nil {
		if answer = strings.TrimSpace(answer); answer == "" {
			return sourcedText{markdown: "The model gave no answer."}
		}
		return sourcedText{markdown: escapeLines(r.run.BreakLinks(answer)) + noSource} // not in the form that was asked for; a contact would not get it
	}
	var said, list strings.Builder
	var spans []store.Span
	for _, s := range parsed.Sentences {
		if said.Len() > 0 {
			said.WriteByte(' ')
		}
		said.WriteString(text.Escape(strings.TrimSpace(r.run.BreakLinks(s.Text))))
		span, ok := r.run.Cite(s)
		if !ok {
			continue
		}
		if !slices.Contains(spans, span) {
			spans = append(spans, span)
			fmt.Fprintf(&list, "\n[%d] %s: \"%s\"  ", len(spans), linked(span.Source, r.run.Passages, span.Ref), text.Escape(text.Clip(span.Quote, 300)))
		}
		fmt.Fprintf(&said, " [%d]", slices.Index(spans, span)+1)
	}
	switch {
	case said.Len() == 0 && parsed.Message != "" && r.run.Task.Target != nil:
		return sourcedText{markdown: "I drafted a message."}
	case said.Len() == 0:
		return sourcedText{markdown: foundNothing + r.places.textIfUnusual()}
	case len(spans) == 0:
		return sourcedText{markdown: said.String() + noSource + r.places.textIfUnusual()}
	}
	return sourcedText{said.String() + "\n" + list.String() + "\n\n" + r.places.text(), run.Cited(r.run.Passages, spans), spans}
}

// withSources writes a model's answer in plain words, each sentence with its source, for another agent.
func (r *attempt) withSources(answer string) string {
	parsed, err := run.ParseAnswer(answer)
	if err != nil {
		return r.run.BreakLinks(answer)
	}
	var said []string
	for _, s := range parsed.Sentences {
		line := strings.TrimSpace(r.run.BreakLinks(s.Text))
		if span, ok := r.run.Check(s); ok {
			line += " " + span.Source
		}
		said = append(said, line)
	}
	return strings.Join(said, "\n")
}
