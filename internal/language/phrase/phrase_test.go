package phrase

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// match reports whether a line matches a phrase in which a slot takes any text.
func match(t *testing.T, pattern, line string) bool {
	t.Helper()
	p, err := Parse(pattern)
	require.NoError(t, err)
	m := Match{Line: Read(line, [][]string{{"please"}, {"can", "you"}}), Accept: func(string, int, int) bool { return true }}
	return m.Phrase(p)
}

func TestPhrase_MatchesWholeLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, line string
		want          bool
	}{
		{"stop (it|that now)", "Stop it!", true},
		{"stop (it|that now)", "stop that now", true},
		{"stop (it|that now)", "stop that", false},
		{"stop [everything]", "please stop", true},
		{"stop [everything]", "can you stop everything please", true},
		{"stop", "stop smoking", false},
		{"what ... promised", "what have I ever promised", true},
		{"what ... promised", "what promised", true},
		{"what ... promised", "what a b c d e f g promised", false},
		{"antworte nicht mehr", "ANTWORTE, nicht mehr.", true},
		{"größe", "GROSSE", true},
		{"rappelle moi", "rappelle-moi", true},
		{"qu'est ce que j'ai promis", "Qu’est-ce que j'ai promis ?", true},
		{"dont", "don't", true},
	} {
		t.Run(c.pattern+" / "+c.line, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, match(t, c.pattern, c.line))
		})
	}
}

func TestPhrase_SlotsAsTyped(t *testing.T) {
	t.Parallel()
	p, err := Parse("tell {chat} [that] {text}")
	require.NoError(t, err)
	line := Read("Tell Café Luna that I'm late, sorry!", nil)
	m := Match{Line: line, Accept: func(slot string, from, to int) bool { return slot != "chat" || line.Text(from, to) == "Café Luna" }}
	require.True(t, m.Phrase(p))
	require.Equal(t, map[string]string{"chat": "Café Luna", "text": "I'm late, sorry!"}, m.Slots)
}

func TestParse_RefusesMistakes(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"", "(a", "[a|b", "a)", "{", "{}", "a ? b", "a]"} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(pattern)
			require.Error(t, err)
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add("Qu'est-ce que j'ai promis ?")
	f.Add("don’t 8:30 #5 prices-2026.pdf -")
	f.Fuzz(func(t *testing.T, typed string) {
		line := Read(typed, [][]string{{"please"}})
		for i := range line.Tokens {
			if line.Text(i, i+1) == "" {
				t.Fatalf("%q has an empty word", typed)
			}
		}
	})
}
