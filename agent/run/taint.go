package run

import (
	"context"
	"slices"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// hasForeign reports whether one of the passages may have words that are not the owner's: it is from a chat other than
// the one he asks in, or from a document that was fetched from an address or learned from conversations. Files that he
// indexed count as his own words, unless the text looks like an order to the assistant.
func (a *Attempt) hasForeign(ctx context.Context, passages []search.Hit) (bool, error) {
	var documents []store.DocumentID
	for _, h := range passages {
		chat, ofChat := h.Role.Chat()
		if ofChat && chat != a.Caller.Chat.ID || policy.IsInjection(h.Title+" "+h.Section+"\n"+h.Text) {
			return true, nil
		}
		if h.Kind == index.KindKnowledge {
			documents = append(documents, h.DocumentID)
		}
	}
	if len(documents) == 0 {
		return false, nil
	}
	return index.AnyForeign(ctx, a.engine.Store.DB(), documents)
}

// HasForeignNotes reports whether notes were learned from a chat with a contact.
func HasForeignNotes(notes []store.Note) bool {
	return slices.ContainsFunc(notes, func(n store.Note) bool { _, ofContact := n.Role.Chat(); return ofContact })
}

// isForeignPrompt reports whether a prompt has text that is not the owner's, or that looks like an order to the assistant
// although it counts as his. His question is not checked. Text of other agents and descriptions of pictures always count
// as foreign, because they may repeat words of others.
func (a *Attempt) isForeignPrompt(ctx context.Context, p Prompt) (bool, error) {
	ofOthers := func(m store.Message) bool { return m.Author.IsCapped() }
	if a.Caller.Tainted || p.Foreign || p.Work != "" || p.Picture != "" || slices.ContainsFunc(p.Window, ofOthers) ||
		policy.IsInjection(p.Notes) {
		return true, nil
	}
	return a.hasForeign(ctx, p.Passages)
}

// taint marks the turn as tainted once the model is going to read a result with text that is not the owner's, or that looks like an order.
func (a *Attempt) taint(ctx context.Context, results []pendingCall) error {
	for _, p := range results {
		if a.Caller.Tainted {
			return nil
		}
		foreign, err := a.hasForeign(ctx, p.result.Passages)
		if err != nil {
			return err
		}
		a.Caller.Tainted = foreign || a.engine.Tools.IsForeign(p.call.Name) || policy.IsInjection(p.result.ForLLM)
	}
	return nil
}
