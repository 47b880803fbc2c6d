package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThanks_AreAcknowledgedInAnyWords(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][]string{
		"en": {"ok great, that helps", "thx a lot!!", "thanks so much, you've been lovely", "Brilliant, that's all I needed x", "cheers mate"},
		"de": {"super, vielen lieben dank für die schnelle antwort", "alles klar, das hilft mir weiter", "Top, merci!"},
		"fr": {"super, merci", "merci infiniment pour votre réponse rapide", "parfait c'est noté merci bcp"},
		"es": {"mil gracias por la información, un saludo", "genial, eres muy amable"},
		"pt": {"muito obrigada pela resposta rápida", "perfeito, obg!"},
		"it": {"perfetto, grazie mille per la disponibilità", "ottimo, gentilissimi"},
		"nl": {"fijn, heel erg bedankt voor de snelle reactie", "oké top, fijne dag nog"},
		"pl": {"super, bardzo dziękuję za szybką odpowiedź", "dzięki serdeczne, miłego dnia"},
		"tr": {"çok teşekkür ederim bilgi için", "tamam süper, iyi günler"},
		"sv": {"toppen, tack för snabbt svar", "stort tack, ha en trevlig helg"},
		"ru": {"отлично, большое спасибо за быстрый ответ", "понятно, хорошего дня"},
		"ar": {"شكرا جزيلا على المساعدة", "تمام شكرا لك"},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			for _, text := range texts {
				require.True(t, IsAcknowledgement(text), text)
			}
		})
	}
}

func TestThanks_WithMoreAreAnswered(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"thanks, the shower is still cold", "ok great, and on Sunday", "thank you, please cancel it", "great, I take two",
		"cool is there parking", "is it good", "have you got time tomorrow, thanks", "thanks for nothing", "not great thanks",
		"super, dann nehme ich das", "danke, aber das stimmt nicht", "merci de me rappeler", "gracias pero no funciona",
		"Hilfe, danke", "obrigada, qual o preço", "grazie, a che ora", "bedankt, ik wil annuleren", "dziękuję, a ile kosztuje",
		"teşekkürler, iptal edin", "tack, men det gick sönder", "спасибо, не работает", "شكرا متى تفتحون", "perfect time",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.False(t, IsAcknowledgement(text), text)
		})
	}
}
