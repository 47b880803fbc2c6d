package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

func TestAnswers_ListLearnedWords(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	chunk := r.count("select id from chunks where content like '%5 euro%'")
	r.exec("insert into learned_words (chunk_id, quote, words, asks) values ($1, 'Delivery costs 5 euro within the city.', '{bring,courier}', 'price')", chunk)
	listed := r.asOwner("/answers")
	require.Contains(t, listed, "`W1` “bring courier” → ")
	require.Contains(t, listed, "prices.md › Delivery, line 3")
	require.Contains(t, r.asOperator("/answers remove W1"), "Only the owner can use")
	require.Equal(t, "Deleted.", r.asOwner("/answers remove W1"))
	require.Contains(t, r.asOwner("/answers"), "There are none yet.")
	require.Contains(t, r.asOwner("/answers remove W1"), "Which one?")
}
