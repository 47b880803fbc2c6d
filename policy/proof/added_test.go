package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheck_AddsNothing(t *testing.T) {
	t.Parallel()
	checkEach(t, map[string]checkCase{
		"a clause behind all":   {"Skates cost 5 EUR, because the blades wear out.", "Skates cost 5 EUR.", "", Contradicts},
		"a service behind all":  {"Wir schleifen Schlittschuhe, und Kakao bekommen Sie am Kiosk.", "Wir schleifen Schlittschuhe.", "", Contradicts},
		"a limit behind all":    {"Sí, alquilamos patines, pero únicamente a socios.", "Alquilamos patines.", "¿alquilan patines?", Contradicts},
		"other words of a part": {"The rink opens at 9, and sharpening takes a moment.", "The rink opens at 9, blades are done at once.", "", Unknown},
		"words of the question": {"Skates cost 5 EUR, so your twins can borrow some.", "Skates cost 5 EUR.", "can my twins borrow", Unknown},
		"two comforts":          {"There is no danger, it is completely safe.", "Danger: thin ice.", "", Contradicts},
		"courtesy before":       {"We wish you fun on the ice, skates cost 5 EUR.", "Skates cost 5 EUR.", "", Unknown},
		"a wish as a condition": {"Skates cost 5 EUR, if you fancy that.", "Skates cost 5 EUR.", "", Unknown},
		"thanks for a message":  {"Thank you for your message, skates cost 5 EUR.", "Skates cost 5 EUR.", "", Follows},
		"thanks in German":      {"Vielen Dank für Ihre Anfrage: Schlittschuhe kosten 5 €.", "Schlittschuhe kosten 5 €.", "", Follows},
		"thanks for an order":   {"Thank you for your booking, skates cost 5 EUR.", "Skates cost 5 EUR.", "", Unknown},
		"thanks alone":          {"Thank you for your message.", "Skates cost 5 EUR.", "", Contradicts},
		"an only in the clause": {
			"No, we only hire sledges to locals.",
			"We hire sledges.",
			"can my niece hire a sledge",
			Contradicts,
		},
		"an only beside a denial": {
			"Wir verleihen Schlitten, aber nur mit Kaution.",
			"Schlitten und Schier verleihen wir; Helme haben wir nicht.",
			"",
			Contradicts,
		},
		"an only of a denial":    {"We only hire sledges to locals.", "We hire no sledges to tourists.", "", Unknown},
		"an only before a time":  {"The sledge run is only lit until 9 pm.", "Lights on the sledge run: 17:00 to 21:00.", "", Unknown},
		"an only of the source":  {"We hire sledges to locals only.", "We hire sledges only to locals.", "", Follows},
		"no danger":              {"The ice is 12 cm thick, there is no danger for kids.", "The ice is 12 cm thick.", "is it dangerous for kids", Contradicts},
		"no worries in Italian":  {"Il ghiaccio è spesso 12 cm, vada senza preoccupazioni.", "Il ghiaccio è spesso 12 cm.", "", Contradicts},
		"a danger of the source": {"There is no danger on the ice.", "There is no danger on the ice.", "", Follows},
	})
}

// A verb in the first person of the past or the future is a deed, unless it is one of the source.
func TestCheck_DeedByItsEnding(t *testing.T) {
	t.Parallel()
	for said, unit := range map[string]string{
		"Já troquei o seu bilhete.":             "Pode trocar bilhetes.",
		"Reservei os seus bilhetes.":            "Pode reservar bilhetes.",
		"Trocaremos o seu bilhete amanhã.":      "Bilhetes: caixa 2.",
		"Cambieremo il suo biglietto.":          "Biglietti: cassa 2.",
		"Ho cambiato il suo biglietto.":         "Biglietti: cassa 2.",
		"Nous échangerons votre billet.":        "Billets : caisse 2.",
		"Devolveremos su entrada.":              "Entradas: caja 2.",
		"Przesunąłem Pani bilet na piątek.":     "Bilety: kasa 2, piątek.",
		"Biletinizi yarın için değiştireceğiz.": "Bilet: gişe 2.",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			found := Check(Claim{Sentence: said, Units: []string{unit}})
			require.Equal(t, Contradicts, found.Outcome, found.Reason)
		})
	}
	found := Check(Claim{Sentence: "Em maio trocaremos bilhetes.", Units: []string{"Trocaremos bilhetes em maio."}})
	require.Equal(t, Follows, found.Outcome, found.Reason)
}

// A Polish noun behind a preposition is no deed, although verbs end so.
func TestCheck_NounIsNoDeed(t *testing.T) {
	t.Parallel()
	for said, outcome := range map[string]Outcome{
		"Pokój z krzesłem kosztuje 90 zł.":     Unknown,
		"Pokój z małym stołem kosztuje 90 zł.": Unknown,
		"Dziś przesunąłem Pani pokój.":         Contradicts,
		"Z życzeniem przesunąłem Pani pokój.":  Contradicts,
		"Tylko przesunąłem Pani pokój.":        Contradicts,
		"Na piątek przesunąłem Pani pokój.":    Contradicts,
	} {
		found := Check(Claim{Sentence: said, Units: []string{"Pokój kosztuje 90 zł."}})
		require.Equal(t, outcome, found.Outcome, "%s: %s", said, found.Reason)
	}
}

// What can be done is not done for the customer yet.
func TestCheck_ChoiceIsNoDeed(t *testing.T) {
	t.Parallel()
	checkEach(t, map[string]checkCase{
		"being changed":       {"Your ticket is being changed.", "A ticket can be changed.", "please change my ticket", Unknown},
		"we are changing":     {"We are changing your ticket free of charge.", "Tickets may be changed free of charge.", "", Unknown},
		"passive in German":   {"Die Anzahlung wird Ihnen erstattet.", "Die Anzahlung kann erstattet werden.", "", Unknown},
		"plural in Spanish":   {"Cambiamos su entrada gratis.", "La entrada se puede cambiar gratis.", "", Unknown},
		"passive in French":   {"Votre billet est échangé gratuitement.", "Le billet peut être échangé gratuitement.", "", Unknown},
		"what can be":         {"Yes, a ticket can be changed.", "A ticket can be changed.", "", Follows},
		"in another word":     {"You may change your ticket.", "A ticket can be changed.", "", Follows},
		"goes on with can":    {"By phone or in the shop, you can book a table.", "Tables can be booked by phone or in the shop.", "", Follows},
		"a rule of the house": {"Tickets are changed free of charge.", "We change tickets free of charge.", "", Follows},
	})
	found := Check(Claim{
		Sentence: "Your ticket is being changed, and you can write to us.",
		Units:    []string{"A ticket can be changed.", "You can write to us."},
		Question: "please change my ticket",
	})
	require.Equal(t, Unknown, found.Outcome, "another part says what can be")
}
