package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/knowledge/search"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	// maxPassages is how many passages of documents a model reads.
	maxPassages = 6
	// maxRecalled is how many notes and messages a model reads beside them.
	maxRecalled = 6
	// maxPeriodMessages is how many messages of the asked period a model reads, the newest.
	maxPeriodMessages = 120
)

// searchForOwner searches documents, notes, and messages in the chats of where. The result has messages of the asked
// period first, then notes and then documents that answer the question, then messages of the chats that the question
// names.
func (c *core) searchForOwner(ctx context.Context, where searchArea, question string) (search.Result, error) {
	scope := where.scope
	found, err := c.search.AsOwner(ctx, scope, search.Query{Text: question, Limit: maxPassages, Kinds: []index.Kind{index.KindKnowledge}})
	if err != nil {
		return search.Result{}, err
	}
	if len(found.Terms) == 0 {
		found.Hits = nil // only stop words: the search returned just the newest passages
	}
	if c.memory == nil {
		return found, nil
	}
	recalled, err := c.memory.Recall(ctx, memory.Question{Text: question, AsOwner: true, Scope: scope, Limit: maxRecalled})
	if err != nil {
		return search.Result{}, err
	}
	named := len(scope.Chats()) > 0
	if !named && !recalled.AsksNewest && len(recalled.Terms) == 0 {
		recalled.Hits = nil
	}
	if recalled.AsksNewest {
		found.Hits = nil // these documents only contain the person's name
	}
	var heard []search.Hit
	if len(where.conversations.Messages) > 0 {
		heard = c.memory.Hits(where.conversations)
		// these messages are in heard already
		recalled.Hits = slices.DeleteFunc(recalled.Hits, func(h search.Hit) bool { return h.Ref.Kind == store.RefMessage })
	}
	found.Hits = append(found.Hits, recalled.Hits...)
	slices.SortStableFunc(found.Hits, func(a, b search.Hit) int { return cmp.Compare(rank(a, named), rank(b, named)) })
	found.Hits = slices.Concat(heard[:min(len(heard), maxPeriodMessages)], found.Hits)
	if len(found.Terms) == 0 {
		found.Terms = recalled.Terms
	}
	return found, nil
}

// rank orders what was found for the owner, the lowest first.
func rank(h search.Hit, named bool) int {
	answers := h.Coverage >= search.MinCoverage
	isNote := h.Kind == index.KindConversation && h.Role == policy.RoleAdmin
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

// linkedSource formats a source, with a link if it is a message.
func linkedSource(source string, hits []search.Hit, ref store.Ref) string {
	for _, h := range hits {
		if h.Ref == ref && h.Link != "" {
			return fmt.Sprintf("%s ([message](%s))", text.Escape(strings.Trim(source, "[]")), h.Link)
		}
	}
	return text.Escape(source)
}
