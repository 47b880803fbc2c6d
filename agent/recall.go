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
	// minChatCoverage is the share of a question's words that a note or message of a chat must have that the question does not name.
	minChatCoverage = 0.5
	// maxPeriodMessages is how many messages of the asked period a model reads, the newest.
	maxPeriodMessages = 120
)

// searchForOwner searches where a question is to be answered from: first the narrow scope of the area. If nothing there
// answers it, and it names neither a chat nor a period, it searches all chats too. What is found there stands first.
func (c *core) searchForOwner(ctx context.Context, where *searchArea, question string) (search.Result, error) {
	found, err := c.searchNarrow(ctx, *where, question)
	if err != nil {
		return search.Result{}, err
	}
	if c.memory == nil || where.omitMemory || len(where.named) > 0 || slices.ContainsFunc(found.Hits, search.Hit.Answers) {
		return found, nil
	}
	if len(where.conversations.Messages) > 0 {
		return found, nil
	}
	return c.searchAllChats(ctx, where, question, found)
}

// searchAllChats adds to found what all chats have about a question.
func (c *core) searchAllChats(ctx context.Context, where *searchArea, question string, found search.Result) (search.Result, error) {
	where.usedWide = true
	inChats, err := c.memory.Recall(ctx, memory.Question{
		Text:    question,
		AsOwner: true,
		Scope:   where.wide,
		Limit:   maxRecalled,
		AnyTime: true,
	})
	if err != nil {
		return search.Result{}, err
	}
	documents, err := c.search.AsOwner(ctx, where.wide, search.Query{
		Text:  question,
		Limit: maxPassages,
		Kinds: []index.Kind{index.KindKnowledge},
	})
	if err != nil {
		return search.Result{}, err
	}
	if len(inChats.Terms)+len(documents.Terms) == 0 {
		return found, nil // only stop words
	}
	related := slices.DeleteFunc(slices.Concat(documents.Hits, inChats.Hits), func(h search.Hit) bool {
		isFound := slices.ContainsFunc(found.Hits, func(f search.Hit) bool { return f.Ref == h.Ref })
		return isFound || h.Coverage < minChatCoverage && h.Similarity == 0
	})
	found.Hits = slices.Concat(related, found.Hits)
	if len(found.Terms) == 0 {
		found.Terms = slices.Concat(documents.Terms, inChats.Terms)
	}
	return found, nil
}

// searchNarrow searches documents, notes, and messages in the narrow scope of an area. The result has messages of the
// asked period first, then notes and then documents that answer the question, then messages of the chats that the
// question names.
func (c *core) searchNarrow(ctx context.Context, where searchArea, question string) (search.Result, error) {
	scope := where.scope
	found, err := c.search.AsOwner(ctx, scope, search.Query{Text: question, Limit: maxPassages, Kinds: []index.Kind{index.KindKnowledge}})
	if err != nil {
		return search.Result{}, err
	}
	if len(found.Terms) == 0 {
		found.Hits = nil // only stop words: the search returned just the newest passages
	}
	if c.memory == nil || where.omitMemory {
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
	answers := h.Answers()
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
