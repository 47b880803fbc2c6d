package answers

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompare_WordsAndNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, wrote string
		want        Verdict
	}{
		{"[Nora] We deliver Monday to Saturday, 9:00-18:00.", "We deliver Monday to Saturday, 9:00-18:00!", Same},
		{"[Nora] We deliver Monday to Saturday, 9:00-18:00.", "Monday to Saturday, from 9:00 to 18:00", Near},
		{"[Nora] We deliver Monday to Saturday, 9:00-18:00.", "Monday to Saturday, from 8:00 to 18:00", Different},
		{"[Nora] New tyre, fitted: 29 € (from prices 2026.md, tyres.md)", "A new tyre is 29 €, fitted.", Same},
		{"[Nora] Ein neuer Reifen kostet 29 €. (aus preise.md)", "Ein neuer Reifen kostet 29 €.", Same},
		{"(from prices.md)", "(from prices.md)", Same},
		{"The delivery costs 5 EUR.", "it costs 5 euros to have it brought", Near},
		{"The delivery costs 5 EUR.", "it costs 7 euros", Different},
		{"The delivery costs 5 EUR.", "Let me call you about that", Different},
		{"The delivery costs 05 EUR.", "5", Near},
		{"[Nora] Yes.", "yes!", Same},
		{"[Nora] Ja. (aus hof.md)", "ja", Same},
		{"[Nora] Ja, wir liefern am Sonntag. (aus hof.md)", "Ja", Near},
		{"[Nora] Ja, wir liefern am Sonntag. (aus hof.md)", "Nein", Different},
		{"Yes, we deliver on Sundays.", "No.", Different},
		{"Sí.", "No", Different},
		{"Да.", "да", Same},
		{"The delivery is free.", "", None},
		{"The delivery is free.", "👍", None},
		{"", "Yes, tomorrow", Different},
		{"Wir liefern am Montag.", "Wir liefern am Montag", Same},
		{"我们星期一送货。", "我们星期一送货", Same},
	} {
		require.Equal(t, c.want, Compare(c.said, c.wrote), "%q %q", c.said, c.wrote)
	}
}

func TestCompare_CitedTextIsNear(t *testing.T) {
	t.Parallel()
	const said, quote = "[Nora] Yes, that is possible. (from hours.md)", "The counter is staffed in the evening on Thursdays."
	require.Equal(t, Different, Compare(said, "thursdays the counter is staffed in the evening"))
	require.Equal(t, Near, Compare(said, "thursdays the counter is staffed in the evening", "Something else", quote))
	require.Equal(t, Different, Compare("It costs 5 EUR.", "it costs 7 EUR", "Delivery costs 7 EUR."), "other numbers than what was said")
	require.Equal(t, None, Compare(said, "", quote))
}

func TestCompare_AsksModelIfUnclear(t *testing.T) {
	t.Parallel()
	require.True(t, IsUnsure("We deliver Monday to Saturday.", "every day but the last of the week"))
	require.True(t, IsUnsure("We deliver on Monday.", "on Monday we do not, we never deliver then"), "near by its words")
	require.False(t, IsUnsure("It costs 5 EUR.", "it costs 7 EUR"), "other numbers")
	require.False(t, IsUnsure("It costs 5 EUR.", "it costs 5 EUR"))
	require.False(t, IsUnsure("It costs 5 EUR.", ""))
}

func TestOffer_NeedsTwentyNearPairs(t *testing.T) {
	t.Parallel()
	var all Tally
	for range 19 {
		all.Add(Same)
	}
	all.Add(None)
	all.Add(Pending)
	require.False(t, all.Ready())
	all.Add(Near)
	require.True(t, all.Ready())
	all.Add(Different)
	all.Add(Different)
	require.True(t, all.Ready(), "20 of 22")
	all.Add(Different)
	require.False(t, all.Ready(), "20 of 23")
	require.Zero(t, Tally{}.Rate())
}

func FuzzCompare(f *testing.F) {
	f.Add("[Nora] It costs 5 EUR.", "5 EUR")
	f.Fuzz(func(t *testing.T, said, wrote string) {
		if v := Compare(said, said); v != Same && v != None && withoutMarks(said) == said {
			if w, n := words(said, 1); len(w)+len(n) > 0 {
				t.Fatalf("%q is %s to itself", said, v)
			}
		}
		Compare(said, wrote)
	})
}

func ExampleCompare() {
	fmt.Println(Compare("[Nora] Delivery costs 5 EUR.", "delivery is 5 EUR"), Compare("Delivery costs 5 EUR.", "6 EUR"))
	// Output: near different
}
