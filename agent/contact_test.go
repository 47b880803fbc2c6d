package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/policy"
)

// A bad model: whatever it writes, the contact reads a right answer, the documents' own words, or that a person answers.
func TestContact_BadModelNeverSpeaks(t *testing.T) {
	t.Parallel()
	const quote = "Delivery costs 5 euro within the city."
	cited := `{"sentences": [{"text": "Delivery within the city costs 5 euro.", "cite": ["1.2"]}]}`
	for name, c := range map[string]struct{ said, want string }{
		"a line is cited":               {cited, "Delivery within the city costs 5 euro. (from prices.md)"},
		"the number of the line is one": {strings.Replace(cited, `["1.2"]`, `1.2`, 1), "Delivery within the city costs 5 euro."},
		"thoughts before":               {"<think>{\"sentences\": []}</think>" + cited, "Delivery within the city costs 5 euro."},
		"own marks": {
			strings.Replace(cited, "Delivery within", "[Nora] Delivery within", 1),
			"[Nora] Delivery within the city costs 5 euro. (from prices.md)",
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
	require.Contains(t, b.queuedTexts(b.chat)[0], "Delivery costs 5 euro within the city. (from prices.md)")
	requests := server.Requests()
	require.Len(t, requests, 2)
	last := requests[1].Messages
	require.Contains(t, last[len(last)-1].Text, "sentence 1: “6")
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
