package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWantsAction(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"I'd like to order two of them, please", "I’d like to order two", "Please cancel my booking for Friday", "CANCEL MY ORDER!!!",
		"I want my money back", "book a table for 4 at 8",
		"Ich hätte gerne zwei Stück", "Bitte stornieren Sie meine Bestellung", "Ich möchte mich beschweren",
		"Bonjour, je voudrais réserver une table", "Je veux être remboursé",
		"Quisiera reservar una mesa", "Quiero cancelar el pedido", "Gostaria de agendar um horário", "Quero meu dinheiro de volta",
		"Vorrei prenotare un tavolo", "Devo disdire",
		"Ik wil graag reserveren", "Ik heb een klacht", "Хочу заказать пиццу", "Верните деньги", "Siparişimi iptal edin", "أريد حجز طاولة",
		"Chciałabym zarezerwować stolik",
		"Ich möchte eine Torte bestellen", "Was kostet eine Torte? Ich möchte zwei davon für Samstag bestellen",
		"Wir würden gerne am Freitag einen Tisch für vier Personen reservieren", "ich will meine Bestellung von gestern stornieren",
		"Bitte die Lieferung auf Montag verschieben", "Bitte zwei Roggenbrote für morgen zurücklegen",
		"Hallo, würde gerne einen Termin vereinbaren", "Ik wil graag een tafel voor vier reserveren",
		"We moeten onze afspraak van morgen verzetten",
		"I wan\u200bt to or\u200bder", strings.Repeat("hm ", 500) + "please cancel my order",
	} {
		t.Run(text, func(t *testing.T) {
			require.True(t, WantsAction(text), text)
		})
	}
	for _, text := range []string{
		"How do I order?", "Can I cancel within 14 days?", "What does a cancellation cost?", "Do you take bookings?",
		"Is there a complaint form?", "Wie kann ich bestellen?", "Kann man stornieren?",
		"Comment réserver ?", "¿Cómo puedo cancelar?", "", "ok", "I ordered yesterday, when does it arrive?", "borders", "strings of a cancel",
		"Come si prenota?",
		"Ich möchte wissen, wie ich bei euch bestellen kann", "Ich will nicht bestellen, nur fragen, was es kostet",
		"Bitte sagen Sie mir, ob ich noch stornieren kann", "Ich möchte eine Torte. Kann ich online bestellen?",
		"Wie lange vorher muss man bestellen?",
		"Was muss ich tun, um zu stornieren?", "Ik wil weten of ik kan annuleren", "Wenn ich etwas bestellen möchte, was kostet der Versand?",
		"Muss man reservieren?", "Ich muss bald weg, was kostet es, wenn ich später komme und wir dann alle zusammen etwas bestellen?",
	} {
		t.Run(text, func(t *testing.T) {
			require.False(t, WantsAction(text), text)
		})
	}
}
