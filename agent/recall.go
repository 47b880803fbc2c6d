package agent

import (
	"context"
	"fmt"
	"strings"

	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// recalledHits is how much of what is remembered goes along with the passages of documents.
const recalledHits = 6

// lookUp searches what the owner asked for: documents, notes, and what was said in the chats of scope. Who names a chat asks
// about it, so what was said there comes first.
func (a *Agent) lookUp(ctx context.Context, scope policy.Scope, question string) (search.Result, error) {
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
	switch {
	case named:
		found.Hits = append(recalled.Hits, found.Hits...)
	case len(recalled.Terms) > 0:
		found.Hits = append(found.Hits, recalled.Hits...)
	}
	if len(found.Terms) == 0 {
		found.Terms = recalled.Terms
	}
	return found, nil
}

// quoted are the messages among hits, and those that notes among them were learned from.
func quoted(hits []search.Hit) []int64 {
	var ids []int64
	for _, h := range hits {
		ids = append(ids, h.Messages...)
		if h.ChunkID < 0 {
			ids = append(ids, -h.ChunkID)
		}
	}
	return ids
}

// linked makes a source lead to the message that it names.
func linked(source string, hits []search.Hit, chunk int64) string {
	for _, h := range hits {
		if h.ChunkID == chunk && h.Link != "" {
			return fmt.Sprintf("%s ([message](%s))", outbox.Escape(strings.Trim(source, "[]")), h.Link)
		}
	}
	return outbox.Escape(source)
}
