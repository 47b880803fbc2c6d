package orders

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/language/lexicon"
	"multis/internal/language/phrase"
)

// isKnown knows two chats.
func isKnown(name string) bool {
	words := phrase.Words(name)
	return len(words) == 1 && words[0] == "ana" || len(words) == 2 && words[0] == "cafe" && words[1] == "luna"
}

func TestFind_InFourLanguages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, concept string
		slots         map[string]string
	}{
		{"Stop!", "pause.all", nil},
		{"could you please stop everything", "pause.all", nil},
		{"antworte ana bitte nicht mehr", "mode.silent", map[string]string{"chat": "ana"}},
		{"no le contestes más a Café Luna", "mode.silent", map[string]string{"chat": "Café Luna"}},
		{"laisse ana tranquille jusqu'à 18h", "pause.chat.until", map[string]string{"chat": "ana", "when": "18h"}},
		{"was hab ich verpasst?", "brief", nil},
		{"combien tu as dépensé aujourd'hui ?", "budget", nil},
		{"borra el recordatorio cuatro", "cancel", map[string]string{"n": "4"}},
		{"the ten latest messages from cafe luna", "messages.n", map[string]string{"chat": "cafe luna", "n": "10"}},
		{"Tell Ana that I'm late, sorry.", "send", map[string]string{"chat": "Ana", "text": "I'm late, sorry."}},
		{"note que le code est chez ana", "remember", map[string]string{"text": "le code est chez ana"}},
		{
			"todos los lunes a las 8 recuérdame pedir harina", "remind",
			map[string]string{"timed": "todos los lunes a las 8", "rest": "pedir harina"},
		},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			found, ok := Find(c.line, isKnown)
			require.True(t, ok)
			require.Equal(t, c.concept, found.Concept)
			if c.slots == nil {
				c.slots = map[string]string{}
			}
			require.Equal(t, c.slots, found.Slots)
		})
	}
}

// TestFind_InAnyWords: a line without a phrase is an order if all its words belong to one.
func TestFind_InAnyWords(t *testing.T) {
	t.Parallel()
	for line, concept := range map[string]string{
		"last few from ana":                              "messages",
		"zeig mal die letzten sachen von ana":            "messages",
		"qué puso ana lo último":                         "messages",
		"les derniers msgs d'ana stp":                    "messages",
		"did i promise ana anything":                     "commitments.chat",
		"hab ich ana was versprochen? glaub schon":       "commitments.chat",
		"wieso hast du ana denn noch nix geschrieben ey": "why.chat",
		"pk t'as pas répondu à ana":                      "why.chat",
		"what do you know abt ana":                       "memory.chat",
		"tu sais quoi sur ana":                           "memory.chat",
		"finger weg von ana":                             "mode.silent",
		"u can take ana again":                           "resume.chat",
		"kannst bei ana wieder ran":                      "resume.chat",
		"borra lo q sabes de ana":                        "forget.chat",
		"resúmeme lo de hoy con ana en dos líneas":       "brief.chat",
		"how much have u burned this month":              "budget",
		"tu coûtes combien au fait":                      "budget",
		"who am i ignoring rn":                           "escalations",
		"in welchen chats bist du überall":               "chats",
		"which docs do u have":                           "docs",
		"what do i have to remember this week":           "jobs",
		"sooo what can you actually do":                  "help",
		"ne war falsch, zurück":                          "undo",
		"montag ist bei uns jetzt ruhetag":               "business.hours",
		"on ouvre plus le mercredi":                      "business.hours",
		"bin wieder da, was gibts neues":                 "brief",
		"pause générale jusqu'à 18h":                     "pause.all.until",
		"lass ana in ruhe":                               "mode.silent",
		"leave ana alone until friday":                   "pause.chat.until",
		"pasa de ana una semana":                         "pause.chat.until",
		"a ana apágala del todo":                         "mode.off",
		"mets ana en mode brouillon":                     "delivery.draft",
		"are you even answering ana atm":                 "chats.chat",
		"antwort von ana schon da?":                      "messages.answered",
		"warum bist du bei ana stumm geblieben heute":    "why.chat",
		"what do i still owe people":                     "commitments",
		"u can answer again":                             "resume.all",
		"c bon tu peux re répondre à tout le monde":      "resume.all",
		"fang wieder an zu antworten":                    "resume.all",
		"el lunes cerramos por fiesta":                   "business.hours",
		"demain exceptionnellement ouverture a 11h":      "business.hours",
		"reception opens at 9 not 7 tomorrow":            "business.hours",
		"bis morgen früh keine meldungen mehr bitte":     "quiet",
		"verschieb den zahnarzt auf freitag 11 uhr":      "move",
		"lo del banco mejor el lunes":                    "move",
		"übersetz mal was der gast geschrieben hat":      "model",
		"para para para todo":                            "pause.all",
		"mute ana til 6":                                 "pause.chat.until",
		"stop. plus aucun message":                       "pause.all",
		"ok hold off on everyone for 2 hours, im ill":    "pause.all.until",
		"oh no undo that":                                "undo",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			found, ok := Find(line, isKnown)
			require.True(t, ok)
			require.Equal(t, concept, found.Concept)
		})
	}
}

// TestFind_TellingStopsNothing: what somebody does or no longer does is no order to stop.
func TestFind_TellingStopsNothing(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"I no longer answer Ana", "ich antworte Ana nicht", "ana antwortet nicht", "ana no contesta", "ana ne répond jamais",
		"je ne réponds plus à ana", "don't stop answering ana", "no dejes de contestar a ana", "n'arrête pas de répondre à ana",
		"leave ana a message", "I will stop talking to ana", "everybody is quiet", "nobody answers", "did ana stop answering",
		"no answer from Ana yet", "never got an answer from Ana", "Ana not answering", "Keine Antwort von Ana",
		"Ana kann nicht antworten", "could not reply to Ana", "bis morgen früh keine meldungen mehr bitte",
		"Ana bis 18 Uhr im Büro", "ana ist bis freitag krank", "stop everything, he said", "wenn ana anruft, hör auf zu antworten",
		"ana est déjà tranquille", "i will leave ana alone", "ana said stop calling her, kinda rude", "stop everything? no, go on",
		"jusqu'à 18h ne viens pas", "until tomorrow no news", "no answer from anyone until 6pm", "hasta mañana no vengas",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			found, _ := Find(line, isKnown)
			require.NotRegexp(t, "^(pause|mode)", found.Concept)
		})
	}
}

func TestFind_SendsTextAsTyped(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"dile a ana que salgo ya": "salgo ya",
		"say hello to Ana":        "hello",
		"tell Ana no, for now":    "no, for now",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			found, ok := Find(line, isKnown)
			require.True(t, ok)
			require.Equal(t, "send", found.Concept)
			require.Equal(t, want, found.Slots["text"])
		})
	}
}

func TestFind_LeavesQuestions(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "hello", "did Ana send the invoice?", "who cancelled the appointment on friday", "wie hoch ist das budget für die messe",
		"how much did the plumber charge", "por qué llegó tarde el proveedor?", "à quelle heure ana arrête de travailler ?",
		"i stopped smoking btw",
		"stop answering Zoe", "habe ich die milch vergessen?", "when is the tax office coming for the audit",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			found, ok := Find(line, isKnown)
			require.False(t, ok, found)
		})
	}
	found, ok := Find("stop answering Ana?", isKnown)
	require.True(t, ok && found.IsAsked)
	found, ok = Find("can you stop answering Ana?", isKnown)
	require.True(t, ok && !found.IsAsked, "asked politely")
}

// TestNearest_WholeBesideOthers: a line with all of an order is near to it beside other words, or with one word misspelled.
func TestNearest_WholeBesideOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, concept string
		isWhole       bool
	}{
		{"ana wrote twice and you said nothing, how come", "why.chat", true},
		{"no more pings from you tonight unless its urgent", "quiet", true},
		{"rmeind me each monday to pay the cleaners", "remind", true},
		{"errinner mich morgen um halb neun an den tüv", "remind", true},
		{"start answering the hotel people pls", "mode.business", false},
		{"der ana muss ich noch das rezept für den kuchen schicken, und zwar bald", "", false},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			_, found := Find(c.line, isKnown)
			require.False(t, found)
			order, isWhole, _ := Nearest(c.line, isKnown)
			require.Equal(t, c.concept, order.Concept)
			require.Equal(t, c.isWhole, isWhole)
		})
	}
}

func TestBareName_LeavesTitles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Mrs Patel": "Patel", "dem Herrn Krause": "Krause", "el grupo de los padres": "padres", "la conversation": "conversation",
		"the Wedding group": "Wedding group", "die": "", "Ana": "Ana",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, BareName(name))
		})
	}
}

func TestLoad_PhrasesAreValid(t *testing.T) {
	t.Parallel()
	_, err := load()
	require.NoError(t, err)
	languages := lexicon.Languages(topic)
	require.Equal(t, []string{"de", "en", "es", "fr"}, languages)
	for _, row := range lexicon.Rows("en", topic) {
		for _, language := range languages {
			require.NotEmpty(t, lexicon.Text(language, topic, row.Concept), "%s in %s", row.Concept, language)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		Find("faut pas que j'oublie d'acheter des fleurs pour ana vendredi, préviens-moi", isKnown)
		Find("please tell me everything that you know about the contract with the plumber", isKnown)
	}
}

func BenchmarkNearest(b *testing.B) {
	for b.Loop() {
		Nearest("der ana muss ich noch das rezept für den kuchen schicken, und zwar bald", isKnown)
		Nearest("please tell me everything that you know about the contract with the plumber", isKnown)
	}
}

// FuzzNearest: no line breaks the search for orders, and an order that is found has a name.
func FuzzNearest(f *testing.F) {
	for _, typed := range []string{
		"", "\u200b", "\u202epause ana", "until ", "pause ana until :", "stopp bis ;;", "chekc in my documents what", "para para para todo",
		strings.Repeat("pause ", 2000), strings.Repeat("p", 10_000), strings.Repeat("stop ana. ", 500) + "if so.",
		"раusе anа", "jusqu’à 9h?!", "\xff\xfe stop",
	} {
		f.Add(typed)
	}
	isChat := func(name string) bool { return name == "ana" }
	f.Fuzz(func(t *testing.T, typed string) {
		if found, ok := Find(typed, isChat); ok {
			require.NotEmpty(t, found.Concept)
		}
		if found, _, ok := Nearest(typed, isChat); ok {
			require.NotEmpty(t, found.Concept)
		}
		NamedChat(typed, isChat)
		WithoutOldTime(typed)
	})
}
