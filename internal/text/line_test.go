package text

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func ExampleClip() {
	fmt.Println(Clip("Grüße aus Köln", 6))
	fmt.Println(Clip("short", 6))
	// Output:
	// Grüße…
	// short
}

func ExampleClipBytes() {
	fmt.Println(ClipBytes("Grüße", 3)) // ü takes two bytes
	// Output: Gr
}

func ExampleOneLine() {
	fmt.Println(OneLine(" a\tlist\nof \u202ewords\u202c "))
	// Output: a list of words
}

func ExampleEscape() {
	fmt.Println(Escape("*now*\n# see [this](https://example.org)"))
	// Output: \*now\* \# see \[this\]\(https\://example\.org\)
}

func ExampleCount() {
	fmt.Println(Count(1, "file"), Count(3, "file"), List([]string{"a", "b", "c"}))
	// Output: 1 file 3 files a, b and c
}

func ExampleMoney() {
	fmt.Println(Money(1_499_999, "EUR"), Money(1_200, "EUR"), ExactMoney(1_200, "EUR"))
	// Output: 1.50 EUR less than 0.01 EUR 0.0012 EUR
}

func ExampleDuration() {
	fmt.Println(Duration(90*time.Second), Duration(40*time.Minute), Duration(72*time.Hour))
	// Output: 90 s 40 min 3 days
}

func ExampleLatency() {
	fmt.Println(Latency(14_400*time.Microsecond), "-", Latency(1250*time.Millisecond))
	// Output: 14 ms - 1.2 s
}

func ExampleAgo() {
	now := time.Date(2026, time.March, 5, 12, 0, 0, 0, time.UTC) // a Thursday
	for _, past := range []time.Duration{
		30 * time.Second, 5 * time.Minute, 3 * time.Hour, 20 * time.Hour, 50 * time.Hour, 30 * 24 * time.Hour,
		400 * 24 * time.Hour,
	} {
		fmt.Println(Ago(now.Add(-past), now, time.UTC))
	}
	// Output:
	// just now
	// 5 min ago
	// 3 h ago
	// yesterday
	// Tue
	// 3 Feb
	// 29 Jan 2025
}

func ExampleEditDistance() {
	fmt.Println(EditDistance("owenr", "owner"), EditDistance("kitten", "sitting"))
	// Output: 1 3
}

func TestEditDistance_CountsRunes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"owner", "owner", 0},
		{"profil", "profile", 1},
		{"Müller", "Muller", 1},
		{"ab", "ba", 1},
	} {
		require.Equal(t, c.want, EditDistance(c.a, c.b), "%s, %s", c.a, c.b)
		require.Equal(t, c.want, EditDistance(c.b, c.a), "%s, %s", c.b, c.a)
	}
}

func FuzzClip(f *testing.F) {
	f.Add("Grüße", 3)
	f.Add("", 0)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 1 || !utf8.ValidString(s) {
			return // no limit that a caller gives
		}
		clipped := ClipBytes(s, n)
		require.LessOrEqual(t, len(clipped), n)
		require.True(t, strings.HasPrefix(s, clipped))
		require.LessOrEqual(t, utf8.RuneCountInString(Clip(s, n)), n)
	})
}

func FuzzEscape(f *testing.F) {
	for _, s := range []string{
		"a\n# b", "a\r\nb", "a\u2028- b", "a\u2029\u0085b", "a\v1. b\f", "`\u200b``", "*\u200b*bold*\u200b*",
		"\xff\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		require.NotContains(t, Clean("x"+Escape(s)), "\n", "no line of it begins a block, also once it is cleaned")
	})
}
