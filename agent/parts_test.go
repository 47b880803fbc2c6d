package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/catalog"
	"multis/llm"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestParts_EachQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	const delivery, piano, bicycles, team = "Delivery costs 5 euro within the city.", "Tuning an upright piano costs 90 euro.", "Do you sell bicycles?", "[Nora] Let me check with the team and get back to you."
	require.Equal(t, team, "[Nora] "+catalog.Texts{}.Text(catalog.Escalated, catalog.English))
	for name, c := range map[string]struct {
		asked     []string
		contains  []string
		escalated bool
	}{
		"in two messages": {
			[]string{"How much is delivery?", "What does tuning an upright piano cost?"},
			[]string{delivery, piano},
			false,
		},
		"in one message": {
			[]string{"How much is delivery? And what does tuning an upright piano cost? Thanks"},
			[]string{delivery, piano},
			false,
		},
		"without a question mark": {
			[]string{"how much is delivery", "what does tuning an upright piano cost"},
			[]string{delivery, piano},
			false,
		},
		"one that no document answers":   {[]string{"How much is delivery?", bicycles}, []string{delivery}, true},
		"the other one comes first":      {[]string{bicycles, "How much is delivery?"}, []string{delivery}, true},
		"one question over two messages": {[]string{"I have an upright piano", "what does tuning cost?"}, []string{piano}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, llm.None{})
			var ids []store.MessageID
			for _, asked := range c.asked {
				ids = append(ids, b.storeContactMessage(asked, policy.ActionAnswer))
			}
			b.runTurn()
			said := b.queuedTexts(b.chat)
			for _, part := range c.contains {
				require.Contains(t, said[0], part)
			}
			require.Contains(t, said[0], "(from Prices)")
			if c.escalated {
				require.Equal(t, team, said[1])
			} else {
				require.Len(t, said, 1)
			}
			require.Equal(t, c.escalated, storetest.Count(t, b.store, "select count(*) from escalations where cause = 'no_answer'") == 1)
			require.Zero(t, storetest.Count(t, b.store, "select count(*) from messages where chat_id = $1 and answered_at is null", b.chat.ID))
			require.Zero(t, storetest.Count(t, b.store, "select count(*) from messages where reason like '%bicycles%'")+
				storetest.Count(t, b.store, "select count(*) from escalations where reason like '%bicycles%'"),
				"a reason stays when a message is deleted")
			out, err := store.OutboxMessageByID(context.Background(), b.store.DB(), *b.messageByID(ids[0]).OutboxID)
			require.NoError(t, err)
			require.Equal(t, policy.PurposeReply, out.Purpose, "/why shows the answer")
		})
	}
}

func TestParts_ManyLinesAreOneQuestion(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"do you ship?", "where are you?"}, splitQuestions("hi\ndo you ship?\nwhere are you?"))
	long := strings.Repeat("hi\n", 20_000) + "do you ship?\nwhere are you?"
	require.Equal(t, []string{long}, splitQuestions(long))
}

func TestParts_DraftAnswersAllOrNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		return store.SetDelivery(context.Background(), tx, b.chat.ID, policy.DeliveryDraft)
	}))
	b.storeContactMessage("How much is delivery?", policy.ActionAnswer)
	b.storeContactMessage("Do you sell bicycles?", policy.ActionAnswer)
	b.runTurn()
	require.Zero(t, storetest.Count(t, b.store, "select count(*) from outbox where chat_id = $1 and purpose = 'reply'", b.chat.ID))
	require.Equal(t, 1, storetest.Count(t, b.store, "select count(*) from escalations where proposals::text like '%Delivery costs 5 euro%'"),
		"a person may send the part that is known")
	require.Equal(t, 1, storetest.Count(t, b.store, "select jsonb_array_length(proposals) from escalations"), "what it rests on is shown once")
}
