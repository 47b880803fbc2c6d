package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/store/storetest"
)

const rehearsedPrices = `# Prices

The workshop opens at 9:00.

Tuning an upright piano costs 90 euro. Ask for a date in October.
`

// rehearseLines rehearses questions, a JSON object a line, over rehearsedPrices. It returns the replies by id.
func rehearseLines(t *testing.T, lines ...string) map[string]rehearsedReply {
	t.Helper()
	documents := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(documents, "prices.md"), []byte(rehearsedPrices), 0o600))
	questions, err := readQuestions(strings.NewReader(strings.Join(lines, "\n")), "test")
	require.NoError(t, err)
	cfg := offlineConfig(t)
	cfg.Chats.BurstQuiet = 0
	replies, err := rehearse(t.Context(), cfg, storetest.New(t), documents, questions)
	require.NoError(t, err)
	byID := map[string]rehearsedReply{}
	for _, r := range replies {
		byID[r.ID] = r
	}
	return byID
}

func TestRehearse_ShowsOutcome(t *testing.T) {
	t.Parallel()
	replies := rehearseLines(t,
		`{"id": "price", "text": "How much is tuning an upright piano?"}`,
		`{"id": "unknown", "text": "Do you repair violins?"}`,
		`{"id": "hello", "text": "Hello!"}`,
		`{"id": "thanks", "text": "thanks!", "after": ["When does the workshop open?"]}`,
	)
	require.Equal(t, outcomeAnswered, replies["price"].Outcome)
	require.Contains(t, replies["price"].Text, "costs 90 euro")
	require.Equal(t, "prices.md", replies["price"].Sources[0].Document)
	require.Contains(t, replies["price"].Sources[0].Quote, "costs 90 euro")
	require.Equal(t, outcomeEscalated, replies["unknown"].Outcome)
	require.Contains(t, replies["unknown"].Text, "check with the team")
	require.Equal(t, outcomeGreeted, replies["hello"].Outcome)
	require.Equal(t, outcomeAcknowledged, replies["thanks"].Outcome)
	require.Empty(t, replies["thanks"].Text)
}

func TestRehearse_KeepsConversationsApart(t *testing.T) {
	t.Parallel()
	line := `{"text": "How much is tuning an upright piano?"}`
	replies := rehearseLines(t, line, line, line)
	require.Len(t, replies, 3)
	for id, r := range replies {
		r.ID = replies["1"].ID
		require.Equal(t, replies["1"], r, id)
	}
}

func TestRehearse_ChecksExpectations(t *testing.T) {
	t.Parallel()
	answered := rehearsedReply{Outcome: outcomeAnswered, Text: "It costs 90 euro."}
	escalated := rehearsedReply{Outcome: outcomeEscalated, Text: "Let me check."}
	for expect, replies := range map[string]struct{ answered, escalated []string }{
		`null`: {},
		`{"outcome": "answered", "contains": ["90 EURO"]}`:           {escalated: []string{"outcome answered"}},
		`{"outcome": ["answered", "escalated"], "contains": ["90"]}`: {},
		`{"contains": ["120"]}`:                                      {[]string{`contains "120"`}, []string{`contains "120"`}},
		`{"outcome": ["escalated", "asked_back"], "never": ["90 euro"]}`: {answered: []string{
			"outcome escalated or asked_back",
			`never "90 euro"`,
		}},
	} {
		t.Run(expect, func(t *testing.T) {
			t.Parallel()
			var e *expectedReply
			require.NoError(t, json.Unmarshal([]byte(expect), &e))
			require.Equal(t, replies.answered, e.check(answered))
			require.Equal(t, replies.escalated, e.check(escalated))
		})
	}
}

func TestRehearse_PrintsReplies(t *testing.T) {
	t.Parallel()
	questions, err := readQuestions(strings.NewReader(`{"text": "Price?", "after": ["Hello"], "expect": {"outcome": "answered"}}`), "test")
	require.NoError(t, err)
	replies := []rehearsedReply{{
		ID:        "1",
		Outcome:   outcomeEscalated,
		Text:      "Let me check.",
		Sources:   []rehearsedQuote{},
		Proposals: []rehearsedProposal{},
		Reason:    "No document answers it.",
		Failed:    []string{"outcome answered"},
	}}
	var lines, table strings.Builder
	require.Equal(t, statusError(1), printReplies(&table, questions, replies, false))
	require.Equal(t, "1  Hello / Price?\n    escalated: No document answers it.\n    > Let me check.\n\nescalated     1\n\n"+
		"0 of 1 replies as expected.\n1                escalated    expected outcome answered\n\n", table.String())
	require.Equal(t, statusError(1), printReplies(&lines, questions, replies, true))
	require.JSONEq(t, `{"id": "1", "outcome": "escalated", "text": "Let me check.", "partial": false, "sources": [], "proposal": null, "proposals": [],
		"reason": "No document answers it.", "cost": 0, "failed": ["outcome answered"]}`, lines.String())
}

func TestRehearse_NamesBrokenLine(t *testing.T) {
	t.Parallel()
	for line, message := range map[string]string{
		`{"text": " "}`: "asked.jsonl, line 1: text is missing",
		`{"text": "Open?", "expect": {"outcome": 1}}`: "asked.jsonl, line 1: expect.outcome must be a text or a list of texts",
	} {
		_, err := readQuestions(strings.NewReader(line), "asked.jsonl")
		require.EqualError(t, err, message)
	}
}

func TestRehearse_NamesDocument(t *testing.T) {
	t.Parallel()
	for source, name := range map[string]string{
		"[prices.md › Pianos, line 3]":  "prices.md",
		"[list, page 2.pdf, pages 1-2]": "list, page 2.pdf",
		"[terms.txt]":                   "terms.txt",
	} {
		require.Equal(t, name, documentOf(source))
	}
}
