package agent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"multis/agent/run"
	"multis/internal/text"
	"multis/knowledge/search"
	"multis/llm/reply"
	"multis/policy"
	"multis/store"
)

// unreadable is what the owner reads instead of an answer that is neither in the requested form nor plain words.
const unreadable = "The model gave no answer that can be read. Ask once more, or in other words."

// The lines under an answer without any citation.
const (
	noSource  = "\n\n(Not from your documents or chats.)"
	unmatched = "\n\n(I could not match this to a passage.)"
	fromNotes = "\n\n(From your notes.)"
)

// minNotesShare is the share of an answer's words that the notes must contain to be its source.
const minNotesShare = 0.6

// citedText formats a model's answer for the owner, with its valid citations, or where else it is from.
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
		return sourcedText{markdown: escapeLines(r.run.BreakLinks(words)) + r.otherSource(words, false)} // a contact would not get it
	}
	var said ownerText
	var list, plain strings.Builder
	var citations []store.Citation
	claimsSource := false
	for _, s := range parsed.Sentences {
		sentence := strings.TrimSpace(r.run.BreakLinks(s.Text))
		citation, ok := r.run.Cite(s)
		if !ok {
			claimsSource = claimsSource || s.Cites()
			said.add(sentence, "")
			plain.WriteString(sentence + " ")
			continue
		}
		if !slices.Contains(citations, citation) {
			citations = append(citations, citation)
			fmt.Fprintf(&list, "\n[%d] %s: \"%s\"  ", len(citations), linkedSource(citation.Source, r.run.Passages, citation.Ref),
				text.Escape(text.Clip(citation.Quote, 300)))
		}
		said.add(sentence, fmt.Sprintf(" [%d]", slices.Index(citations, citation)+1))
	}
	switch {
	case said.String() == "" && parsed.Message != "" && r.run.Task.Target != nil:
		return sourcedText{markdown: "I drafted a message."}
	case said.String() == "":
		return sourcedText{markdown: foundNothing + r.area.textIfUnusual()}
	case len(citations) == 0:
		return sourcedText{markdown: said.String() + r.otherSource(plain.String(), claimsSource) + r.area.textIfUnusual()}
	}
	return sourcedText{said.String() + "\n" + list.String() + "\n\n" + r.area.text(), run.CitedHits(r.run.Passages, citations), citations}
}

// otherSource says where an answer without a citation is from: tools, or notes. It is empty for what needs no source: what
// was done, and talk. claimsSource says that the model named a passage.
func (r *attempt) otherSource(said string, claimsSource bool) string {
	switch {
	case claimsSource:
		return unmatched
	case len(r.run.Consulted) > 0:
		return "\n\n(From " + text.Escape(strings.Join(r.run.Consulted, ", ")) + ".)"
	case len(r.run.CallLines) > 0: // it says what it did
		return ""
	case isFromNotes(said, r.notes):
		return fromNotes
	case strings.ContainsAny(r.run.Task.Input, policy.QuestionMarks):
		return noSource
	default:
		return ""
	}
}

// isFromNotes reports whether notes have most words of an answer.
func isFromNotes(said, notes string) bool {
	known := search.Words(notes)
	found, all := 0, 0
	for _, w := range search.Words(said) {
		if search.IsCommonWord(w) {
			continue
		}
		all++
		if slices.Contains(known, w) {
			found++
		}
	}
	return all > 0 && float64(found) >= minNotesShare*float64(all)
}

// ownerText is an answer to the owner in Markdown. Sentences form a paragraph; the lines of a list stay lines.
type ownerText struct {
	b      strings.Builder
	inList bool
}

// bullet matches the beginning of an item of a list.
var bullet = regexp.MustCompile(`^(?:[-*•–]|\d{1,2}[.)])\s+`)

// add adds a sentence, which may be several lines, with the mark of its citation.
func (o *ownerText) add(sentence, mark string) {
	lines := strings.Split(sentence, "\n")
	for i, line := range lines {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		isItem := bullet.MatchString(line)
		switch {
		case o.b.Len() == 0:
		case isItem && o.inList:
			o.b.WriteString("\n")
		case isItem != o.inList:
			o.b.WriteString("\n\n")
		case i > 0:
			o.b.WriteString("  \n")
		default:
			o.b.WriteByte(' ')
		}
		o.inList = isItem
		if isItem && !strings.ContainsAny(line[:1], "0123456789") {
			line = bullet.ReplaceAllString(line, "")
			o.b.WriteString("- ")
		}
		o.b.WriteString(text.Escape(line))
	}
	o.b.WriteString(mark)
}

func (o *ownerText) String() string { return o.b.String() }

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
