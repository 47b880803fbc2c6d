package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/catalog"
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

// In danger, a contact is told at once what to do, also if a person was promised before, and once only.
func TestEscalation_DangerIsToldOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	said := func(text string, code policy.Code) []string {
		m := b.storeContactMessage(text, policy.ActionEscalate)
		b.exec("update messages set code = $2, received_at = received_at - interval '1 minute' where id = $1", m, code)
		b.runTurn()
		return b.queuedTexts(b.chat)
	}
	danger := "[Nora] " + catalog.Texts{}.Text(catalog.Danger, catalog.English)
	require.NotContains(t, said("I want to speak to a person.", policy.CodeWantsHuman), danger)
	require.Contains(t, said("There is a smell of gas in the hall.", policy.CodeDanger), danger)
	require.Len(t, said("The smell of gas is stronger now.", policy.CodeDanger), 2, "the person and the danger, each once")
	require.Equal(t, 1, b.count("select count(*) from escalations where cause = 'danger'"))
}

// Danger decides about a turn, whatever else needs a person in it.
func TestEscalation_DangerGoesBeforeAll(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	gas := b.storeContactMessage("There is a smell of gas in the hall.", policy.ActionEscalate)
	b.exec("update messages set code = 'danger' where id = $1", gas)
	b.storeContactMessage("a person please", policy.ActionEscalate)
	b.exec("update messages set received_at = received_at - interval '1 minute'")
	b.runTurn()
	require.Equal(t, []string{"[Nora] " + catalog.Texts{}.Text(catalog.Danger, catalog.English)}, b.queuedTexts(b.chat))
	require.Equal(t, 1, b.count("select count(*) from escalations where cause = 'danger'"))
}
