package main

import (
	"context"
	"errors"
	"strings"

	"multis/config"
	"multis/llm"
	"multis/ops/exam"
	"multis/policy"
	"multis/store"
)

// selfJudge returns which models may judge their own answers to contacts; nil if answers.judge is another model, or none. A
// rehearsal sends nothing and knows no exam: there the delivery of new chats decides.
func (a *assistant) selfJudge() func(ctx context.Context, model string, isRead bool) (bool, error) {
	if a.cfg.Answers.Judge != config.AgentModel {
		return nil
	}
	return func(ctx context.Context, models string, isRead bool) (bool, error) {
		if a.front.rehearsing {
			isRead = a.cfg.Chats.FirstDelivery != policy.DeliveryAuto
		}
		for model := range strings.SplitSeq(models, llm.NextModel) {
			verdict, err := verdictOn(ctx, a.store, model)
			if err != nil {
				return false, err
			}
			if !verdict.MayJudge(isRead) {
				return false, nil
			}
		}
		return true, nil
	}
}

// verdictOn returns the verdict of a model's exam; empty if it was never examined.
func verdictOn(ctx context.Context, st *store.Store, model string) (exam.Verdict, error) {
	e, err := store.ModelExamOf(ctx, st.DB(), model)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	card, err := exam.ReadCard(e.Card)
	return card.Verdict, err
}
