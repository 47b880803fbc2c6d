package run

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

func TestCite_NoteToOwnerOnly(t *testing.T) {
	t.Parallel()
	note := search.Hit{
		Ref:  store.ChunkRef(7),
		Role: policy.UserRole(1),
		Kind: index.KindConversation,
		Text: "Grand piano tuning costs 1 euro.",
	}
	s := Sentence{Text: "It costs 1 euro.", Source: 1, Quote: note.Text}
	a := &Evidence{Passages: []search.Hit{note}}
	_, ok := a.FindCitation(s)
	require.False(t, ok)
	a.Caller.Owner = true
	_, ok = a.FindCitation(s)
	require.True(t, ok)
}

func TestUnitNumbers_InFormsOfModels(t *testing.T) {
	t.Parallel()
	for cited, want := range map[string][]string{
		"1.3":                        {"1.3"},
		"[1.3]":                      {"1.3"},
		" [1.3, 1.4]":                {"1.3", "1.4"},
		"1.3; 2.1":                   {"1.3", "2.1"},
		"[1.3], [1.4]":               {"1.3", "1.4"},
		"passage 1.3":                {"1.3"},
		"1.3 | Breakfast: 7.30 €":    {"1.3"},
		"1.10":                       {"1.10"},
		"1":                          {"1"},
		"The breakfast from 7.30 is": {"The breakfast from 7.30 is"},
	} {
		t.Run(cited, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, unitNumbers([]string{cited}))
		})
	}
}

func TestCite_TogetherBySeveral(t *testing.T) {
	t.Parallel()
	a := &Evidence{Passages: []search.Hit{
		{Ref: store.ChunkRef(1), Role: policy.RolePublic, Kind: index.KindKnowledge, Text: "The brass fitting costs $190."},
		{Ref: store.ChunkRef(2), Role: policy.RolePublic, Kind: index.KindKnowledge, Text: "The steel fitting costs $175."},
	}}
	a.Caller.Owner = true
	for said, want := range map[string]bool{
		"Brass is $190, against $175 for steel.": true,
		"Brass is $190, against $170 for steel.": false,
		"Brass is $15 more than steel.":          true,
	} {
		_, ok := a.FindCitation(Sentence{Text: said, Cite: []string{"1.1", "2.1"}})
		require.Equal(t, want, ok, said)
	}
	_, ok := a.FindCitation(Sentence{Text: "Brass is $190, against $175 for steel.", Cite: []string{"1.1"}})
	require.False(t, ok)
}

// A line that limits the cited one belongs to it, wherever the answer says it.
func TestProve_KeepsLimitBeside(t *testing.T) {
	t.Parallel()
	a := &Evidence{Question: "what is the kayak for 2 hours?", Passages: []search.Hit{{
		Ref:  store.ChunkRef(1),
		Role: policy.RolePublic,
		Kind: index.KindKnowledge,
		Text: "- Kayak, 2 hours: 25 EUR\n- Only from May to September\n- Canoe, 2 hours: 40 EUR",
	}}}
	kayak := Sentence{Text: "The kayak is 25 EUR for 2 hours.", Cite: []string{"1.1"}}
	_, gap := a.Prove(kayak)
	require.Contains(t, gap, "“Only from May to September”")
	_, gap = a.Prove(Sentence{Text: "The canoe is 40 EUR for 2 hours.", Cite: []string{"1.3"}})
	require.Empty(t, gap)
	_, gap = a.Prove(Sentence{Text: "The kayak is 25 EUR for 2 hours, only from May to September.", Cite: []string{"1.1", "1.2"}})
	require.Empty(t, gap)
	_, found := a.examine(kayak, []Sentence{kayak, {Text: "It is only from May to September.", Cite: []string{"1.2"}}})
	require.Empty(t, found.Reason)
}

// A title that denies is a part of each line under it, in Markdown and in plain text.
func TestProve_KeepsDenyingTitle(t *testing.T) {
	t.Parallel()
	const lines = "Bodywork and painting (we know a colleague), windscreens, upholstery."
	const list = "- Bodywork and painting\n- Windscreens"
	for name, c := range map[string]struct {
		section, text string
		unit          int
	}{
		"heading":          {"What we do not do", lines, 1},
		"heading further":  {"What we do not do" + search.SectionSeparator + "Repairs", lines, 1},
		"line in capitals": {"", "OPENING HOURS\nMonday to Friday 8 to 5\n\nWHAT WE DON'T DO\n" + lines, 4},
		"blank":            {"", "What we do not do\n\n" + lines, 2},
		"first item":       {"", "We do not do:\n" + list, 2},
		"list in brackets": {"What we do not do", "Bodywork and painting.\n(windscreens, upholstery and all that is glass)", 2},
		"last item":        {"", "What we do\n\n- Windscreens of cars\n\nWhat we do not do\n\n" + list, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hit := search.Hit{Section: c.section, Text: c.text}
			hit.Ref = store.ChunkRef(1)
			hit.Role = policy.RolePublic
			hit.Kind = index.KindKnowledge
			a := &Evidence{Question: "do you do bodywork?", Passages: []search.Hit{hit}}
			cite := []string{fmt.Sprintf("1.%d", c.unit)}
			for _, said := range []string{"Yes, we do bodywork and painting.", "We do windscreens.", "We do not do bodywork and painting.", lines} {
				_, gap := a.Prove(Sentence{Text: said, Cite: cite})
				require.NotEmpty(t, gap, said)
			}
		})
	}
}

// A line that only happens to deny is no title of the next paragraph.
func TestProve_TakesFewTitles(t *testing.T) {
	t.Parallel()
	for text, said := range map[string]string{
		"Closed on public holidays\n\nMonday to Friday 8 to 5.":               "We are open Monday to Friday 8 to 5.",
		"What we do not do\n\n- Bodywork\n\nWhat we do\n\n- Tyres for cars":   "We do tyres for cars.",
		"What we do not do\n\nBodywork.\n(Small dents in a door we do mend.)": "We do mend small dents in a door.",
	} {
		hit := search.Hit{Ref: store.ChunkRef(1), Role: policy.RolePublic, Kind: index.KindKnowledge, Text: text}
		last := knowledge.Units(text)
		a := &Evidence{Question: "when, and what?", Passages: []search.Hit{hit}}
		_, gap := a.Prove(Sentence{Text: said, Cite: []string{fmt.Sprintf("1.%d", len(last))}})
		require.NotContains(t, gap, "stands above", text)
	}
}
