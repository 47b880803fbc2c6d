package catalog

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCatalog_LanguagesAreComplete(t *testing.T) {
	t.Parallel()
	require.Len(t, allStandardTexts(), len(Langs()))
	seen := map[string]Lang{}
	for _, lang := range Langs() {
		require.True(t, HasTexts(lang))
		for _, name := range Names() {
			text := Texts{}.Text(name, lang)
			require.NotEmpty(t, text, "%s %s", lang, name)
			require.NoError(t, Check(name, text), "%s %s", lang, name)
			require.LessOrEqual(t, len(text), 500)
			require.Empty(t, seen[text], "%s has the text of %s", lang, seen[text])
			seen[text] = lang
		}
		for _, day := range weekdays()[lang] {
			require.NotEmpty(t, day)
		}
	}
	require.False(t, HasTexts("xx"))
	require.Equal(t, "Hello! How can I help you?", Texts{}.Text(Greeting, "xx"))
}

// Each standard text is in its language, so the contact who writes it back is answered in it.
func TestDetectLanguage_OfConversation(t *testing.T) {
	t.Parallel()
	for _, lang := range Langs() {
		require.Equal(t, lang, DetectLanguage([]string{Texts{}.Text(Escalated, lang), Texts{}.Text(Away, lang)}, "none"))
	}
	for text, want := range map[string]Lang{
		"buenas a que hora abren entre semana": Spanish,
		"Bu ürün var mı? Fiyatı ne kadar?":     Turkish, "Açık mısınız?": Turkish, "ok": "none", "": "none", "👍": "none",
		"Was kostet das und wann liefern Sie es?": German,
		"Do you deliver to Kırıkkale?":            English, "Hola": Spanish, "Bonjour !": French, "Hallo": "none", "Merhaba, ben Ali": Turkish,
		"Habt ihr Parkplätze?": German, "Rufen Sie mich bitte zurück": German, "Macht ihr Mittagspause?": German,
		"Ich brauche 20 Brötchen": German, "Got the parking?": English, "Vous avez un parking ?": French, "¿Hay parking?": Spanish,
		"Vocês têm wifi?": Portuguese, "Avete il parcheggio?": Italian, "Hebben jullie wifi?": Dutch, "Parking?": "none", "Wifi ok": "none",
		"ihr you": "none", "80 EUR": "none",
	} {
		require.Equal(t, want, DetectLanguage([]string{text}, "none"), text)
	}
}

func TestCatalog_ReplacementIsPerLanguage(t *testing.T) {
	t.Parallel()
	texts := Texts{ForAll: map[Name]string{Greeting: "Hi!"}, ByLang: map[Lang]map[Name]string{German: {Greeting: "Moin!"}}}
	require.Equal(t, "Moin!", texts.Text(Greeting, German))
	require.Equal(t, "Hi!", texts.Text(Greeting, French))
	require.Equal(t, allStandardTexts()[German][Escalated], texts.Text(Escalated, German))
	require.ErrorContains(t, Check(Away, "We are closed."), "{opening}")
	require.Equal(t, "Do you mean {second} or a?", Texts{}.Text(Clarify, English, "{first}", "{second}", "{second}", "a"),
		"values are not replaced again")
}

func TestCatalog_FarOpeningHasDate(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 22, 18, 0, 0, 0, time.UTC)
	for lang, want := range map[Lang][2]string{
		English: {"Wednesday, 09:00", "Monday, 4 January 2027, 09:00"}, German: {"Mittwoch, 09:00", "Montag, 04.01.2027, 09:00"},
		"xx": {"Wednesday, 09:00", "Monday, 4 January 2027, 09:00"},
	} {
		require.Equal(t, want[0], FormatOpening(lang, time.Date(2026, 12, 23, 9, 0, 0, 0, time.UTC), now))
		require.Equal(t, want[1], FormatOpening(lang, time.Date(2027, 1, 4, 9, 0, 0, 0, time.UTC), now))
	}
}

func ExampleTexts_Text() {
	fmt.Println(Texts{}.Text(Clarify, German, "{first}", "die Lieferung", "{second}", "die Abholung"))
	// Output: Meinen Sie die Lieferung oder die Abholung?
}

func TestCatalog_OpeningHoursInEachLanguage(t *testing.T) {
	t.Parallel()
	const hours = "mon-fri 9-12:30, 13:30-18; Sat 10-14; sun closed"
	require.Equal(t, "Monday-Friday 9-12:30, 13:30-18; Saturday 10-14; Sunday closed", FormatHours(English, hours, nil))
	require.Equal(t, "lundi-vendredi 9-12:30, 13:30-18; samedi 10-14; dimanche fermé", FormatHours(French, hours, nil))
	require.Equal(t, "segunda-feira a sexta-feira 9-12:30, 13:30-18; sábado 10-14; domingo fechado", FormatHours(Portuguese, hours, nil))
	require.Equal(t, "Wir haben geöffnet: Montag-Freitag 9-12:30, 13:30-18; Samstag 10-14; Sonntag geschlossen.",
		HoursSentence(German, hours, nil), "a sentence however many periods there are")
	require.Equal(t, "Monday 9-17", FormatHours("xx", "mon 9-17", nil))
	for _, lang := range Langs() {
		require.NotRegexp(t, `\b(mon|fri|sat|sun)\b|[%!]`, FormatHours(lang, hours, nil), lang)
		require.NotEmpty(t, FormatHours(lang, "daily", nil), lang)
	}
}
