package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/ops/exam"
	"multis/policy"
	"multis/store/storetest"
)

func TestSelfJudge_ExamDecides(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	cfg := offlineConfig(t)
	for model, verdict := range map[string]exam.Verdict{"a/strong": exam.MayAnswer, "a/careful": exam.MayDraft, "a/weak": exam.MayNot} {
		require.NoError(t, storeCard(t.Context(), st, exam.Card{Model: model, Verdict: verdict}))
	}
	may := (&assistant{cfg: cfg, store: st}).selfJudge()
	for model, want := range map[string][2]bool{ // whether nobody, or somebody, reads the answer before it is sent
		"a/strong":                 {true, true},
		"a/careful":                {true, true},
		"a/weak":                   {false, false},
		"a/new":                    {false, true},
		"a/strong, else a/careful": {true, true},
		"a/strong, else a/new":     {false, true},
		"a/strong, else a/weak":    {false, false},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			for i, isRead := range []bool{false, true} {
				ok, err := may(t.Context(), model, isRead)
				require.NoError(t, err)
				require.Equal(t, want[i], ok, isRead)
			}
		})
	}
}

func TestSelfJudge_RehearsalGoesByDelivery(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	for delivery, want := range map[policy.Delivery]bool{policy.DeliveryDraft: true, policy.DeliveryAuto: false} {
		cfg := offlineConfig(t)
		cfg.Chats.FirstDelivery = delivery
		as := &assistant{cfg: cfg, store: st}
		as.front.rehearsing = true
		ok, err := as.selfJudge()(t.Context(), "a/new", false)
		require.NoError(t, err)
		require.Equal(t, want, ok, delivery)
	}
}

func TestSelfJudge_OtherJudgeIsAskedAlways(t *testing.T) {
	t.Parallel()
	cfg := offlineConfig(t)
	for _, judge := range []string{config.NoModel, "a/judge"} {
		cfg.Answers.Judge = judge
		require.Nil(t, (&assistant{cfg: cfg}).selfJudge())
	}
}
