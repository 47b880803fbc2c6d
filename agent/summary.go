package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"multis/agent/run"
	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// maxSummary is the length of the longest summary, in characters.
const maxSummary = 2000

// enqueueSummary has the conversation of a chat summarised with an agent's model if it is due, before anything of it has to be cut.
func enqueueSummary(ctx context.Context, tx store.Tx, chat store.ChatID, agent string, due bool) error {
	if !due {
		return nil
	}
	return jobs.Enqueue(ctx, tx, jobs.SummariseArgs{ChatID: chat, Agent: agent})
}

// Summarise summarises the older part of a chat's conversation with the model of an agent, to that model's limits. A conversation that is not long, or
// that no model can summarise, stays as it is: what is too much is cut when a prompt is composed.
func (a *Agent) Summarise(ctx context.Context, chatID store.ChatID, agent string) error {
	model, limits := a.Personas.ModelOf(a.Personas.ByID(agent))
	limits = limits.WithDefaults()
	chat, err := store.ChatByID(ctx, a.Store.DB(), chatID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && chat.IsOff(a.Defaults)) {
		return nil
	}
	if err != nil {
		return err
	}
	since, err := a.windowFrom(ctx, chat)
	if err != nil {
		return err
	}
	c, err := a.conversation(ctx, a.Store.DB(), chat, since, nil, 2*limits.Window)
	if err != nil {
		return err
	}
	n := limits.SummariseCount(c.said, 0)
	if n == 0 {
		return nil
	}
	older := c
	older.said = c.said[:n]
	about := older.messages()
	slices.Sort(about)
	about = slices.Compact(about)
	before, err := store.MessagesByID(ctx, a.Store.DB(), about)
	if err != nil {
		return err
	}
	request := a.summaryRequest(chat, older)
	resp, err := llm.Complete(ctx, model, request)
	var over *llm.OverBudgetError
	if errors.Is(err, llm.ErrNoModel) || errors.As(err, &over) {
		return nil
	}
	if err != nil {
		return err
	}
	body := text.Clip(policy.BreakLinks(text.CollapseSpaces(resp.Text), run.WithoutOwnWords(request.Messages[0].Text)), maxSummary)
	if body == "" {
		return fmt.Errorf("summarise chat %d: the model said nothing", chatID)
	}
	s := store.Summary{ChatID: chatID, Body: policy.Redact(body), About: about, Until: older.said[n-1].At}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		if _, err := store.LockChatShared(ctx, tx, chatID); err != nil {
			return err
		}
		was, err := store.SummaryOf(ctx, tx, chatID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if was.Body != c.stored.Body || !was.Until.Equal(c.stored.Until) {
			return store.ErrChanged
		}
		// It must not say what was deleted or edited meanwhile.
		if _, err := store.LockUnchanged(ctx, tx, slices.Sorted(maps.Keys(before)), byPeople(older)); err != nil {
			return err
		}
		return store.PutSummary(ctx, tx, s)
	})
}

// byPeople returns the messages of a conversation without multis' own, whose bodies are not as they are stored.
func byPeople(c conversation) []store.Message {
	return slices.DeleteFunc(slices.Clone(c.said), func(m store.Message) bool { return m.Author == policy.AuthorMultisBot })
}

// summaryRequest asks for a summary of a conversation and its earlier summary, both fenced.
func (a *Agent) summaryRequest(chat store.Chat, c conversation) llm.Request {
	fence := a.fence()
	var b strings.Builder
	if c.summary.Body != "" {
		fmt.Fprintf(&b, "%s what was before\n%s\n", fence, c.summary.Body)
	}
	fmt.Fprintf(&b, "%s conversation\n%s%s end\n", fence, run.Lines(c.said), fence)
	return llm.Request{
		System: fmt.Sprintf(summaryRules, fence), Messages: []llm.Message{{Role: llm.RoleUser, Text: b.String()}},
		MaxTokens: 600, Purpose: "summary", Chat: chat.ID,
	}
}
