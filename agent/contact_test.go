package agent

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

// A bad model: whatever it writes, the contact reads a right answer, the documents' own words, or that a person answers.
func TestContact_BadModelNeverSpeaks(t *testing.T) {
	t.Parallel()
	const quote = "Delivery costs 5 euro within the city."
	cited := `{"sentences": [{"text": "Delivery within the city costs 5 euro.", "cite": ["1.2"]}]}`
	for name, c := range map[string]struct{ said, want string }{
		"a line is cited":               {cited, "Delivery within the city costs 5 euro. (from Prices)"},
		"the number of the line is one": {strings.Replace(cited, `["1.2"]`, `1.2`, 1), "Delivery within the city costs 5 euro."},
		"thoughts before":               {"<think>{\"sentences\": []}</think>" + cited, "Delivery within the city costs 5 euro."},
		"own marks": {
			strings.Replace(cited, "Delivery within", "[Nora] Delivery within", 1),
			"[Nora] Delivery within the city costs 5 euro. (from Prices)",
		},
		"first letter small": {
			answerJSON("Delivery is 5 euro within the city.", 1, "delivery costs 5 euro"),
			"Delivery is 5 euro within the city.",
		},
		"quotation marks": {
			answerJSON("Delivery is 5 euro within the city.", 1, "“Delivery costs 5 euro”"),
			"Delivery is 5 euro within the city.",
		},
		"ellipsis": {
			answerJSON("Delivery is 5 euro within the city.", 1, "Delivery costs … within the city..."),
			"Delivery is 5 euro within the city.",
		},
		"bullet": {
			answerJSON("Delivery is 5 euro within the city.", 1, "- Delivery costs 5 euro"),
			"Delivery is 5 euro within the city.",
		},
		"number of another passage": {
			answerJSON("Delivery is 5 euro within the city.", 7, "Delivery costs 5 euro"),
			"Delivery is 5 euro within the city.",
		},
		"prose":   {"Delivery is free, of course.", quote},
		"nothing": {"", quote},
		"cut": {
			`{"sentences": [{"text": "Delivery within the city costs 5 euro.", "cite": ["1.2"]}, {"text": "On Sun`,
			quote,
		},
		"an invented yes":  {`{"sentences": [{"text": "Yes, delivery is free everywhere.", "cite": ["1.2"]}]}`, quote},
		"another currency": {`{"sentences": [{"text": "Delivery costs 5 forint within the city.", "cite": ["1.2"]}]}`, quote},
		"a sum":            {`{"sentences": [{"text": "Two deliveries within the city cost 10 euro.", "cite": ["1.2"]}]}`, quote},
		"a deed":           {`{"sentences": [{"text": "I have booked your delivery within the city.", "cite": ["1.2"]}]}`, quote},
		"half of it false": {`{"sentences": [{"text": "Delivery within the city costs 5 euro.", "cite": ["1.2"]},
			{"text": "Deliveries run on Sunday, too.", "cite": ["1.1"]}]}`, quote},
		"a line that does not exist": {strings.Replace(cited, "1.2", "9.9", 1), quote},
		"no sentence":                {`{"sentences": []}`, "check with the team"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply { return llmtest.Reply{Text: c.said} })
			b := setup(t, model)
			b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
			b.runTurn()
			require.Len(t, b.queuedTexts(b.chat), 1)
			require.Contains(t, b.queuedTexts(b.chat)[0], c.want)
			require.NotContains(t, b.queuedTexts(b.chat)[0], "{")
		})
	}
}

func TestContact_WrongAnswerIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	rounds := 0
	model, server := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		if rounds++; rounds == 1 {
			return llmtest.Reply{Text: `{"sentences": [{"text": "Delivery costs 6 euro within the city.", "cite": ["1.2"]}]}`}
		}
		return llmtest.Reply{Text: `{"sentences": [{"text": "Delivery costs 5 euro within the city.", "cite": ["1.2"]}]}`}
	})
	b := setup(t, model)
	b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, b.queuedTexts(b.chat)[0], "Delivery costs 5 euro within the city. (from Prices)")
	requests := server.Requests()
	require.Len(t, requests, 2)
	last := requests[1].Messages
	require.Contains(t, last[len(last)-1].Text, "sentence 1: “6")
}

// A sentence in other words than its source goes to the customer only if the judge says a clear yes.
func TestContact_JudgeDecidesOpenSentence(t *testing.T) {
	t.Parallel()
	const (
		free  = "A courier within the city is 5 euro."
		quote = "Delivery costs 5 euro within the city."
	)
	for name, c := range map[string]struct{ verdict, want string }{
		"yes":               {`{"verdicts": ["yes"]}`, free},
		"yes in prose":      {"Sure! {\"verdicts\": [\"Yes\"]}", free},
		"no":                {`{"verdicts": ["no"]}`, quote},
		"unclear":           {`{"verdicts": ["probably yes"]}`, quote},
		"prose":             {"Yes, all of it follows.", quote},
		"a verdict missing": {`{"verdicts": []}`, quote},
		"verdicts too many": {`{"verdicts": ["yes", "yes"]}`, quote},
		"nothing":           {"", quote},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, asked := scripted(t, llmtest.Say(`{"sentences": [{"text": "`+free+`", "cite": ["1.2"]}]}`))
			judge, judged := scripted(t, llmtest.Say(c.verdict))
			b := setup(t, model)
			b.agent.judge = judge
			b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
			b.runTurn()
			require.Contains(t, b.queuedTexts(b.chat)[0], c.want)
			require.Len(t, judged.Requests(), 1, "the same sentences are judged once")
			require.Contains(t, judged.Requests()[0].Messages[0].Text, free)
			require.Contains(t, judged.Requests()[0].Messages[0].Text, quote)
			require.Len(t, asked.Requests(), map[bool]int{true: 1, false: 2}[c.want == free], "a refused answer is asked for once more")
		})
	}
}

// By default the model that answers is the judge: of another request, which has nothing but the sentence and its lines.
func TestContact_ModelJudgesItself(t *testing.T) {
	t.Parallel()
	const free = "A courier within the city is 5 euro."
	model, asked := scripted(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.System, "You check sentences") {
			return llmtest.Say(`{"verdicts": ["yes"]}`)(ctx, r)
		}
		return llmtest.Say(`{"sentences": [{"text": "`+free+`", "cite": ["1.2"]}]}`)(ctx, r)
	})
	b := setup(t, model)
	b.agent.judgesSelf = func(context.Context, string, bool) (bool, error) { return true, nil }
	b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, b.queuedTexts(b.chat)[0], free)
	require.Len(t, asked.Requests(), 2)
	require.NotContains(t, asked.Requests()[1].System, "Nora")
}

// An answer in another language than the question is asked for once more.
func TestContact_AnswersInLanguageOfQuestion(t *testing.T) {
	t.Parallel()
	model, asked := scripted(t, inTurn(
		llmtest.Reply{Text: `{"sentences": [{"text": "Die Lieferung kostet in der Stadt 5 Euro, das ist der Preis.", "cite": ["1.2"]}]}`},
		llmtest.Reply{Text: `{"sentences": [{"text": "Delivery is 5 euro within the city.", "cite": ["1.2"]}]}`},
	))
	judge, _ := scripted(t, llmtest.Say(`{"verdicts": ["yes"]}`))
	b := setup(t, model)
	b.agent.judge = judge
	b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, b.queuedTexts(b.chat)[0], "Delivery is 5 euro within the city.")
	require.Len(t, asked.Requests(), 2)
	require.Contains(t, asked.Requests()[1].Last(), "write in the language of the question.")
}

// A model that may not judge itself is not asked: a sentence in other words is replaced by the document's.
func TestContact_UnfitModelJudgesNotItself(t *testing.T) {
	t.Parallel()
	for delivery, want := range map[policy.Delivery]string{
		policy.DeliveryAuto:  "Delivery costs 5 euro within the city.",
		policy.DeliveryDraft: "A courier within the city is 5 euro.",
	} {
		t.Run(string(delivery), func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
				if strings.Contains(r.System, "You check sentences") {
					return llmtest.Say(`{"verdicts": ["yes"]}`)(ctx, r)
				}
				return llmtest.Say(`{"sentences": [{"text": "A courier within the city is 5 euro.", "cite": ["1.2"]}]}`)(ctx, r)
			})
			b := setup(t, model)
			var asked []string
			b.agent.judgesSelf = func(_ context.Context, name string, isRead bool) (bool, error) {
				asked = append(asked, name)
				return isRead, nil
			}
			require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
				return store.SetDelivery(t.Context(), tx, b.chat.ID, delivery)
			}))
			b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
			b.runTurn()
			require.Equal(t, []string{model.Name()}, asked)
			sent := slices.Concat(b.queuedTexts(b.chat), b.draftsFor(b.chat.ID))
			require.Len(t, sent, 1)
			require.Contains(t, sent[0], want)
		})
	}
}

func TestContact_JudgeThatFailsRefuses(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, llmtest.Say(`{"sentences": [{"text": "A courier within the city is 5 euro.", "cite": ["1.2"]}]}`))
	judge, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply { return llmtest.Reply{Status: 400} })
	b := setup(t, model)
	b.agent.judge = judge
	b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, b.queuedTexts(b.chat)[0], "Delivery costs 5 euro within the city.")
}

// A judge that says yes to everything lets nothing pass that a fact contradicts, because he is not asked about it.
func TestContact_JudgeOverrulesNoFact(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"number":          "A courier within the city is 6 euro.",
		"currency":        "A courier within the city is 5 forint.",
		"denial":          "Delivery does not cost 5 euro within the city.",
		"deed":            "I have arranged a courier within the city.",
		"free":            "A courier within the city is free.",
		"half of it true": "A courier within the city is 5 euro, on Sunday too.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, llmtest.Say(`{"sentences": [{"text": "`+said+`", "cite": ["1.2"]}]}`))
			judge, judged := scripted(t, llmtest.Say(`{"verdicts": ["yes"]}`))
			b := setup(t, model)
			b.agent.judge = judge
			b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
			b.runTurn()
			require.NotContains(t, b.queuedTexts(b.chat)[0], "courier")
			require.NotContains(t, b.queuedTexts(b.chat)[0], "not cost")
			require.Empty(t, judged.Requests())
		})
	}
}

// An attempt after a crash, and a replay, read the stored verdict.
func TestContact_VerdictIsAStep(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, llmtest.Say(`{"sentences": [{"text": "A courier within the city is 5 euro.", "cite": ["1.2"]}]}`))
	judge, judged := scripted(t, llmtest.Say(`{"verdicts": ["yes"]}`))
	b := setup(t, model)
	b.agent.judge = judge
	b.storeContactMessage("What does delivery cost within the city?", policy.ActionAnswer)
	b.runTurn()
	var task store.TaskID
	require.NoError(t, b.store.Pool().QueryRow(t.Context(), "select max(id) from tasks").Scan(&task))
	replayed, err := b.agent.Replays.replay(t.Context(), task, nil)
	require.NoError(t, err)
	require.Empty(t, replayed.Difference)
	require.Empty(t, replayed.Incomplete)
	require.Contains(t, replayed.Answer, "A courier")
	require.Len(t, judged.Requests(), 1)
}

func TestContact_FollowUpReachesModel(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(`{"sentences": [{"text": "A grand piano costs 120 euro.", "cite": ["1.2"]}]}`))
	b := setup(t, model)
	b.storeExchange("What does tuning an upright piano cost?", "Tuning an upright piano costs 90 euro.")
	b.storeContactMessage("Und für einen Flügel?", policy.ActionAnswer)
	b.runTurn()
	requests := server.Requests()
	require.NotEmpty(t, requests, "the model is asked, though no document has these words")
	require.Contains(t, requests[0].Messages[0].Text, "1.2 | A grand piano costs 120 euro.", "what was asked before finds the passage")
}
