package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsDanger_NeedsPersonNow(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"hi there's a strong gas smell in room 12", "My knee hurts so badly since the massage", "she fainted in the sauna!!",
		"SMOKE is coming out of the dryer, full of smoke here",
		"im stuck in the lift with my kid. what do we do?", "Hallo, im Flur riecht es nach Gas", "Mein Kind blutet am Kopf",
		"hab seit gestern starke Schmerzen nach der Füllung",
		"mi hija no puede respirar bien", "huele a quemado en el enchufe", "hay mucho humo en el pasillo",
		"J'ai très mal aux dents depuis hier", "ça sent le gaz dans la cuisine",
		"il mio dente mi fa malissimo, ho un dolore forte", "c'è puzza di gas nella stanza", "o meu filho engasgou-se",
		"está a cheirar a gás na cozinha",
		"mijn hond heeft gif gegeten", "er is brand in de keuken", "w kuchni czuć gaz", "bardzo boli mnie ząb",
		"в подвале пахнет газом", "у меня сильно болит зуб",
		"mutfakta gaz kokusu var", "dişim çok ağrıyor", "في رائحة غاز بالمطبخ", "ابني لا يتنفس",
	} {
		require.True(t, IsDanger(message), message)
	}
	for _, message := range []string{
		"", "?", "Does the treatment hurt?", "do you have a fire exit", "Is there smoke in the bar?", "How much is a gas bottle",
		"I broke my leg last year, can I still join",
		"my wallet hurts when I see that price", "Tut das Piercing weh?", "Was kostet eine Gasflasche",
		"combien coûte le pain complet", "Je voudrais deux pains au chocolat",
		"¿duele la depilación?", "la factura está mal", "quanto costa la bombola del gas", "doet het pijn?", "czy to boli",
		"сколько стоит больничная карта", "canım çok sıkıldı",
		"thanks, all good now", "the room was dirty and the heating is broken", strings.Repeat("a ", 5000),
	} {
		require.False(t, IsDanger(message), message)
	}
}

// Danger is said before a keyword or the wish for a person, because the card and the contact's text differ.
func TestAdmit_DangerComesFirst(t *testing.T) {
	t.Parallel()
	in := AdmitInput{
		Mode:   ModeBusiness,
		Author: AuthorContact,
		Text:   "Refund please, can I speak to a human, my skin is bleeding",
		Name:   "Nora",
	}
	in.EscalationKeywords = []string{"refund"}
	require.Equal(t, CodeDanger, admitQuestion(in).Code)
	in.Mode = ModePersonal
	require.Equal(t, CodeWantsHuman, admitQuestion(in).Code, "a personal chat is no desk")
}
