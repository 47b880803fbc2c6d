package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPromise_SaysNothingElse(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Let me check.", "Hi Ana, let me check that for you!", "one moment please", "I'll ask the team and get back to you",
		"Einen Moment bitte, ich frage nach", "Ich schau mal kurz nach 🙂",
		"Un instant, je vérifie.", "Un momento, lo consulto con el equipo", "Só um momento, vou verificar", "Un attimo, controllo subito",
		"Momentje, ik zoek het even uit", "Минутку, сейчас уточню", "Bir dakika, hemen bakıyorum", "لحظة من فضلك",
	} {
		t.Run(said, func(t *testing.T) {
			require.True(t, IsPromise(said, "Ana", "the team"), said)
		})
	}
	for _, said := range []string{
		"Yes.", "No", "Let me check: yes, we do.", "Hello Ana", "Thanks", "Checking in is at 14:00.",
		"We check that for 20 EUR.", "One moment costs nothing", "Ja, ich melde mich wenn das Rad fertig ist", "",
	} {
		t.Run(said, func(t *testing.T) {
			require.False(t, IsPromise(said, "Ana"), said)
		})
	}
}
