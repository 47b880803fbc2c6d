package knowledge

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// checkCutText checks the invariants of cutText for a text.
func checkCutText(t *testing.T, text string) {
	t.Helper()
	pieces := cutText(text)
	require.Equal(t, pieces, cutText(text), "the same text is cut the same way")
	covered := 0
	for i, p := range pieces {
		content := text[p.from:p.to]
		require.NotEmpty(t, content)
		require.Equal(t, strings.TrimSpace(content), content)
		require.LessOrEqual(t, utf8.RuneCountInString(content), chunkSize)
		if i > 0 {
			require.Greater(t, p.to, covered, "every piece has something new")
			if p.from < covered {
				require.LessOrEqual(t, utf8.RuneCountInString(text[p.from:covered]), chunkOverlap)
			}
		}
		if p.from > covered {
			require.Empty(t, strings.TrimSpace(text[covered:p.from]), "nothing is left out")
		}
		covered = max(covered, p.to)
	}
	require.Empty(t, strings.TrimSpace(text[covered:]), "nothing is left out at the end")
}

func TestCutText_IsCompleteAndLimited(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	words := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(strings.Repeat([]string{"a", "aä", "aäb"}[r.IntN(3)], 1+r.IntN(9)))
			b.WriteString([]string{" ", " ", " ", " ", ". ", "? ", "\n", ".\n\n", ", ", "\n- "}[r.IntN(10)])
		}
		return b.String()
	}
	for _, text := range []string{
		"", " \n ", "one", strings.Repeat("x", 7000), strings.Repeat("日本語。", 3000), strings.Repeat("word ", 3000),
		"Short. " + strings.Repeat("y", 2500) + " End.", strings.Repeat("A sentence of some words. ", 500),
		strings.Repeat("| row | 1.00 € |\n", 400), "```\n" + strings.Repeat("code line\n", 500) + "```\n",
	} {
		checkCutText(t, text)
	}
	for range 200 {
		checkCutText(t, words(r.IntN(2000)))
	}
}

func TestCutText_EndsAtSentences(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "Sentence number %d says a few words about nothing. ", i)
	}
	text := b.String()
	pieces := cutText(text)
	require.Greater(t, len(pieces), 5)
	for i, p := range pieces {
		require.True(t, strings.HasPrefix(text[p.from:p.to], "Sentence"))
		require.True(t, strings.HasSuffix(text[p.from:p.to], "nothing."))
		if i > 0 {
			require.Less(t, p.from, pieces[i-1].to, "it repeats the end of the one before")
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, seed := range []string{
		"One. Two? Three!\n\nFour", strings.Repeat("long ", 900), "- a\n- b\n\n| x | y |\n",
		"e.g. this, No. 5. Next", strings.Repeat("ß\u0301", 3000),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) {
			checkCutText(t, text)
		}
	})
}

// sectionPaths lists the sections of a Markdown text as "path:line:text".
func sectionPaths(t *testing.T, source string) []string {
	t.Helper()
	doc, err := readFile(t, "a.md", []byte(source))
	require.NoError(t, err)
	var list []string
	for _, s := range doc.Sections {
		list = append(list, fmt.Sprintf("%s:%d:%s", strings.Join(s.Path, ">"), s.Line, strings.TrimSpace(s.Text)))
	}
	return list
}

func TestMarkdown_CutAtHeadings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"levels make a path", "# A\na\n## B\nb\n### C\nc\n## D\nd\n", []string{"A:2:a", "A>B:4:b", "A>B>C:6:c", "A>D:8:d"}},
		{"text before the first heading has no path", "intro\n\n# A\na", []string{":1:intro", "A:4:a"}},
		{"a heading above others only stands in their paths", "# A\n\n## B\nb", []string{"A>B:4:b"}},
		{"a heading with nothing below it is a text", "# A\n## B\n## C\nc\n# D", []string{"A>B:2:## B", "A>C:4:c", "D:5:# D"}},
		{"a level may be left out", "# A\na\n### C\nc\n## B\nb", []string{"A:2:a", "A>C:4:c", "A>B:6:b"}},
		{"underlined headings", "A\n===\na\n\nB\n---\nb", []string{"A:3:a", "A>B:7:b"}},
		{"code holds no headings", "# A\n```\n# no\n```\n\n    # no\n", []string{"A:2:```\n# no\n```\n\n    # no"}},
		{"lists and quotes hold no headings", "# A\n> # no\n\n- # no\n", []string{"A:2:> # no\n\n- # no"}},
		{"marks are taken off", "# **A** `b` [c](http://d) ##\nx", []string{"A b c:2:x"}},
		{"numbers stay", "# 1. Prices\nx\n# - y\nz", []string{"1. Prices:2:x", "- y:4:z"}},
		{"a long heading is cut between letters", "# " + strings.Repeat("ä", 200) + "\nx", []string{strings.Repeat("ä", 150) + ":2:x"}},
		{"settings above the text are no heading", "---\ntitle: x\n---\n# A\na", []string{":1:---\ntitle: x\n---", "A:5:a"}},
		{"line ends of other systems", "# A\r\na\r\n## B\r\nb", []string{"A:2:a", "A>B:4:b"}},
		{"a byte order mark", "\uFEFF# A\na", []string{"A:2:a"}},
		{"an empty heading", "#\na\n# B\nb", []string{":1:#\na", "B:4:b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, sectionPaths(t, c.source))
		})
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, seed := range []string{"# A\na\n## B\n", "A\n=\n\nb\n-\n", "---\nx: y\n---\n# z", "```\n# no", "- # x\n\n1. y", "#\n##\n###"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		data, err := decode([]byte(source), "")
		if err != nil {
			return
		}
		lines := strings.Split(string(data), "\n")
		for _, s := range markdown(data) {
			require.NotEmpty(t, strings.TrimSpace(s.Text))
			first, _, _ := strings.Cut(s.Text, "\n")
			require.Equal(t, lines[s.Line-1], first, "a section knows its line")
		}
	})
}
