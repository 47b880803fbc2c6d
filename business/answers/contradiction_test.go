package answers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContradiction_WithoutModel(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, heading, quote, answer string }{
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "No, we stopped that."},
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "Unfortunately not any more: we don't deliver on Sundays."},
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "Sorry Ana, no: we stopped that in May."},
		{"Do you deliver on Sundays?", "Do you deliver on Sundays?", "Yes, from 9 to 12.", "Sorry, no."},
		{"Do you deliver on Sundays?", "", "We do not deliver on Sundays.", "Yes, since May."},
		{"Are dogs allowed in the rooms?", "", "Dogs are not allowed in the rooms.", "Yes, they are."},
		{"Are you open on Mondays?", "", "We are closed on Mondays.", "Yes, we are open on Mondays now."},
		{"Are you open on Wednesdays?", "", "We are open Monday to Friday.", "No, we're closed on Wednesdays."},
		{"Which day are you closed?", "", "We are closed on Mondays.", "We are closed on Tuesdays."},
		{"When does the season begin?", "", "The season begins in April.", "The season begins in March."},
		{"Who repairs violins?", "", "Carla repairs violins in our house.", "Maria repairs violins in our house."},
		{"Can I pay by card?", "", "You can pay by card.", "No, but there is a cash machine next door."},
		{"Is there parking?", "Parking", "There are two places behind the house.", "No, there is no parking any more."},
		{"Liefern Sie auch sonntags?", "", "Wir liefern sonntags.", "Nein, leider nicht mehr."},
		{"Habt ihr montags geöffnet?", "", "Montags ist geschlossen.", "Ja, montags haben wir jetzt geöffnet."},
		{"An welchem Tag ist bei euch zu?", "", "Am Montag ist das Geschäft geschlossen.", "Seit Mai ist das Geschäft am Dienstag geschlossen."},
		{"Sind Hunde im Haus erlaubt?", "", "Hunde sind im Haus verboten.", "Ja, Hunde sind im Haus erlaubt."},
		{"Livrez-vous le dimanche ?", "", "Nous livrons le dimanche.", "Non, nous ne livrons pas le dimanche."},
		{"Est-ce que le magasin est ouvert le lundi ?", "", "Le magasin est fermé le lundi.", "Oui, le magasin est ouvert le lundi."},
		{"¿Está abierto el museo los lunes?", "", "El museo está cerrado los lunes.", "Sí, el museo está abierto los lunes."},
		{"¿Qué día está cerrado el museo?", "", "El museo está cerrado los lunes.", "El museo está cerrado los martes."},
		{"Vocês entregam aos domingos?", "", "Nós não entregamos aos domingos.", "Sim, entregamos."},
		{"Il negozio è aperto la domenica?", "", "La domenica il negozio è chiuso.", "Sì, la domenica il negozio è aperto."},
		{"Bent u op zondag open?", "", "Wij zijn op zondag gesloten.", "Ja, wij zijn op zondag open."},
		{"Bent u op dinsdag open?", "", "Wij zijn maandag t/m woensdag open.", "Nee, wij zijn op dinsdag gesloten."},
		{"Quando vocês entregam?", "", "Nós entregamos na segunda-feira.", "Nós entregamos na sexta."},
		{"Вы доставляете по воскресеньям?", "", "Мы не доставляем по воскресеньям.", "Да, доставляем."},
		{"What does delivery cost?", "", "Delivery costs 5 EUR.", "It is 7 EUR."},
	} {
		require.True(t, contradicts(c.question, source{c.heading, c.quote}, c.answer), "%s %s %s", c.question, c.quote, c.answer)
	}
}

func TestContradiction_AllowsBothTrue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ question, heading, quote, answer string }{
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "Yes, we do."},
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "No problem, we deliver on Sundays."},
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "Not today, sorry."},
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", "No, not this Sunday."},
		{"Do you deliver on Sundays?", "", "We deliver only to the old town on Sundays.", "No."},
		{"Do you deliver on Sundays?", "", "We deliver every day.", "No."},
		{"Do you deliver on Sundays?", "", "On Sundays the shop is closed.", "Yes."},
		{"Do you deliver on Sundays?", "", "We do not deliver on Sundays.", "No, sorry."},
		{"Do you deliver on Sundays or Mondays?", "", "We deliver on Sundays.", "No."},
		{"Don't you deliver on Sundays?", "", "We deliver on Sundays.", "No."},
		{"Do you deliver on Sundays? And is it free?", "", "We deliver on Sundays.", "No."},
		{"Are you closed on Sundays?", "", "We are closed on Sundays.", "Yes, closed."},
		{"Are you closed on Sundays?", "", "We are closed on Sundays.", "We are not open on Sundays."},
		{"When do you deliver to Potsdam?", "", "We deliver to Potsdam on Mondays and Thursdays.", "I'll bring it on Friday."},
		{"When do you deliver to Potsdam?", "", "We deliver to Potsdam on Mondays and Thursdays.", "We deliver to Potsdam on Mondays."},
		{"When do you deliver?", "", "We deliver to Potsdam on Mondays. We deliver to Berlin on Fridays.", "We deliver on Fridays."},
		{"When do you deliver?", "", "We deliver on Mondays.", "We also deliver on Fridays."},
		{"Who repairs violins?", "", "Carla repairs violins in our house.", "Maria also repairs violins in our house."},
		{"Do you sell boats?", "", "We sell red boats in our shop.", "We sell blue boats in our shop."},
		{"What does my order cost?", "", "An order costs 5 EUR.", "It is 7 EUR."},
		{"What does delivery cost?", "", "Delivery costs 5 EUR.", "For you it is 3 EUR."},
		{"What does delivery cost?", "", "Delivery costs 5 EUR.", "Ausnahmsweise 3 EUR."},
		{"Are dogs allowed?", "", "Dogs are allowed in the garden.", "Dogs are not allowed in the house."},
		{"Where can I park?", "", "You can park behind the house.", "You can park behind the shop."},
		{"Pazar günü açık mısınız?", "", "Pazar günü açığız.", "Hayır."},
		{"Liefern Sie auch sonntags?", "", "Wir liefern sonntags.", "Kein Problem, wir liefern auch sonntags."},
		{"Wann liefern Sie nach Potsdam?", "", "Wir liefern montags nach Potsdam.", "Da wir Urlaub haben, diese Woche am Freitag."},
		{"Livrez-vous le dimanche ?", "", "Nous livrons le dimanche.", "Si nous avons le temps."},
		{"Livrez-vous le dimanche ?", "", "Nous livrons le dimanche.", "Oui, nous livrons le dimanche, sans problème."},
		{"¿Entregan los domingos?", "", "Entregamos los domingos.", "Si necesita algo más, dígame."},
		{"Do you deliver on Sundays?", "", "We deliver on Sundays.", ""},
		{"", "", "We deliver on Sundays.", "No."},
	} {
		require.False(t, contradicts(c.question, source{c.heading, c.quote}, c.answer), "%s %s %s", c.question, c.quote, c.answer)
	}
}

func FuzzContradicts(f *testing.F) {
	f.Add("Do you deliver on Sundays?", "We deliver on Sundays.", "No, we don't.")
	f.Add("L'été ?", "n'est pas l'été…", "Si")
	f.Fuzz(func(t *testing.T, question, quote, answer string) {
		contradicts(question, source{"", quote}, answer)
		require.False(t, polaritiesDiffer(question, source{"", quote}, quote), "nothing contradicts itself")
		require.False(t, slotsDiffer(question, quote, quote))
	})
}
