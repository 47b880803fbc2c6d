package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"multis/agent/run"
	"multis/internal/text"
	"multis/jobs"
	"multis/llm"
	"multis/llm/reply"
	"multis/policy"
	"multis/store"
)

const (
	// maxSummary is the maximum length of a summary, in characters.
	maxSummary = 2000
	// maxSummarySources is the maximum number of messages that a summary rests on: each answer stores them. A summary that
	// would rest on more is made without the earlier one.
	maxSummarySources = 200
)

// enqueueSummary enqueues the job that summarises the conversation of a chat with an agent's model, if due.
func enqueueSummary(ctx context.Context, tx store.Tx, chat store.ChatID, agent string, due bool) error {
	if !due {
		return nil
	}
	return jobs.Enqueue(ctx, tx, jobs.SummariseArgs{ChatID: chat, Agent: agent})
}

// Summaries summarises conversations.
type Summaries struct{ *core }

// Summarise summarises the older part of a chat's conversation with the model of an agent, to that model's limits. It
// does nothing for a short conversation or without a model; run.Attempt.Compose then cuts what does not fit.
func (su *Summaries) Summarise(ctx context.Context, chatID store.ChatID, agent string) error {
	model, limits := su.personas.ModelOf(su.personas.ByID(agent))
	limits = limits.WithDefaults()
	chat, err := store.ChatByID(ctx, su.store.DB(), chatID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && chat.IsOff(su.defaults)) {
		return nil
	}
	if err != nil {
		return err
	}
	since, err := su.windowStart(ctx, chat)
	if err != nil {
		return err
	}
	c, err := su.conversation(ctx, su.store.DB(), chat, since, nil, 2*limits.Window)
	if err != nil {
		return err
	}
	n := limits.SummariseCount(c.messages, 0)
	if n == 0 {
		return nil
	}
	older := c.first(n)
	about := older.sources()
	if len(about) > maxSummarySources {
		older.summary = store.Summary{}
		about = older.sources()
	}
	before, err := store.MessagesByID(ctx, su.store.DB(), about)
	if err != nil {
		return err
	}
	request := su.summaryRequest(chat, older)
	resp, err := llm.Complete(ctx, model, request)
	var over *llm.OverBudgetError
	if errors.Is(err, llm.ErrNoModel) || errors.As(err, &over) {
		return nil
	}
	if err != nil {
		return err
	}
	said, err := summaryText(resp.Text)
	if err != nil {
		return fmt.Errorf("summarise chat %d: %w", chatID, err)
	}
	body := text.Clip(policy.BreakLinks(text.CollapseSpaces(said), run.WithoutAssistantLines(request.Messages[0].Text)), maxSummary)
	s := store.Summary{
		ChatID:  chatID,
		Body:    policy.Redact(body),
		Sources: about,
		Until:   older.messages[n-1].At,
		Tainted: chat.Kind != policy.KindAdmin || older.isTainted(),
	}
	return su.store.InTx(ctx, func(tx store.Tx) error {
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
		// The summary must not contain text that was deleted or edited meanwhile.
		if _, err := store.LockUnchanged(ctx, tx, slices.Sorted(maps.Keys(before)), byPeople(older)); err != nil {
			return err
		}
		return store.PutSummary(ctx, tx, s)
	})
}

// summaryText returns the summary in a model's answer: plain words, or the text in an object. Anything else, such as a tool call
// written as text, would stay in the memory of the conversation.
func summaryText(answer string) (string, error) {
	if words, ok := reply.Prose(answer); ok {
		return words, nil
	}
	said, err := reply.Read[struct {
		Summary string `json:"summary" alias:"text,answer,conversation"`
	}](answer)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(said.Summary) == "" {
		return "", errors.New("the model wrote no summary")
	}
	return said.Summary, nil
}

// byPeople returns the messages of a conversation without those of multis, whose bodies differ from the stored ones.
func byPeople(c conversation) []store.Message {
	return slices.DeleteFunc(slices.Clone(c.messages), func(m store.Message) bool { return m.Author == policy.AuthorMultisBot })
}

// summaryRequest builds the request for a summary of a conversation and its earlier summary, both fenced.
func (su *Summaries) summaryRequest(chat store.Chat, c conversation) llm.Request {
	fence := su.fence()
	var b strings.Builder
	if c.summary.Body != "" {
		fmt.Fprintf(&b, "%s what was before\n%s\n", fence, c.summary.Body)
	}
	fmt.Fprintf(&b, "%s conversation\n%s%s end\n", fence, run.ConversationText(c.messages, su.zone), fence)
	return llm.Request{
		System: fmt.Sprintf(summaryRules, fence), Messages: []llm.Message{{Role: llm.RoleUser, Text: b.String()}},
		MaxTokens: 600, Purpose: "summary", Chat: chat.ID,
	}
}
