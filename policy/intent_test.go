package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGreeting_BeforeQuestionIsCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Oi, bom dia! Tem broa de milho?": "Tem broa de milho?", "Hallo Nora,\nhabt ihr WLAN?": "habt ihr WLAN?",
		"Merhaba. Otopark var mı?": "Otopark var mı?",
		"Hello!":                   "Hello!", "Hi, hello": "hello", "Do you have a pool, hello?": "Do you have a pool, hello?",
		"Hello Kitty, do you sell it?": "Hello Kitty, do you sell it?",
		strings.Repeat("hi,", 20_000):  strings.Repeat("hi,", 19_995),
	} {
		t.Run(text, func(t *testing.T) {
			require.Equal(t, want, WithoutGreeting(text, "Nora"), text)
		})
	}
}

func TestIsGreeting(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Hi", "Hello!", "hey there 👋", "Heyyyy!!!", "hiii", "Good morning", "Hi, how are you?", "Hello and thanks!",
		"Hi Nora!", "Hi team, good morning",
		"Hallo", "Guten Morgen!", "Grüß Gott", "Moin moin", "Hallo, wie geht’s?",
		"Bonjour", "Salut, ça va ?", "Bonsoir et merci",
		"¡Hola!", "Buenos días", "buenas tardes, qué tal?", "buenos di\u0301as",
		"Olá", "Bom dia, tudo bem?",
		"Ciao", "Buongiorno",
		"Hoi", "Goedemorgen", "Привет", "Добрый день!", "Здравствуйте",
		"مرحبا", "السلام عليكم", "صباح الخير 🌞",
		"Cześć", "Dzień dobry", "Merhaba", "Hejsan!", "Привіт", "Dobrý den",
	} {
		t.Run(text, func(t *testing.T) {
			require.True(t, IsGreeting(text, "Nora"), text)
		})
	}
	for _, text := range []string{
		"", "   ", "👍", "ok", "Nora", "Hi, do you deliver on Sundays?", "Hello, I want a refund", "Thanks, but when?",
		"What are your opening hours?",
		"Hi 5", "good", "morning", "Danke, aber wann?", "Hola, ¿cuánto cuesta?", "Bonjour, je voudrais commander",
		"hi hi hi hi hi hi hi hi hi hi hi hi hi",
		"this is a hill", "Hi Tom", "Привет, сколько стоит?", "مرحبا كم السعر", "so much", "thank god it is friday",
		"Thanks!", "Bye", "how are you?", "ok thanks",
	} {
		t.Run(text, func(t *testing.T) {
			require.False(t, IsGreeting(text, "Nora"), text)
		})
	}
	require.False(t, IsGreeting("Hi Nora"), "a name that was not given is a word like any other")
}

func TestIsAcknowledgement(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"ok", "OK!", "okay 👍", "Alles klar.", "perfect", "got it", "Ok, super", "d’accord", "vale", "Хорошо", "تمام",
		"ok Nora",
	} {
		t.Run(text, func(t *testing.T) {
			require.True(t, IsAcknowledgement(text, "Nora"), text)
		})
	}
	for _, text := range []string{
		"", "👍", "ok?", "Alles klar?", "yes", "no", "ok but when", "thanks, but when?",
		"how are you open on Sunday?", "danke, und der Preis?", "Hi", "hello and thanks", "all good things", "perfect time",
	} {
		t.Run(text, func(t *testing.T) {
			require.False(t, IsAcknowledgement(text, "Nora"), text)
		})
	}
}

func TestGreeting_ExcludesThanksAndGoodbyes(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][]string{
		"en": {
			"Thanks!", "thank you so much 🙏🏽❤️", "Thank you for your help.", "Thanks Nora, bye", "ok thanks", "Bye", "How are you?",
			"thanks?",
		},
		"de": {"Danke schön!", "Vielen lieben Dank 😊", "Ok, danke", "Tschüss!", "Wie geht’s?", "Wie geht es Ihnen?"},
		"fr": {"Merci beaucoup !", "Au revoir", "Ça va ?", "bonne soirée et merci"},
		"es": {"¡Muchas gracias!", "Hasta luego", "¿Cómo estás?"},
		"pt": {"Muito obrigada!", "Tchau", "Tudo bem?"},
		"it": {"Grazie mille", "Arrivederci", "Come stai?"},
		"nl": {"Dank je wel!", "Tot ziens", "Hoe gaat het?"},
		"ru": {"Спасибо большое", "До свидания", "Как дела?"},
		"uk": {"Щиро дякую!", "До побачення", "Як справи?"},
		"ar": {"شكراً جزيلاً", "مع السلامة", "كيف حالك؟"},
		"pl": {"Dziękuję bardzo", "Do widzenia", "Co słychać?"},
		"tr": {"Teşekkürler", "Hoşça kal", "Nasılsın?"},
		"sv": {"Tack så mycket!", "Hej då", "Hur mår du?"},
		"cs": {"Děkuji", "Na shledanou", "Jak se máte?"},
	} {
		t.Run(language, func(t *testing.T) {
			for _, text := range texts {
				require.False(t, IsGreeting(text, "Nora"), "%s: %s", language, text)
				require.True(t, IsAcknowledgement(text, "Nora"), "%s: %s", language, text)
			}
		})
	}
}

func TestWantsReminder(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Remind me tomorrow", "could you REMIND me on friday?", "Bitte erinnern Sie mich morgen daran",
		"Rappelle-moi demain", "Recuérdame mañana", "ricordami domani", "Напомни мне завтра",
	} {
		t.Run(text, func(t *testing.T) {
			require.True(t, WantsReminder(text), text)
		})
	}
	for _, text := range []string{
		"", "That reminds me of summer", "Do you send reminders before the appointment?", "my reminder said 9",
		"Wann ist die Erinnerung?",
	} {
		t.Run(text, func(t *testing.T) {
			require.False(t, WantsReminder(text), text)
		})
	}
}

func TestWantsHuman(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Can I talk to a human?", "I want to SPEAK TO A PERSON!!", "human", "Agent.", "human please", "please let me speak with someone",
		"Ich möchte mit einem Menschen sprechen", "Kann ich bitte mit jemandem reden?", "Mitarbeiter!", "Ist da ein echter Mensch?",
		"Je veux parler à un humain", "Puis-je parler à quelqu’un ?", "Quiero hablar con una persona", "¿Puedo hablar con alguien?",
		"Quero falar com um atendente", "Vorrei parlare con un operatore", "Kan ik met een medewerker spreken?", "Ik wil een mens spreken",
		"Позовите человека", "хочу поговорить с человеком", "أريد التحدث مع شخص", "Chcę rozmawiać z człowiekiem",
		"A person, please", "Hello! A person please", "Eine Person, bitte.", "Einen Menschen bitte", "Une personne, s'il vous plaît",
		"Una persona, por favor",
		"Uma pessoa, por favor", "Una persona, per favore", "Een mens, alstublieft", "Человека, пожалуйста", "شخص من فضلك", "Człowieka, proszę",
		"Bir insan lütfen",
		"Людину, будь ласка", "Хочу поговорити з людиною", "En människa, tack", "Kan jag få prata med någon?", "Člověka, prosím",
		"Chci mluvit s operátorem",
		strings.Repeat("so it goes. ", 100) + "let me talk to a human",
	} {
		t.Run(text, func(t *testing.T) {
			require.True(t, WantsHuman(text), text)
		})
	}
	for _, text := range []string{
		"", "Is it safe for humans?", "human resources", "What does your agent cost?", "Do you sell to a person?", "operator manual",
		"Wie viele Mitarbeiter haben Sie?", "Combien coûte un humain ?", "talk to a humanist", "For a person, please, and a dog", "please",
		"Hello, please!", "When can I pick it up?",
	} {
		t.Run(text, func(t *testing.T) {
			require.False(t, WantsHuman(text), text)
		})
	}
}

func TestIsStop(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"stop", "STOP!!!", "Please stop.", "stop messaging me", "unsubscribe", "Hör auf!", "Arrêtez", "¡Basta!",
		"non scrivermi più", "Стоп", "توقف", "don’t write me",
	} {
		t.Run(text, func(t *testing.T) {
			require.True(t, AsksToStop(text), text)
		})
	}
	for _, text := range []string{
		"", "Where is the bus stop?", "stop by tomorrow", "non-stop", "Do you stop at Rome?", "don't stop",
		"nicht aufhören",
	} {
		t.Run(text, func(t *testing.T) {
			require.False(t, AsksToStop(text), text)
		})
	}
}

func TestIntents_ReadLimitedPart(t *testing.T) {
	t.Parallel()
	require.False(t, WantsHuman(strings.Repeat("word ", maxIntentRunes)+"talk to a human"))
	require.True(t, WantsHuman("talk to a human "+strings.Repeat("word ", maxIntentRunes)))
}

func FuzzIntent(f *testing.F) {
	f.Add("Hi Nora!", "Nora")
	f.Add("ok 👍", "")
	f.Add("\xff\x00 stop", "\xff")
	f.Fuzz(func(t *testing.T, text, name string) {
		if AsksToStop(text) || WantsHuman(text) {
			require.NotEmpty(t, intentWords(text))
		}
		if IsGreeting(text, name) {
			require.False(t, IsAcknowledgement(text, name) && !IsGreeting(text), "thanks are no mere ok")
			require.True(t, hasWords(text))
		}
	})
}

func BenchmarkIntents(b *testing.B) {
	text := strings.Repeat("Where is my parcel, it should have come on Monday? ", 100)
	for b.Loop() {
		IsGreeting(text, "Nora")
		IsAcknowledgement(text, "Nora")
		AsksToStop(text)
		WantsHuman(text)
	}
}
