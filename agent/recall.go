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
	"multis/store/index"
	"multis/text"
)

const (
	// maxPassages is how many passages of documents a model reads.
	maxPassages = 6
	// maxRecalled is how many notes and messages it reads beside them.
	maxRecalled = 6
	// maxHeard is how many messages of the time that a question is about it reads, the newest.
	maxHeard = 120
)

// lookUp searches for the owner: documents, notes, and messages in the chats of where. Messages of the time that the question is about come first;
// then notes that answer it, documents that do, and messages of the chats that it names.
func (a *Agent) lookUp(ctx context.Context, where places, question string) (search.Result, error) {
	scope := where.scope
	found, err := a.Search.AsOwner(ctx, scope, search.Query{Text: question, Limit: maxPassages, Kinds: []index.Kind{index.KindKnowledge}})
	if err != nil {
		return search.Result{}, err
	}
	if len(found.Terms) == 0 {
		found.Hits = nil // only stop words: the newest passages are no answer
	}
	if a.Memory == nil {
		return found, nil
	}
	recalled, err := a.Memory.Recall(ctx, memory.Question{Text: question, Owner: true, Scope: scope, Limit: maxRecalled})
	if err != nil {
		return search.Result{}, err
	}
	named := len(scope.Chats()) > 0
	if !named && !recalled.Newest && len(recalled.Terms) == 0 {
		recalled.Hits = nil
	}
	if recalled.Newest {
		found.Hits = nil // they only have the name of the person who is asked about
	}
	var heard []search.Hit
	if len(where.heard.Messages) > 0 {
		heard = a.Memory.Hits(where.heard)
		recalled.Hits = slices.DeleteFunc(recalled.Hits, func(h search.Hit) bool { return h.Ref.Kind == store.RefMessage }) // messages are among the heard
	}
	found.Hits = append(found.Hits, recalled.Hits...)
	slices.SortStableFunc(found.Hits, func(a, b search.Hit) int { return cmp.Compare(rank(a, named), rank(b, named)) })
	found.Hits = slices.Concat(heard[:min(len(heard), maxHeard)], found.Hits)
	if len(found.Terms) == 0 {
		found.Terms = recalled.Terms
	}
	return found, nil
}

// rank orders what was found for the owner, the lowest first.
func rank(h search.Hit, named bool) int {
	answers := h.Coverage >= search.MinSupport
	isNote := h.Kind == index.KindConversation && h.Role == policy.Admin
	switch {
	case isNote && answers:
		return 0
	case h.Kind == index.KindKnowledge && answers:
		return 1
	case named && h.Kind == index.KindConversation:
		return 2
	case h.Kind == index.KindKnowledge:
		return 3
	default:
		return 4
	}
}

// linked writes a source with a link to the message that it is.
func linked(source string, hits []search.Hit, ref store.Ref) string {
	for _, h := range hits {
		if h.Ref == ref && h.Link != "" {
			return fmt.Sprintf("%s ([message](%s))", text.Escape(strings.Trim(source, "[]")), h.Link)
		}
	}
	return text.Escape(source)
}
