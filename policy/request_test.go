package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWantsAction(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"I'd like to order two of them, please", "I’d like to order two", "Please cancel my booking for Friday", "CANCEL MY ORDER!!!", "I want my money back", "book a table for 4 at 8",
		"Ich hätte gerne zwei Stück", "Bitte stornieren Sie meine Bestellung", "Ich möchte mich beschweren", "Bonjour, je voudrais réserver une table", "Je veux être remboursé",
		"Quisiera reservar una mesa", "Quiero cancelar el pedido", "Gostaria de agendar um horário", "Quero meu dinheiro de volta", "Vorrei prenotare un tavolo", "Devo disdire",
		"Ik wil graag reserveren", "Ik heb een klacht", "Хочу заказать пиццу", "Верните деньги", "Siparişimi iptal edin", "أريد حجز طاولة", "Chciałabym zarezerwować stolik",
		"I wan\u200bt to or\u200bder", strings.Repeat("hm ", 500) + "please cancel my order",
	} {
		require.True(t, WantsAction(text), text)
	}
	for _, text := range []string{
		"How do I order?", "Can I cancel within 14 days?", "What does a cancellation cost?", "Do you take bookings?", "Is there a complaint form?", "Wie kann ich bestellen?", "Kann man stornieren?",
		"Comment réserver ?", "¿Cómo puedo cancelar?", "", "ok", "I ordered yesterday, when does it arrive?", "borders", "strings of a cancel", "Come si prenota?",
	} {
		require.False(t, WantsAction(text), text)
	}
}
