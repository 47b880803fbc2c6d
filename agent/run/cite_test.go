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
	a := &Attempt{Passages: []search.Hit{note}}
	_, ok := a.FindCitation(s)
	require.False(t, ok)
	a.Caller.Owner = true
	_, ok = a.FindCitation(s)
	require.True(t, ok)
}
