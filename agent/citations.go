package agent

import (
	"fmt"
	"slices"
	"strings"

	"multis/agent/run"
	"multis/internal/text"
	"multis/llm/reply"
	"multis/store"
)

// unreadable is what the owner reads instead of an answer that is neither in the requested form nor plain words.
const unreadable = "The model gave no answer that can be read. Ask once more, or in other words."

const noSource = "\n\n(No source: nothing in your documents says this.)"

// citedText formats a model's answer for the owner, with its valid citations. An answer without any says so.
func (r *attempt) citedText(answer string) sourcedText {
	parsed, err := run.ParseAnswer(answer)
	if err != nil {
		words, ok := reply.Prose(answer)
		switch {
		case strings.TrimSpace(answer) == "":
			return sourcedText{markdown: "The model gave no answer."}
		case !ok:
			return sourcedText{markdown: unreadable}
		}
		return sourcedText{markdown: escapeLines(r.run.BreakLinks(words)) + noSource} // not in the requested form; a contact would not get it
	}
	var said, list strings.Builder
	var citations []store.Citation
	for _, s := range parsed.Sentences {
		if said.Len() > 0 {
			said.WriteByte(' ')
		}
		said.WriteString(text.Escape(strings.TrimSpace(r.run.BreakLinks(s.Text))))
		citation, ok := r.run.Cite(s)
		if !ok {
			continue
		}
		if !slices.Contains(citations, citation) {
			citations = append(citations, citation)
			fmt.Fprintf(&list, "\n[%d] %s: \"%s\"  ", len(citations), linkedSource(citation.Source, r.run.Passages, citation.Ref),
				text.Escape(text.Clip(citation.Quote, 300)))
		}
		fmt.Fprintf(&said, " [%d]", slices.Index(citations, citation)+1)
	}
	switch {
	case said.Len() == 0 && parsed.Message != "" && r.run.Task.Target != nil:
		return sourcedText{markdown: "I drafted a message."}
	case said.Len() == 0:
		return sourcedText{markdown: foundNothing + r.area.textIfUnusual()}
	case len(citations) == 0:
		return sourcedText{markdown: said.String() + noSource + r.area.textIfUnusual()}
	}
	return sourcedText{said.String() + "\n" + list.String() + "\n\n" + r.area.text(), run.CitedHits(r.run.Passages, citations), citations}
}

// withSources formats a model's answer for another agent, each sentence followed by its source.
func (r *attempt) withSources(answer string) string {
	parsed, err := run.ParseAnswer(answer)
	if err != nil {
		return r.run.BreakLinks(run.VisibleText(answer))
	}
	var said []string
	for _, s := range parsed.Sentences {
		line := strings.TrimSpace(r.run.BreakLinks(s.Text))
		if citation, ok := r.run.FindCitation(s); ok {
			line += " " + citation.Source
		}
		said = append(said, line)
	}
	return strings.Join(said, "\n")
}
