package language

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
)

// numbers are the values that a text says in words.
func numbers(s string, of Language, all bool) []float64 {
	words := strings.FieldsFunc(strings.ToLower(text.Fold(s)), func(r rune) bool { return strings.ContainsRune(" -,.'’", r) })
	var values []float64
	for _, n := range NumbersIn(words, of, all) {
		values = append(values, n.Value)
	}
	return values
}

func TestNumbers_InEachLanguage(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]float64{
		"forty-nine": 49, "two hundred and five": 205, "twelve thousand five hundred": 12500, "fifty": 50,
		"neunundvierzig": 49, "zweihundertfünfzig": 250, "dreitausendfünfhundert": 3500, "hundertzwanzig": 120, "einundzwanzigster": 21,
		"zwölften": 12, "zweihundert fünfzig": 250,
		"quarante-neuf": 49, "quatre-vingt-dix-neuf": 99, "soixante-douze": 72, "deux cents": 200, "vingt et un": 21,
		"trois mille cinq cents": 3500,
		"cuarenta y nueve":       49, "doscientos cincuenta": 250, "veintitrés": 23, "tres mil": 3000,
		"quarenta e nove": 49, "duzentos e cinquenta": 250, "cento e vinte": 120,
		"quarantanove": 49, "duecentocinquanta": 250, "centoventi": 120, "trentotto": 38, "tremila": 3000,
		"negenenveertig": 49, "tweehonderdvijftig": 250, "tweeëntwintig": 22, "twintigste": 20,
		"сорок девять": 49, "двести пятьдесят": 250, "три тысячи": 3000, "двадцатого": 20,
		"تسعة وأربعون": 49, "خمسين": 50, "مئة": 100,
	} {
		require.Contains(t, numbers(said, Unknown, false), want, said)
	}
}

func TestNumbers_RejectsOtherWords(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Payment is due on delivery.", "One of our team will help.", "Ask an elf.", "Only once a year.", "This one is open.", "first of all",
		"onze winkel is open",
		"Eine Reparatur dauert einen Tag.", "Es ist ein Haus.", "un vélo pour une journée", "We need no cent of it",
		"Einen Moment bitte, achten Sie darauf.",
	} {
		require.Empty(t, numbers(said, Detect(said), false), said)
	}
	require.Contains(t, numbers("costa sei euro", Unknown, false), 6.0)
	require.Contains(t, numbers("un vélo neuf euros", French, false), 9.0)
	require.Contains(t, numbers("nur ein Euro", German, false), 1.0)
	require.Contains(t, numbers("one day", English, false), 1.0)
	require.Contains(t, numbers("the first of May", English, false), 1.0)
	require.Contains(t, numbers("due", Unknown, true), 2.0, "a source is read generously")
}
