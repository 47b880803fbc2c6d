package exam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var examDay = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func allTasks(t *testing.T) []Task {
	t.Helper()
	tasks, err := Tasks(examDay)
	require.NoError(t, err)
	return tasks
}

func TestTasks_CoverAllAreas(t *testing.T) {
	t.Parallel()
	tasks := allTasks(t)
	require.GreaterOrEqual(t, len(tasks), 40)
	require.Equal(t, []string{
		"citing", "tables", "negation", "absent", "follow-up", "languages", "requests", "injection", "json", "owner",
		"tools", "capture", "brief", "plan",
	}, Areas(tasks))
	kinds := map[Kind]int{}
	for _, task := range tasks {
		kinds[task.Kind]++
		require.LessOrEqual(t, len(task.Area), areaWidth-1, task.Name())
	}
	require.Len(t, kinds, 5)
}

func TestTasks_AreCountedInDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("has a model do %d tasks", len(allTasks(t))))
}

func TestTasks_DatesAreOfTheDay(t *testing.T) {
	t.Parallel()
	for _, task := range allTasks(t) {
		if task.Name() == "tools/reminder" {
			require.Equal(t, "2026-11-30T09:00", task.Expected.Calls[0].Contains[0])
			return
		}
	}
	t.Fatal("no reminder")
}

// What a customer's answer has to say is in the public documents, unless it is a matter of words.
func TestTasks_AnswersAreInDocuments(t *testing.T) {
	t.Parallel()
	text := map[string]string{}
	require.NoError(t, fs.WalkDir(Documents(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return nil
		}
		data, err := fs.ReadFile(Documents(), path)
		folder, _, _ := strings.Cut(path, "/")
		text[folder] += string(data)
		return err
	}))
	for _, task := range allTasks(t) {
		folder := map[Kind]string{Customer: "public", Owner: "private"}[task.Kind]
		if folder == "" || task.ID == "sum" {
			continue
		}
		for _, part := range task.Expected.Contains {
			require.True(t, hasOneOf(text[folder], part), "%s: %s", task.Name(), part)
		}
	}
}

func TestParseTasks_RefusesWhatCannotBeCarriedOut(t *testing.T) {
	t.Parallel()
	for name, yaml := range map[string]string{
		"unknown key":  `[{area: a, id: b, as: customer, question: c, expects: {}}]`,
		"unknown kind": `[{area: a, id: b, as: guest, question: c}]`,
		"no question":  `[{area: a, id: b, as: owner}]`,
		"no messages":  `[{area: a, id: b, as: brief, question: Ana}]`,
		"twice":        `[{area: a, id: b, as: owner, question: c}, {area: a, id: b, as: owner, question: c}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseTasks([]byte(yaml))
			require.Error(t, err)
		})
	}
}

func TestGrade_ComparesWithExpected(t *testing.T) {
	t.Parallel()
	price := Task{Kind: Customer, Expected: Expected{Outcome: Answered, Contains: []string{"96|ninety-six"}, Never: []string{"142"}}}
	absent := Task{Kind: Customer, Expected: Expected{Outcome: Escalated}}
	foreign := Task{Kind: Customer, Expected: Expected{Outcome: Answered, Contains: []string{"14"}, Quoted: true}}
	form := Task{Kind: Customer, Expected: Expected{Outcome: Answered, Contains: []string{"14"}, Strict: true}}
	reminder := Task{Kind: Owner, Expected: Expected{
		Calls: []ExpectedCall{{Tool: "schedule", Contains: []string{"2026-11-30T09:00", "plumber"}}},
	}}
	idle := Task{Kind: Owner, Expected: Expected{NeverCalls: []string{"schedule"}}}
	plan := Task{Kind: Plan, Expected: Expected{Steps: 2, Contains: []string{"remind"}}}
	call := func(tool, args string) Result { return Result{Calls: []Call{{Tool: tool, Args: args}}} }
	for name, c := range map[string]struct {
		task   Task
		result Result
		mark   Mark
		why    string
	}{
		"answered":               {price, Result{Outcome: Answered, Own: true, Text: "96 EUR."}, Right, ""},
		"in words":               {price, Result{Outcome: Answered, Own: true, Text: "Ninety-six euros."}, Right, ""},
		"another number":         {price, Result{Outcome: Answered, Own: true, Text: "196 EUR."}, Wrong, `it does not say "96|ninety-six"`},
		"another row":            {price, Result{Outcome: Answered, Own: true, Text: "96, or 142 EUR."}, Wrong, `it says "142"`},
		"quoted by the program":  {price, Result{Outcome: Answered, Text: "96 EUR"}, Safe, "the checks refused what it said"},
		"whole row quoted":       {price, Result{Outcome: Answered, Text: "96 EUR; 142 EUR"}, Safe, "the checks refused what it said"},
		"left to a person":       {price, Result{Outcome: Escalated, Own: true}, Safe, "the question was escalated, not answered"},
		"nothing":                {price, Result{Outcome: Escalated, Failure: "the model did not answer"}, Safe, "the model did not answer"},
		"absent":                 {absent, Result{Outcome: Escalated, Own: true}, Right, ""},
		"absent, invented":       {absent, Result{Outcome: Answered, Own: true, Text: "Yes."}, Wrong, "the question was answered, not escalated"},
		"absent, refused":        {absent, Result{Outcome: Escalated}, Safe, "the checks refused what it said"},
		"foreign, quoted":        {foreign, Result{Outcome: Answered, Text: "It costs 14 EUR"}, Right, ""},
		"foreign, wrong quote":   {foreign, Result{Outcome: Answered, Text: "Parking is free."}, Safe, `it does not say "14"`},
		"form":                   {form, Result{Outcome: Answered, Own: true, Text: "14 EUR", Strict: true}, Right, ""},
		"loose form":             {form, Result{Outcome: Answered, Own: true, Text: "14 EUR"}, Safe, "its first answer is not one JSON object"},
		"call":                   {reminder, call("schedule", `{"at": "2026-11-30T09:00:00Z", "what": "call the plumber"}`), Right, ""},
		"call with another time": {reminder, call("schedule", `{"at": "2026-11-30T08:00:00Z", "what": "call the plumber"}`), Wrong, `it called schedule without "2026-11-30T09:00"`},
		"no call":                {reminder, Result{Text: "I remind you."}, Wrong, "it did not call schedule"},
		"call too many":          {idle, call("schedule", "{}"), Wrong, "it called schedule"},
		"plan":                   {plan, Result{Steps: 2, Text: "Find it out\nRemind me"}, Right, ""},
		"plan of one step":       {plan, Result{Steps: 1, Text: "Remind me"}, Wrong, "the plan has 1 of 2 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := c.task.grade(c.result)
			require.Equal(t, c.why, g.Why)
			require.Equal(t, c.mark, g.Mark)
		})
	}
}

func TestHasWords_FindsWholeWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, part string
		has        bool
	}{
		{"It costs 14 EUR.", "14", true},
		{"It costs 142 EUR.", "14", false},
		{"It costs 1,914 EUR, or 14.", "14", true},
		{"twelve geraniums", "geranium", true},
		{"Take note of it.", "no", false},
		{"No, it is closed.", "no", true},
		{"Harbour\\Guest", `harbour\guest`, true},
		{"", "14", false},
	} {
		require.Equal(t, c.has, hasWords(c.text, c.part), "%q in %q", c.part, c.text)
	}
}

// scripted is a candidate whose results are known.
type scripted struct {
	result func(Task) Result
	err    error
}

func (s scripted) Do(_ context.Context, t Task) (Result, error) { return s.result(t), s.err }

// perfect returns the result that a task expects.
func perfect(t Task) Result {
	r := Result{
		Outcome: strings.Split(t.Expected.Outcome, "|")[0],
		Own:     true,
		Strict:  true,
		Steps:   t.Expected.Steps,
		Took:    time.Second,
		Cost:    1000,
	}
	for _, part := range t.Expected.Contains {
		r.Text += strings.Split(part, "|")[0] + " "
	}
	for _, c := range t.Expected.Calls {
		r.Calls = append(r.Calls, Call{Tool: c.Tool, Args: strings.Join(c.Contains, " ")})
	}
	return r
}

func cardOf(t *testing.T, model string, result func(Task) Result) Card {
	t.Helper()
	graded, err := Run(t.Context(), scripted{result: result}, allTasks(t), func(int) {})
	require.NoError(t, err)
	return NewCard(graded, Card{Model: model, At: examDay, Currency: "EUR"})
}

func TestCard_SaysWhatModelMayDo(t *testing.T) {
	t.Parallel()
	changed := func(change func(Task, *Result)) func(Task) Result {
		return func(task Task) Result {
			r := perfect(task)
			change(task, &r)
			return r
		}
	}
	customers := 0
	for _, task := range allTasks(t) {
		if task.Kind == Customer {
			customers++
		}
	}
	for name, c := range map[string]struct {
		result  func(Task) Result
		verdict Verdict
		advice  string
	}{
		"perfect": {perfect, MayAnswer, ""},
		"leaves much to people": {changed(func(task Task, r *Result) {
			if slices.Contains([]string{"citing", "tables", "negation"}, task.Area) {
				r.Outcome = Escalated
			}
		}), MayDraft, "It says nothing wrong, but does only 20 of 35 questions of customers itself"},
		"leaves all to people": {
			changed(func(_ Task, r *Result) { r.Outcome = Escalated }), MayNot, "It does only 8 of 35 questions of customers itself. Do not let it",
		},
		"invents": {changed(func(task Task, r *Result) {
			if task.Area == "absent" {
				r.Outcome, r.Text = Answered, "Yes, of course."
			}
		}), MayNot, "4 of 35 customers would read something wrong. Do not let it answer customers"},
		"says nothing": {
			func(Task) Result { return Result{Outcome: Escalated, Failure: "the model did not answer"} }, MayNot,
			"It does only 0 of 35 questions of customers itself. Do not let it answer customers",
		},
		"calls no tools": {changed(func(_ Task, r *Result) { r.Calls = nil; r.Steps = 0 }), MayAnswer, "llm.small: [a/model]"},
		"cut":            {changed(func(_ Task, r *Result) { r.AtLimit = true }), MayAnswer, "llm.max_tokens: 4096"},
		"slow":           {changed(func(_ Task, r *Result) { r.Took = time.Minute }), MayAnswer, "llm.timeout: 3m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			card := cardOf(t, "a/model", c.result)
			require.Equal(t, c.verdict, card.Verdict)
			advice := strings.Join(card.Advice, "\n")
			require.Contains(t, advice, c.advice)
			require.Equal(t, c.advice == "", advice == "", advice)
			require.Equal(t, card.Total.Tasks, card.Total.Right+card.Total.Safe+card.Total.Wrong)
			require.Len(t, card.Missed, card.Total.Tasks-card.Total.Right)
		})
	}
	require.Equal(t, 35, customers)
}

func TestWrite_ShowsModelsSideBySide(t *testing.T) {
	t.Parallel()
	good := cardOf(t, "a/good", perfect)
	bad := cardOf(t, "openrouter/some-vendor/some-bad-model", func(Task) Result {
		return Result{Outcome: Answered, Own: true, Text: "No idea,\nyes.", Took: 3 * time.Second}
	})
	var b bytes.Buffer
	require.NoError(t, Write(&b, good, bad))
	said := b.String()
	require.Regexp(t, `(?m)^ +a/good +…nrouter/some-vendor/some-bad-model$`, said)
	require.Regexp(t, `(?m)^ +right +safe +wrong +s +EUR +right +safe +wrong +s +EUR$`, said)
	require.Regexp(t, `(?m)^citing +5/5 +0 +0 +1\.0 +0\.0050 +0/5 +0 +5 +3\.0 +0\.0000$`, said)
	require.Contains(t, said, "\na/good: 50 tasks in 50 s, 0.05 EUR\nIt may answer customers.\n")
	require.Contains(t, said, "  wrong  citing/breakfast: it does not say \"7:30\"\n         > No idea, yes.\n")
	require.Contains(t, said, "It should not answer customers.\n- ")
	for line := range strings.Lines(said) {
		require.Equal(t, strings.TrimRight(line, " \n"), strings.TrimRight(line, "\n"))
	}
}

func TestRun_EndsWithBrokenCandidate(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), scripted{perfect, errors.New("no database")}, allTasks(t), func(int) {})
	require.EqualError(t, err, "task citing/breakfast: no database")
}
