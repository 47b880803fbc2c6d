package language_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"multis/internal/language"
)

func TestDetect_LanguageOfSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]language.Language{
		"What time does the bakery open on Sundays?":                   language.English,
		"I went to the market and bought some bread for my mother.":    language.English,
		"Wann öffnet die Bäckerei am Sonntag?":                         language.German,
		"Die Lieferung erfolgt innerhalb von drei Tagen.":              language.German,
		"À quelle heure ouvre la boulangerie le dimanche ?":            language.French,
		"Nous livrons les meubles dans un délai de trois jours.":       language.French,
		"¿A qué hora abre la panadería los domingos?":                  language.Spanish,
		"La entrega se realiza en un plazo de tres días.":              language.Spanish,
		"A padaria não abre aos domingos, mas você pode encomendar.":   language.Portuguese,
		"A entrega é feita em até três dias.":                          language.Portuguese,
		"A che ora apre il panificio la domenica? Non è scritto.":      language.Italian,
		"La consegna avviene entro tre giorni e non costa di più.":     language.Italian,
		"Hoe laat gaat de bakker op zondag open?":                      language.Dutch,
		"De levering vindt plaats binnen drie dagen van het bestellen": language.Dutch,
		"Depuis l'A7, sortie Loriol, suivre la direction de Crest.":    language.French,
		"Во сколько открывается пекарня?":                              language.Russian,
		"متى يفتح المخبز يوم الأحد؟":                                   language.Arabic,
		"パン屋は日曜日に何時に開きますか":                                             language.Simple,
		"Пекарня відчиняється о восьмій, і її хліб свіжий.":            language.Simple,
		"نانوایی روزهای جمعه چه ساعتی باز می\u200cشود؟":                language.Simple,
		strings.Repeat("Piekarnia działa codziennie. ", 10):            language.Simple,
		strings.Repeat("apple pears ", 20):                             language.Unknown,
		"Sourdough 4.50":                                               language.Unknown,
		"":                                                             language.Unknown,
		"1234 !!":                                                      language.Unknown,
	} {
		require.Equal(t, want, language.Detect(text), text)
	}
}

func TestDetect_LanguagesOfOneScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]language.Language{
		"Дякую, чекаю на вас":                                                          language.Unknown, // Ukrainian
		"Коли можна забрати торт?":                                                     language.Unknown,
		"Здравейте, имате ли доставка до Варна?":                                       language.Unknown, // Bulgarian
		"Колко струва доставката?":                                                     language.Unknown,
		"Да ли радите суботом?":                                                        language.Unknown, // Serbian
		"Сайн байна уу, та нар хаана байдаг вэ?":                                       language.Unknown, // Mongolian
		"Дали работите во сабота?":                                                     language.Unknown, // Macedonian
		"Таныз қайда орналасқан?":                                                      language.Simple,  // Kazakh
		"Вы работаете в субботу?":                                                      language.Russian,
		"Добрый день, сколько стоит доставка?":                                         language.Russian,
		"Есть ли у вас хлеб без глютена?":                                              language.Russian,
		"Хочу заказать торт на субботу":                                                language.Russian,
		"Какие у вас цены?":                                                            language.Russian,
		"سلام شنبه باز هستيد":                                                          language.Unknown, // Persian, written with Arabic letters
		"قيمت نان سنكك":                                                                language.Unknown,
		"Czy mają państwo świeży chleb i bułki?":                                       language.Simple, // Polish
		"Kolik stojí čerstvý chléb a můžete ho přivézt?":                               language.Simple, // Czech
		"Yarın açık mısınız, ekmek kaç lira?":                                          language.Simple, // Turkish
		"Die Bäckerei Šimůnek hat am Sonntag nicht geöffnet, und wir haben kein Brot.": language.German,
		"هل تعملون يوم السبت؟":                                                         language.Arabic,
		"كم سعر الخبز؟":                                                                language.Arabic,
		"ما هي ساعات العمل":                                                            language.Arabic,
	} {
		require.Equal(t, want, language.Detect(text), text)
	}
}

func TestDetectPart_UsesDocumentLanguage(t *testing.T) {
	t.Parallel()
	require.Equal(t, language.German, language.DetectPart("Brötchen 0,90", language.German))
	require.Equal(t, language.English, language.DetectPart("Rolls 0.90", language.Unknown))
	require.Equal(t, language.Simple, language.DetectPart("Brötchen 0,90", language.Unknown))
	require.Equal(t, language.French, language.DetectPart("Le pain est cuit dans un four à bois.", language.German))
}

func FuzzDetect(f *testing.F) {
	for _, seed := range []string{"", "the the", "\xff\xfe", "é", "日本語 and the der die"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l := language.Detect(text)
		require.Equal(t, l, language.Detect(text))
		require.True(t, utf8.ValidString(string(language.DetectPart(text, l))))
		require.NotEqual(t, language.Unknown, language.DetectPart(text, l))
	})
}

func BenchmarkDetect(b *testing.B) {
	text := strings.Repeat("The bakery opens at eight and closes when the last loaf is sold. ", 10)
	for b.Loop() {
		language.Detect(text)
	}
}
