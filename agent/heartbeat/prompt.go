package heartbeat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/agent/run"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/llm"
	"multis/memory"
	"multis/store"
)

const (
	heartbeatRules = `You are %s, the owner's assistant, looking around by yourself. Nobody asked you anything; whatever you say interrupts the owner. Judge for each matter below
whether the owner has to know of it now. A matter that settles itself, a closing phrase, an advertisement or an automatic message does not matter. Tools only read; you send nothing to anybody.`

	heartbeatForm = `When you are done, answer with one JSON object and nothing else:
{"notify": true, "tell": [{"matter": "the name of the matter, copied exactly", "text": "one short sentence for the owner: what to do or decide"}]}
List only what matters. If nothing does, return {"notify": false, "tell": []}.`

	// draftForm is added if the configuration allows drafts.
	draftForm = `Where writing to the person of a matter would settle it, add to its entry "draft": the words to send, in that person's language and in the owner's name, with nothing in them
that the conversation and the documents do not say. A matter named item has no such person. The owner reads each draft and decides.`

	heartbeatQuestion = "Which of these matters does the owner have to know of now?"

	// reminderHorizon is how far ahead reminders are included in the prompt, so that the model does not repeat them.
	reminderHorizon = 30 * time.Minute
)

// itemKey returns the name of an item in the prompt. The name of a finding there is its key.
func itemKey(i int) string { return fmt.Sprintf("item:%d", i+1) }

// opening builds the first request to the model. Text of contacts is fenced.
func (c *check) opening(ctx context.Context, a *run.Attempt) (run.FirstRequest, error) {
	h := c.checker
	offered, err := h.Tools.Offered(ctx, a.Caller)
	if err != nil {
		return run.FirstRequest{}, err
	}
	name, err := store.AssistantName(ctx, h.Store.DB(), h.Name)
	if err != nil {
		return run.FirstRequest{}, err
	}
	if c.persona.Name != "" {
		name = c.persona.Name
	}
	fence := h.fence()
	question, about, err := c.question(ctx, fence)
	if err != nil {
		return run.FirstRequest{}, err
	}
	parts, form := []string{fmt.Sprintf(heartbeatRules, name)}, heartbeatForm
	if c.config.Drafts {
		form += "\n" + draftForm
	}
	if own, _ := c.persona.OwnerPrompt(); own != "" { // a heartbeat is tainted in any case
		parts = append(parts, own)
	}
	request := llm.Request{
		System: strings.Join(append(parts, run.FenceRule, form), "\n\n"), Messages: []llm.Message{{Role: llm.RoleUser, Text: question}},
		Purpose: string(taskKind), Chat: c.room.ID, JSON: len(offered) == 0,
	}
	for _, s := range offered {
		request.Tools = append(request.Tools, run.FencedTool(s))
	}
	return run.FirstRequest{Request: request, About: about}, nil
}

// question returns the text of the request, and the messages whose words it may contain.
func (c *check) question(ctx context.Context, fence string) (string, []store.MessageID, error) {
	h := c.checker
	coming, err := store.DueSchedules(ctx, h.Store.DB(), c.at.Add(reminderHorizon))
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	about := []store.MessageID{}
	for _, m := range c.findings {
		fmt.Fprintf(&b, "%s matter %s: %s\n%s\n", fence, m.Key, text.CollapseSpaces(c.describe(m)), text.Clip(m.Text, 1000))
		about = append(about, m.sourceMessages()...)
	}
	for i, item := range c.items {
		fmt.Fprintf(&b, "%s matter %s: the owner wants you to look at this\n%s\n", fence, itemKey(i), item)
	}
	if heard := c.trimmedConversations(); len(heard.Messages) > 0 {
		b.WriteString(h.Memory.Transcript(heard, fence))
		for _, s := range heard.Messages {
			about = append(about, s.ID)
		}
	}
	if len(coming) > 0 {
		fmt.Fprintf(&b, "%s reminders that come by themselves within half an hour\n", fence)
		for _, s := range coming {
			fmt.Fprintf(&b, "%s: %s\n", schedule.FormatTime(*s.NextAt, c.at, h.Zone), text.CollapseSpaces(s.Body))
		}
	}
	fmt.Fprintf(&b, "%s now\n%s\n", fence, run.NowText(c.at.In(h.Zone)))
	fmt.Fprintf(&b, "%s question to answer\n%s\n%s end\n", fence, heartbeatQuestion, fence)
	return b.String(), about, nil
}

// trimmedConversations returns the newest messages since the last check that fit into half of the model's context window.
func (c *check) trimmedConversations() memory.Conversations {
	heard := c.conversations
	newest := slices.Clone(heard.Messages)
	slices.SortStableFunc(newest, func(x, y store.Message) int { return y.At.Compare(x.At) })
	left, fits := (c.limits.Context-c.limits.Reserve)/2, map[store.MessageID]bool{}
	for _, s := range newest {
		if left -= run.Tokens(text.Clip(s.Body, 300)) + 20; left < 0 { // 20 for its author and time
			break
		}
		fits[s.ID] = true
	}
	heard.Messages = slices.DeleteFunc(slices.Clone(heard.Messages), func(s store.Message) bool { return !fits[s.ID] })
	return heard
}
