package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/llm/llmtest"
	"multis/ops/exam"
	"multis/store"
	"multis/store/storetest"
)

// examined examines a scripted model with the tasks of some areas; all without any.
func examined(t *testing.T, script llmtest.Script, areas ...string) (exam.Card, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(t, script)
	cfg := offlineConfig(t)
	cfg.LLM.Providers = map[string]config.Provider{"test": {Type: "openai", BaseURL: server.URL, APIKey: "key"}}
	cfg.LLM.Prices = []config.Price{{Model: "test/model", In: 1_000_000, Out: 2_000_000}}
	own, err := examConfig(cfg, "test/model", t.TempDir(), 100_000_000)
	require.NoError(t, err)
	tasks, err := examModelsCmd{Only: areas}.tasks(time.Now().In(cfg.TimeZone))
	require.NoError(t, err)
	card, err := examineIn(t.Context(), own, storetest.New(t), tasks)
	require.NoError(t, err)
	return card, server
}

// lineWith returns the number of the line of a passage with a text, as a prompt shows it.
func lineWith(prompt, text string) string {
	found := regexp.MustCompile(`(?m)^(\d+\.\d+) \| .*` + regexp.QuoteMeta(text)).FindStringSubmatch(prompt)
	if found == nil {
		return "0.0"
	}
	return found[1]
}

// knowing returns a script that knows the answers to some questions: each is a sentence and a part of the line that proves
// it, or a tool and its arguments. It answers other questions with no sentences.
func knowing(answers map[string][2]string, calls map[string]llmtest.Call) llmtest.Script {
	return func(_ context.Context, r llmtest.Request) llmtest.Reply {
		prompt := ""
		for _, m := range r.Messages {
			prompt += m.Text + "\n"
		}
		hasCalled := r.Messages[len(r.Messages)-1].Role == "tool"
		_, question, _ := strings.Cut(prompt, "question to answer\n")
		for asked, call := range calls {
			if strings.HasPrefix(question, asked) && !hasCalled {
				return llmtest.Reply{Calls: []llmtest.Call{call}}
			}
		}
		for asked, answer := range answers {
			if !strings.HasPrefix(question, asked) {
				continue
			}
			raw, err := json.Marshal(map[string]any{
				"sentences": []map[string]any{{"text": answer[0], "cite": []string{lineWith(prompt, answer[1])}}},
				"open":      "",
			})
			if err != nil {
				return llmtest.Reply{Status: 500}
			}
			return llmtest.Reply{Text: string(raw)}
		}
		if hasCalled {
			return llmtest.Reply{Text: `{"sentences": [{"text": "Done.", "cite": []}]}`}
		}
		return llmtest.Reply{Text: `{"sentences": [], "open": ""}`}
	}
}

func TestExam_GoodModelPasses(t *testing.T) {
	t.Parallel()
	tomorrow := time.Now().In(localZone()).AddDate(0, 0, 1)
	at := time.Date(tomorrow.Year(), tomorrow.Month(), tomorrow.Day(), 9, 0, 0, 0, localZone()).Format(time.RFC3339)
	script := knowing(map[string][2]string{
		"What does the double room": {"The double room with lake view costs 96 EUR in low season.", "lake view"},
		"How much is the family":    {"The family room costs 189 EUR in high season.", "Family room"},
		"How much is a kayak":       {"A kayak costs 34 EUR for a whole day.", "Kayak"},
		"Which deposit":             {"The deposit for the motor boat is 200 EUR.", "Motor boat"},
		"What do I pay for the row": {"The rowing boat costs 26 EUR for half a day.", "Rowing boat"},
		"And in high season?":       {"The double room with lake view costs 142 EUR in high season.", "lake view"},
		"When is breakfast":         {"Breakfast is served from 7:30 to 10:00.", "7:30"},
		"And how much is it?":       {"Breakfast costs 14 EUR per person.", "14 EUR"},
		"And for half a day?":       {"A kayak costs 21 EUR for half a day.", "Kayak"},
		"Is there parking":          {"There are eight parking spaces behind the house.", "eight parking"},
		"Does it cost anything?":    {"Parking is free for guests.", "Parking is free"},
		"When does the lease":       {"The lease ends on 30 June 2027.", "30 June 2027"},
	}, map[string]llmtest.Call{
		"Does it cost":  {Name: "search_docs", Args: `{"query": "parking"}`},
		"Remind me":     {Name: "schedule", Args: fmt.Sprintf(`{"do": "set", "at": %q, "what": "call the plumber"}`, at)},
		"Which reminde": {Name: "schedule", Args: `{"do": "list"}`},
		"Remember":      {Name: "remember", Args: `{"note": "the fuse box is behind the kitchen door"}`},
		"Tell Ben":      {Name: "message_contact", Args: `{"chat": "Ben", "text": "I will be ten minutes late."}`},
	})
	card, server := examined(t, script, "tables", "absent", "follow-up", "tools")
	require.Empty(t, card.Missed)
	require.Equal(t, exam.MayAnswer, card.Verdict)
	require.Equal(t, 17, card.Total.Right)
	require.Positive(t, card.Total.Cost)
	require.Equal(t, "test/model", card.Model)
	names := map[string]bool{}
	for _, r := range server.Requests() {
		for _, tool := range r.Tools {
			names[tool.Name] = true
		}
	}
	require.True(t, names["escalate"] && names["message_contact"], "customers and the owner are answered with their own tools")
}

func TestExam_BadModelFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]llmtest.Script{
		"says yes": llmtest.Say("Yes, of course! I have arranged everything for you."),
		"invents":  llmtest.Say(`{"sentences": [{"text": "It costs 5 EUR.", "cite": ["1.1"]}]}`),
		"silent":   llmtest.Say(""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			card, _ := examined(t, script)
			require.Equal(t, exam.MayNot, card.Verdict)
			require.Less(t, card.Total.Right, card.Total.Tasks/4)
			for _, m := range card.Missed {
				if slices.Contains([]string{"citing", "tables", "absent"}, strings.SplitN(m.Task, "/", 2)[0]) {
					require.Equal(t, exam.Safe, m.Mark, "the checks keep it from customers: %+v", m)
				}
			}
			require.NotEmpty(t, card.Advice)
		})
	}
}

func TestExam_IsPaidAndStored(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Say(`{"sentences": []}`))
	dsn := storetest.DSN(t)
	settings := fmt.Sprintf("\nllm: {model: one/model, base_url: %q, api_key: key, prices: [one/model 1 2, two/model 1 2], providers: {two: {base_url: %q, api_key: key}}}\n",
		server.URL, server.URL)
	dir := configured(t, dsn, settings+"budget: {per_day: 100}\n")
	st, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(st.Close)

	said, complaint, err := program(t, dir, "", "models", "exam", "--only", "absent,citing")
	require.NoError(t, err, complaint)
	require.Contains(t, complaint, "Examining one/model: 9 tasks, about ")
	require.Regexp(t, `(?m)^absent +4/4 +0 +0 `, said)
	require.Regexp(t, `(?m)^citing +0/5 +5 +0 `, said)
	require.Contains(t, said, "It should not answer customers.\n- It does only 4 of 9 questions of customers itself.")
	_, err = store.ModelExamOf(t.Context(), st.DB(), "one/model")
	require.ErrorIs(t, err, store.ErrNotFound, "a part of the exam is not stored")
	spent, err := store.Spent(t.Context(), st.DB(), time.Now().UTC().Format(time.DateOnly), 0)
	require.NoError(t, err)
	require.Positive(t, spent, "it is paid from the budget")
	require.Less(t, spent, int64(1_000_000), "and what was reserved is given back")

	said, complaint, err = program(t, dir, "", "models", "exam", "one/model", "two/model", "--json")
	require.NoError(t, err, complaint)
	lines := strings.Split(strings.TrimSpace(said), "\n")
	require.Len(t, lines, 2)
	for i, name := range []string{"one/model", "two/model"} {
		var card exam.Card
		require.NoError(t, json.Unmarshal([]byte(lines[i]), &card))
		require.Equal(t, name, card.Model)
		stored, err := store.ModelExamOf(t.Context(), st.DB(), name)
		require.NoError(t, err)
		require.Equal(t, card.Summary(), stored.Summary)
	}

	_, complaint, err = program(t, configured(t, dsn, settings+"budget: {per_day: 0.01}\n"), "", "models", "exam")
	require.Error(t, err)
	require.Contains(t, complaint, "one/model: today's budget is used up; raise budget.per_day")
	_, complaint, err = program(t, dir, "", "models", "exam", "--only", "nonsense")
	require.Error(t, err)
	require.Contains(t, complaint, `there is no area "nonsense"; there are citing, tables`)
}
