package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/policy"
)

// What stands under an answer without a citation says where it is from, and nothing stands under talk.
func TestOwnerAnswer_SaysWhereItIsFrom(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ asked, said, want string }{
		"thanks":        {"thank you!", answerJSON("You are welcome.", 0, ""), "You are welcome."},
		"own knowledge": {"who wrote Faust?", answerJSON("Goethe.", 0, ""), "Goethe.\n\n(Not from your documents or chats.)"},
		"a failed quote": {
			"what does a grand piano cost?", answerJSON("It is free.", 1, "free of charge"),
			"It is free.\n\n(I could not match this to a passage.)",
		},
		"a failed line": {
			"what does a grand piano cost?", `{"sentences": [{"text": "It is free.", "cite": ["1.9"]}]}`,
			"It is free.\n\n(I could not match this to a passage.)",
		},
		"a multiple": {
			"what do two grand pianos cost?", answerJSON("Two are 240 euro.", 1, "A grand piano costs 120 euro"), "Two are 240 euro. [1]",
		},
		"a sum":       {"what do both cost?", answerJSON("Both are 210 euro.", 1, "A grand piano costs 120 euro"), "Both are 210 euro. [1]"},
		"a wrong sum": {"what do both cost?", answerJSON("Both are 200 euro.", 1, "A grand piano costs 120 euro"), "(I could not match"},
		"a note":      {"what is the barrier code?", answerJSON("The barrier code is 4471.", 0, ""), "(From your notes.)"},
		"a list": {
			"list the pianos", `{"sentences": [{"text": "Prices:\n- upright\n- grand", "source": 0, "quote": ""}]}`,
			"Prices:\n\n* upright\n* grand",
		},
		"an item a sentence": {"list the pianos", `{"sentences": [{"text": "- upright"}, {"text": "- grand"}]}`, "* upright\n* grand"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, _ := scripted(t, llmtest.Say(c.said))
			b := setup(t, model)
			b.note(policy.RoleAdmin, b.admin.ID, "The barrier code is 4471.")
			answer := b.ask(c.asked)
			require.Contains(t, answer, c.want)
			if !strings.Contains(c.want, "(") {
				require.NotContains(t, answer, "(I could")
				require.NotContains(t, answer, "(Not from")
			}
		})
	}
}

func TestPlan_TakesStepsAsTexts(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.System, "Break the goal") {
			return llmtest.Reply{Text: `{"steps": ["look at the prices", "write them down"]}`}
		}
		return llmtest.Reply{Text: answerJSON("Done.", 0, "")}
	})
	b := setup(t, model)
	b.plan("compare the prices")
	steps := b.children()
	require.Len(t, steps, 2)
	require.Equal(t, "look at the prices", steps[0].Input)
}
