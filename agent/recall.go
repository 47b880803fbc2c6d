package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/memory"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/text"
)

// recalledHits is how much of what is remembered goes along with the passages of documents.
const recalledHits = 6

// heardHits is how many messages of the time that a question is about are read, the newest.
const heardHits = 120

// lookUp searches what the owner asked for: documents, notes, and what was said in the chats of where. What was said in the time that
// the question is about comes first; else his own notes that answer, then documents that do, then what was said in the chats that he named.
func (a *Agent) lookUp(ctx context.Context, where places, question string) (search.Result, error) {
	scope := where.scope
	found, err := a.Search.AsOwner(ctx, scope, search.Query{Text: question, Limit: modelPassages, Kinds: []store.Kind{store.KindKnowledge}})
	if err != nil {
		return search.Result{}, err
	}
	if len(found.Terms) == 0 {
		found.Hits = nil // nothing but stop words: the newest passages are no answer
	}
	if a.Memory == nil {
		return found, nil
	}
	recalled, err := a.Memory.Recall(ctx, memory.Question{Text: question, Owner: true, Scope: scope, Limit: recalledHits})
	if err != nil {
		return search.Result{}, err
	}
	named := len(scope.Chats()) > 0
	if !named && !recalled.Newest && len(recalled.Terms) == 0 {
		recalled.Hits = nil
	}
	if recalled.Newest {
		found.Hits = nil // of documents that hold the name of who said it
	}
	var heard []search.Hit
	if len(where.heard.Said) > 0 {
		heard = a.Memory.Hits(where.heard)
		recalled.Hits = slices.DeleteFunc(recalled.Hits, func(h search.Hit) bool { return h.Ref.Kind == store.RefMessage }) // they are among what was heard
	}
	found.Hits = append(found.Hits, recalled.Hits...)
	slices.SortStableFunc(found.Hits, func(a, b search.Hit) int { return cmp.Compare(place(a, named), place(b, named)) })
	found.Hits = slices.Concat(heard[:min(len(heard), heardHits)], found.Hits)
	if len(found.Terms) == 0 {
		found.Terms = recalled.Terms
	}
	return found, nil
}

// place orders what was found for the owner.
func place(h search.Hit, named bool) int {
	answers := h.Coverage >= search.MinSupport
	isNote := h.Kind == store.KindConversation && h.Role == policy.Admin
	switch {
	case isNote && answers:
		return 0
	case h.Kind == store.KindKnowledge && answers:
		return 1
	case named && h.Kind == store.KindConversation:
		return 2
	case h.Kind == store.KindKnowledge:
		return 3
	default:
		return 4
	}
}

// quoted are the messages among hits, and those that notes among them were learned from.
func quoted(hits []search.Hit) []store.MessageID {
	var ids []store.MessageID
	for _, h := range hits {
		ids = append(ids, h.Messages...)
		if message, ok := h.Ref.Message(); ok {
			ids = append(ids, message)
		}
	}
	return ids
}

// linked makes a source lead to the message that it names.
func linked(source string, hits []search.Hit, ref store.Ref) string {
	for _, h := range hits {
		if h.Ref == ref && h.Link != "" {
			return fmt.Sprintf("%s ([message](%s))", text.Escape(strings.Trim(source, "[]")), h.Link)
		}
	}
	return text.Escape(source)
}
