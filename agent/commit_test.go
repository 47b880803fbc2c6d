package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm"
	"multis/policy"
)

// Messages that are answered at once each have their own reason.
func TestEscalation_EachMessageHasItsReason(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	question := b.storeContactMessage("What does tuning an upright piano cost?", policy.ActionAnswer)
	person := b.storeContactMessage("a person please", policy.ActionEscalate)
	b.exec("update messages set received_at = received_at - interval '1 minute'")
	b.runTurn()
	require.Equal(t, "It asks for a person. I escalated it to you.", b.messageByID(person).Reason)
	require.Equal(t, "A message that came with it needs a person. I escalated it to you.", b.messageByID(question).Reason)
}

// A notice may be the automatic answer of a bot: told that a person will answer, it would answer that again.
func TestEscalation_TellsBotsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind string
		told int
	}{
		"a notice": {"notice", 0},
		"a text":   {"text", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, llm.None{})
			m := b.storeContactMessage("We are out of the office until Monday.", policy.ActionEscalate)
			b.exec("update messages set kind = $2, received_at = received_at - interval '1 minute' where id = $1", m, c.kind)
			b.runTurn()
			require.Len(t, b.queuedTexts(b.chat), c.told)
			require.Equal(t, 1, b.count("select count(*) from escalations"), "a person sees it")
			if c.told == 0 {
				require.Contains(t, b.messageByID(m).Reason, "I told the contact nothing, because a bot may have written it.")
			}
		})
	}
}
