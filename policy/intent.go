package policy

import (
	"slices"
	"strings"
	"unicode"
)

// The phrases below are compared as whole words, in lower case, with accents as written here but without combining marks.
// Both spellings are listed where people leave accents out. A phrase is listed only if it can hardly mean anything else.
const (
	greetingPhrases = `
hi|hello|hey|hiya|howdy|yo|hi there|hello there|hey there|good morning|good afternoon|good evening|good day|greetings
hallo|halli hallo|hallöchen|hi zusammen|hallo zusammen|moin|moin moin|servus|grüezi|grüß gott|guten morgen|guten tag|guten abend
bonjour|bjr|bonsoir|bsr|salut|slt|coucou|hola|buenos días|buenos dias|buenas tardes|buenas noches|buenas
olá|ola|oi|oie|boas|bom dia|boa tarde|boa noite|ciao|buongiorno|buon giorno|buonasera|buona sera|salve
hoi|goedemorgen|goeiemorgen|goeiemiddag|goeienavond|goedemiddag|goedenavond|goedendag|goede morgen|dag
привет|здравствуй|здрасте|здравствуйте|доброе утро|добрый день|добрый вечер|приветствую|привіт|вітаю|доброго ранку|добрий день|добрий вечір
مرحبا|أهلا|اهلا|أهلا وسهلا|اهلا وسهلا|السلام عليكم|السلام عليكم ورحمة الله وبركاته|وعليكم السلام|صباح الخير|مساء الخير
cześć|czesc|siema|hejka|witam|dzień dobry|dzien dobry|dobry wieczór|merhaba|merhabalar|mrb|selam|slm|selamlar|günaydın|iyi günler|iyi akşamlar
hej|hejsan|tjena|tja|hallå|god morgon|god dag|god kväll|ahoj|dobrý den|dobré ráno|dobrý večer`

	// courtesies are thanks, goodbyes and questions such as "how are you". They need no answer.
	courtesies = `
thanks|thank you|thx|ty|many thanks|thanks a lot|thank you so much|thank you very much|thanks for your help|thank you for your help|thanks for everything|cheers
bye|bye bye|goodbye|good bye|good night|see you|see you soon|see you later|have a nice day|how are you|how are you doing|how is it going|how's it going
danke|dankeschön|danke schön|danke sehr|danke dir|danke ihnen|vielen dank|vielen lieben dank|besten dank|herzlichen dank|danke für die hilfe|danke für ihre hilfe|danke für deine hilfe
gute nacht|tschüss|tschüß|auf wiedersehen|bis bald|bis dann|bis später|schönen tag noch|schönen abend noch|wie geht's|wie geht es|wie geht es dir|wie geht es ihnen
merci|merci beaucoup|merci bien|mille mercis|merci pour votre aide|au revoir|à bientôt|bonne journée|bonne soirée|bonne nuit|ça va|ca va|comment ça va|comment allez-vous
gracias|muchas gracias|mil gracias|adiós|adios|hasta luego|hasta pronto|qué tal|que tal|cómo estás|como estas|cómo está
obrigado|obrigada|muito obrigado|muito obrigada|valeu|tchau|até logo|até mais|tudo bem|tudo bom|como vai
grazie|grazie mille|molte grazie|mille grazie|arrivederci|a presto|buona giornata|buonanotte|come stai|come sta|come va
bedankt|dank je|dank je wel|dankjewel|dank u|dank u wel|hartelijk dank|tot ziens|tot straks|doei|hoe gaat het
спасибо|большое спасибо|спасибо большое|благодарю|до свидания|пока|доброй ночи|как дела|дякую|щиро дякую|дуже дякую|до побачення|бувай|як справи
شكرا|شكرا جزيلا|شكرا لك|مع السلامة|إلى اللقاء|كيف حالك
dziękuję|dziekuje|dzięki|dzieki|dziękuję bardzo|do widzenia|na razie|dobranoc|co słychać|jak się masz
teşekkürler|teşekkür ederim|çok teşekkürler|sağ ol|hoşça kal|görüşürüz|güle güle|iyi geceler|nasılsın|nasılsınız
tack|tack så mycket|tusen tack|hej då|vi ses|god natt|hur mår du|děkuji|děkuju|díky|mockrát děkuji|na shledanou|nashledanou|dobrou noc|jak se máš|jak se máte`

	// acknowledgements say that nothing is left to do. "Yes" and "no" are not among them: they answer a question.
	acknowledgements = `
ok|okay|oki|k|okey|alright|all right|got it|great|perfect|super|cool|nice|awesome|understood|noted|fine
alles klar|in ordnung|passt|gut|sehr gut|prima|toll|verstanden|perfekt|d'accord|parfait|très bien|tres bien|entendu|génial
vale|de acuerdo|perfecto|muy bien|genial|entendido|perfeito|certo|beleza|entendi|ótimo|va bene|perfetto|capito|ottimo|d'accordo
oké|prima zo|begrepen|goed|хорошо|понял|поняла|понятно|отлично|ладно|ок|تمام|حسنا|ممتاز|dobrze|super|tamam`

	// fillers may be part of a greeting or an acknowledgement, but none is one by itself.
	fillers = `there|all|everyone|everybody|team|guys|sir|madam|dear|again|and|you|too|und|nochmal|et|y|e|en|и|و`

	humanPhrases = `
talk to a human|talk to human|speak to a human|speak with a human|talk with a human|chat with a human|talk to a person|speak to a person|speak with a person|talk to a real person|speak to a real person|speak with a real person
talk to someone|speak to someone|speak with someone|talk to an agent|speak to an agent|speak with an agent|talk to a representative|speak to a representative|human agent|human please|real human|an actual human|an actual person|talk to your manager|speak to a manager|speak to the manager
mit einem menschen sprechen|mit einem menschen reden|mit einem mitarbeiter sprechen|mit einer mitarbeiterin sprechen|mit einer person sprechen|mit jemandem sprechen|mit jemandem reden|mit einem echten menschen|echter mensch|echten menschen|einen menschen sprechen|einen mitarbeiter sprechen|menschlichen mitarbeiter
parler à un humain|parler a un humain|parler avec un humain|parler à une personne|parler a une personne|parler à quelqu'un|parler a quelqu'un|parler avec quelqu'un|parler à un conseiller|parler à un agent|une vraie personne|un vrai humain
hablar con una persona|hablar con un humano|hablar con alguien|hablar con un agente|hablar con una persona real|una persona real|un humano de verdad|hablar con un asesor
falar com uma pessoa|falar com um humano|falar com alguém|falar com alguem|falar com um atendente|falar com atendente|uma pessoa real|atendente humano
parlare con una persona|parlare con un umano|parlare con qualcuno|parlare con un operatore|una persona vera|una persona reale|operatore umano
met een mens praten|met een mens spreken|een mens spreken|met iemand spreken|met iemand praten|iemand spreken|met een medewerker spreken|een medewerker spreken|echt persoon|echte persoon|echt mens
поговорить с человеком|говорить с человеком|позовите человека|живой человек|живого человека|живым человеком|соедините с оператором|позовите оператора|поговорить с оператором
التحدث مع شخص|التحدث إلى شخص|التحدث الى شخص|التحدث مع انسان|التحدث مع إنسان|التحدث مع موظف|اتكلم مع شخص|أتكلم مع شخص|شخص حقيقي|موظف حقيقي
rozmawiać z człowiekiem|porozmawiać z człowiekiem|z konsultantem|gerçek bir insan|bir insanla konuşmak|müşteri temsilcisi
поговорити з людиною|говорити з людиною|покличте людину|жива людина|живою людиною|покличте оператора|поговорити з оператором|з'єднайте з оператором
prata med en människa|tala med en människa|prata med någon|tala med någon|prata med en person|en riktig människa|en riktig person|prata med en handläggare
mluvit s člověkem|mluvit s operátorem|mluvit s někým|s živým člověkem|živého člověka|skutečného člověka`

	reminderPhrases = `
remind me|send me a reminder|set a reminder|set me a reminder|can you remind|could you remind|please remind|don't let me forget
erinnere mich|erinnern sie mich|erinner mich|kannst du mich erinnern|können sie mich erinnern|mich daran erinnern
rappelle-moi|rappelez-moi|rappelle moi|rappelez moi|recuérdame|recuérdeme|recuerdame|recuerdeme|avísame|me lembre|lembre-me|me lembra
ricordami|mi ricordi di|herinner me|herinner mij|напомни мне|напомните мне|ذكرني|przypomnij mi|bana hatırlat`

	// humanOnlyPhrases ask for a person only if the message has nothing else but politePhrases.
	humanOnlyPhrases = `
human|agent|operator|representative|person|a human|a person|a human being|a real person|real person
mensch|mitarbeiter|mitarbeiterin|person|ein mensch|einen menschen|ein mitarbeiter|einen mitarbeiter|eine mitarbeiterin|eine person|humain|un humain|une personne|un conseiller|conseiller
humano|un humano|una persona|persona real|un agente|pessoa|um humano|uma pessoa|um atendente|operador|atendente|umano|un umano|persona|operatore|un operatore
mens|een mens|persoon|een persoon|medewerker|een medewerker|человек|человека|оператор|оператора|إنسان|انسان|شخص|موظف|człowiek|człowieka|konsultant|konsultanta|insan|bir insan|temsilci|bir temsilci
людину|людина|en människa|människa|en person|handläggare|člověka|člověk|operátora`

	politePhrases = `
please|pls|bitte|bitte schön|s'il vous plaît|s'il vous plait|s'il te plaît|s'il te plait|svp|stp|por favor|porfa|per favore|per piacere
alstublieft|alsjeblieft|aub|ajb|пожалуйста|من فضلك|لو سمحت|proszę|prosze|lütfen|будь ласка|tack|snälla|prosím`

	stopPhrases = `
stop|stop it|please stop|stop please|stop writing|stop writing me|stop messaging me|stop texting me|unsubscribe|leave me alone|don't write me|do not write me|don't write to me|do not contact me
stopp|hör auf|hören sie auf|aufhören|abmelden|lass mich in ruhe|lassen sie mich in ruhe|schreib mir nicht mehr|schreiben sie mir nicht mehr
arrête|arrêtez|arrete|arretez|arrêtez de m'écrire|désabonner|laissez-moi tranquille|basta|ya basta|no me escribas|no me escribas más|no me escriba más|deja de escribirme
pare|para de me escrever|pare de me escrever|não me escreva mais|smettila|smettetela|fermati|non scrivermi più|hou op|stop ermee|niet meer schrijven|laat me met rust
стоп|хватит|отпишись|перестань|перестаньте|не пишите мне|не пиши мне|отписаться|توقف|قف|كفى|لا تراسلني|przestań|dur|yazma`

	// maxIntentRunes limits how much of a message is searched. A request for a person does not come after ten pages.
	maxIntentRunes = 4000
	// The limits of a greeting, and of every intent that must be the whole message. A longer message says something else as well.
	maxGreetingWords = 12
	maxIntentBytes   = 400
)

// IsGreeting reports whether the whole message is a greeting, in any of a dozen languages. Emoji, punctuation and names
// (the assistant's, the owner's) are ignored. "Hello and thanks" is a greeting, "thanks" is not.
func IsGreeting(text string, names ...string) bool {
	return consistsOf(text, names, greetingPhrases, courtesies+"\n"+acknowledgements)
}

// QuestionMarks are the characters that end a question.
const QuestionMarks = "?？؟"

// maxGreetings is how many greetings WithoutGreeting removes at most.
const maxGreetings = 5

// WithoutGreeting removes the greetings that a question begins with, such as "Oi, bom dia!", because no document has their words.
func WithoutGreeting(text string, names ...string) string {
	for range maxGreetings {
		at := strings.IndexAny(text, ",.!\n")
		if at < 0 || !IsGreeting(text[:at], names...) {
			return text
		}
		rest := strings.TrimLeft(text[at:], ",.! \n")
		if rest == "" {
			return text
		}
		text = rest
	}
	return text
}

// IsAcknowledgement reports whether the whole message needs no answer, such as "ok", "alles klar", "thanks", "bye" or "super,
// that was a great help". "Ok?" is a question.
func IsAcknowledgement(text string, names ...string) bool {
	return consistsOf(text, names, courtesies, acknowledgements) ||
		!strings.ContainsAny(text, QuestionMarks) && consistsOf(text, names, acknowledgements, "") ||
		onlyThanks(text, names) && !IsGreeting(text, names...)
}

// WantsHuman reports whether the message asks for a person instead of the assistant.
func WantsHuman(text string) bool {
	return hasPhrase(strings.Join(intentWords(text), " "), humanPhrases) ||
		consistsOf(text, nil, humanOnlyPhrases, politePhrases+greetingPhrases)
}

// WantsReminder reports whether the message asks to be reminded of something.
func WantsReminder(text string) bool {
	return hasPhrase(strings.Join(intentWords(text), " "), reminderPhrases)
}

// hasPhrase reports whether words contain one of the phrases of a table.
func hasPhrase(words, table string) bool {
	padded := " " + words + " "
	return slices.ContainsFunc(phrases(table), func(phrase string) bool { return strings.Contains(padded, " "+phrase+" ") })
}

// AsksToStop reports whether the whole message asks to be left alone.
func AsksToStop(text string) bool {
	return len(text) <= maxIntentBytes && slices.Contains(phrases(stopPhrases), strings.Join(intentWords(text), " "))
}

// consistsOf reports whether a text consists only of phrases in the tables needed and allowed, fillers and names, with at
// least one phrase of needed.
func consistsOf(text string, names []string, needed, allowed string) bool {
	if len(text) > maxIntentBytes {
		return false
	}
	words := intentWords(text)
	if len(words) == 0 || len(words) > maxGreetingWords {
		return false
	}
	must := phrases(needed)
	may := append(phrases(allowed), phrases(fillers)...)
	for _, name := range names {
		may = append(may, strings.Join(intentWords(name), " "))
	}
	found := false
	for len(words) > 0 {
		if n := longestPhrase(words, must); n > 0 {
			words, found = words[n:], true
			continue
		}
		n := longestPhrase(words, may)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return found
}

// longestPhrase returns the number of words in the longest phrase of list that words begin with; 0 if there is none.
func longestPhrase(words, list []string) int {
	longest := 0
	for n := 1; n <= len(words); n++ {
		if slices.Contains(list, strings.Join(words[:n], " ")) {
			longest = n
		}
	}
	return longest
}

func phrases(table string) []string {
	return strings.FieldsFunc(table, func(r rune) bool { return r == '|' || r == '\n' })
}

// intentWords splits a message into lower-case words without punctuation, emoji and combining marks. It shortens repeated letters
// ("heyyy") to one.
func intentWords(text string) []string {
	runes := make([]rune, 0, min(len(text), maxIntentRunes))
	for _, r := range text {
		if len(runes) == maxIntentRunes {
			break
		}
		switch r = unicode.ToLower(r); {
		case isInvisible(r), unicode.IsMark(r):
			continue
		case r == '’':
			r = '\''
		case !isWord(r) && r != '\'' && r != '-':
			r = ' '
		}
		runes = append(runes, r)
	}
	words := strings.Fields(string(shortenRuns(runes)))
	for i, word := range words {
		words[i] = strings.Trim(word, "'-")
	}
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}

// shortenRuns replaces three or more of the same letter in a row with one.
func shortenRuns(runes []rune) []rune {
	out := runes[:0]
	for start := 0; start < len(runes); {
		end := start + 1
		for end < len(runes) && runes[end] == runes[start] {
			end++
		}
		if end-start >= 3 {
			out = append(out, runes[start])
		} else {
			out = append(out, runes[start:end]...)
		}
		start = end
	}
	return out
}
