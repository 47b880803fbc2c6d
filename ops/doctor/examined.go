package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"multis/config"
	"multis/internal/text"
	"multis/ops/exam"
	"multis/store"
)

// answeringModels returns the models that are asked first to answer contacts: those of the agents that answer chats, and llm.model.
func answeringModels(c *config.Config) (models []string) {
	values := []string{c.LLM.Model}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		routes := len(a.Rooms) + len(a.Senders) + len(a.Spaces) + len(a.Logins) + len(a.Networks) + len(a.Modes)
		if a.Default {
			values[0] = cmp.Or(a.Model, c.LLM.Model)
		}
		if routes > 0 {
			values = append(values, cmp.Or(a.Model, c.LLM.Model))
		}
	}
	for _, value := range values {
		list := c.LLM.ResolveModels(value)
		if len(list) > 0 && !slices.Contains(models, list[0]) {
			models = append(models, list[0])
		}
	}
	return models
}

// checkExamined finds models that answer customers without anybody's approval and did not pass the exam, or never took it.
func checkExamined(ctx context.Context, in *Input) (findings []Finding, err error) {
	models := answeringModels(in.Config)
	if len(models) == 0 || in.noDatabase() != "" {
		return nil, nil
	}
	chats, err := store.CountAutomaticChats(ctx, in.Database.DB(), in.Defaults)
	if err != nil {
		return nil, err
	}
	if chats == 0 {
		return nil, nil
	}
	for _, model := range models {
		f, err := in.examFinding(ctx, model, text.Count(chats, "chat"))
		if err != nil {
			return nil, err
		}
		if f.ID != "" {
			findings = append(findings, f)
		}
	}
	return findings, nil
}

// examFinding returns what is wrong with a model that answers chats by itself; the zero value if nothing is.
func (in *Input) examFinding(ctx context.Context, model, chats string) (Finding, error) {
	e, err := store.ModelExamOf(ctx, in.Database.DB(), model)
	if errors.Is(err, store.ErrNotFound) {
		return newFinding(ModelUnexamined, model, fmt.Sprintf("%s answers customers in %s without your approval, and was never examined: until then it may not judge its own sentences there.", model, chats),
			"multis models exam "+text.ShellWord(model)), nil
	}
	if err != nil {
		return Finding{}, err
	}
	card, err := exam.ReadCard(e.Card)
	if err != nil {
		return Finding{}, fmt.Errorf("%s: %w", model, err)
	}
	if card.Verdict != exam.MayNot {
		return Finding{}, nil
	}
	return newFinding(ModelUnfit, model, fmt.Sprintf("%s answers customers in %s without your approval, and %s.", model, chats, e.Summary),
		"multis config set llm.model PROVIDER/NAME   (one that passes; or approve each answer: /delivery draft and the chat, in the admin room)"), nil
}
