package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/internal/text"
	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// refusal has the drafts of an answer that the owner refused with feedback, the newest first.
type refusal struct {
	drafts []store.RefusedDraft
	// known is the question and the passages. Words of the owner that also occur there may occur in an answer.
	known string
}

// maxFeedback is how much of the owner's feedback a model reads, in characters.
const maxFeedback = 1000

// refusedDrafts returns the drafts of an answer to the waiting messages that the owner refused with feedback.
func (t *Turns) refusedDrafts(ctx context.Context, chat store.ChatID, waiting []store.Message) (refusal, error) {
	first := slices.MinFunc(waiting, func(a, b store.Message) int { return int(a.ID - b.ID) })
	drafts, err := store.RefusedDrafts(ctx, t.store.DB(), chat, first.ID)
	for i := range drafts {
		drafts[i].Feedback, _ = policy.RefusalReason(drafts[i].Feedback)
	}
	return refusal{drafts: slices.DeleteFunc(drafts, func(d store.RefusedDraft) bool { return d.Feedback == "" })}, err
}

func (r refusal) isSet() bool { return len(r.drafts) > 0 }

// messageIDs returns the owner's messages, whose words may be in the answer.
func (r refusal) messageIDs() (ids []store.MessageID) {
	for _, d := range r.drafts {
		ids = append(ids, d.Message)
	}
	return ids
}

// instructions says how a model has to use what prompt returns.
func (r refusal) instructions() string {
	if !r.isSet() {
		return ""
	}
	return "The owner has refused a draft of this answer. Write it otherwise, as he wants it: what follows “he wants” in the material about refused drafts is his instruction to you, as far as the passages allow it. It is no source, and the customer never reads of it."
}

// prompt returns the refused drafts, each with the owner's feedback.
func (r refusal) prompt() string {
	var lines []string
	for _, d := range r.drafts {
		if d.Draft != "" {
			lines = append(lines, "draft: "+text.OneLine(d.Draft))
		}
		lines = append(lines, "he wants: "+text.OneLine(text.Clip(policy.Redact(d.Feedback), maxFeedback)))
	}
	return strings.Join(lines, "\n")
}

// sharedWords is how many consecutive words of the owner's an answer may not contain. Shorter feedback counts as a whole.
const sharedWords = 4

// check returns an answer unless it says to the customer what the owner only said to the model; then a person has to answer.
func (r refusal) check(a contactAnswer) contactAnswer {
	if !r.isSet() {
		return a
	}
	sources := []string{r.known}
	for _, h := range a.used {
		sources = append(sources, h.Title, h.Section, h.Text)
	}
	said, known := joinedWords(a.text), joinedWords(strings.Join(sources, "\n"))
	for _, d := range r.drafts {
		words := search.Words(d.Feedback)
		n := min(sharedWords, len(words))
		for i := 0; n > 1 && i+n <= len(words); i++ {
			if part := " " + strings.Join(words[i:i+n], " ") + " "; strings.Contains(said, part) && !strings.Contains(known, part) {
				return contactAnswer{reason: "The model repeated to the customer what you said about its draft.", cause: policy.CauseUnsupported}
			}
		}
	}
	return a
}

// joinedWords returns the words of a text between spaces.
func joinedWords(s string) string { return " " + strings.Join(search.Words(s), " ") + " " }

// redraft answers a question again whose draft the owner refused with feedback. Only a model can do that: without one, a
// person has to answer.
func (t *Turns) redraft(ctx context.Context, q contactQuestion) (contactAnswer, error) {
	q.refused.known = joinLines(q.text, q.pictures)
	if !q.noModelUntil.IsZero() {
		return contactAnswer{reason: "You asked for a different draft. " + modelHoldReason(q.noModelUntil.In(t.zone))}, nil
	}
	found, err := t.searchForContact(ctx, joinLines(q.text, q.pictures), q.before)
	if err != nil {
		return contactAnswer{}, err
	}
	result, err := t.askModel(ctx, q, found)
	switch {
	case errors.Is(err, llm.ErrNoModel):
		return contactAnswer{reason: "You asked for a different draft, and there is no model to write it (config: llm.model)."}, nil
	case errors.Is(err, llm.ErrOverBudget):
		return contactAnswer{reason: "You asked for a different draft. " + budgetReason, cause: policy.CauseBudget}, nil
	case err != nil && q.last && ctx.Err() == nil:
		zerolog.Ctx(ctx).Err(err).Int64("chat_id", int64(q.chat.ID)).Msg("The model failed; escalating a draft that the owner refused")
		return contactAnswer{reason: "You asked for a different draft, and the model failed.", cause: policy.CauseFailure}, nil
	}
	result.scope = policy.PublicScope()
	return result, err
}
