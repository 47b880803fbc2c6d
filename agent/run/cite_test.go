package run

import (
	"testing"

	"github.com/stretchr/testify/require"

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
