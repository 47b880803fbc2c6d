package lexicon

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestLexicon_ParsesEveryFile(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(files, "*/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		topic := strings.TrimSuffix(path.Base(name), ".txt")
		byLanguage, err := parseTopic(files, topic)
		require.NoError(t, err)
		for language, rows := range byLanguage {
			require.Len(t, language, 2, "an ISO 639-1 code")
			require.NotEmpty(t, rows, "%s %s", language, topic)
			if topic == "texts" {
				continue // sentences
			}
			for _, row := range rows {
				seen := map[string]bool{}
				for _, word := range row.Words() {
					require.NotEmpty(t, word, "%s/%s.txt: %s has an empty word", language, topic, row.Concept)
					require.False(t, seen[word], "%s/%s.txt: %s has %s twice", language, topic, row.Concept, word)
					seen[word] = true
				}
			}
		}
	}
}

// Each list of days and months is complete and in order, because its readers count on it.
func TestLexicon_CalendarsAreComplete(t *testing.T) {
	t.Parallel()
	names := func(language, topic string) (list []string) {
		for _, row := range Rows(language, topic) {
			list = append(list, row.Concept)
		}
		return list
	}
	for topic, count := range map[string]int{"days": 7, "months": 12} {
		for _, language := range Languages(topic) {
			require.Len(t, Rows(language, topic), count, language)
			require.Equal(t, names("en", topic), names(language, topic), language)
		}
	}
}

func TestLexicon_JoinsTheLanguages(t *testing.T) {
	t.Parallel()
	require.Subset(t, Words("statements", "yes"), []string{"yes", "ja", "oui", "да"})
	require.Equal(t, []string{"Samstag", "Sonnabend"}, In("de", "days", "saturday"))
	require.Equal(t, "from", Text("en", "texts", "source"))
	require.Empty(t, In("xx", "days", "monday"))
	require.Contains(t, Languages("texts"), "tr")
	require.Panics(t, func() { Words("statements", "yess") }, "a name that no language has")
}

func TestParse_NamesFileAndLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ data, want string }{
		"no colon":  {"# words\nyes ja", `xx/a.txt:2: "yes ja" is no row`},
		"no words":  {"yes:\n", "xx/a.txt:1: \"yes:\" is no row"},
		"a phrase":  {"a b: c", `xx/a.txt:1: "a b" is no name`},
		"twice":     {"yes: ja\nno: nein\nyes: jo", "xx/a.txt:3: the row yes stands there twice"},
		"continued": {"\n  ja, nein", `xx/a.txt:2: "ja, nein" continues no row`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseTopic(fstest.MapFS{"xx/a.txt": {Data: []byte(c.data)}}, "a")
			require.ErrorContains(t, err, c.want)
		})
	}
	rows, err := parse("xx/a.txt", "yes: ja,\n  jo # no comment\n\n# comment\nno: nein\n")
	require.NoError(t, err)
	require.Equal(t, []Row{{"yes", "ja, jo # no comment"}, {"no", "nein"}}, rows)
}

func FuzzParse(f *testing.F) {
	f.Add("yes: ja, jo\n  jawohl\n# comment\nno: nein\n")
	f.Add(": \n a\n")
	f.Fuzz(func(t *testing.T, data string) {
		rows, err := parse("xx/a.txt", data)
		if err != nil {
			return
		}
		for _, row := range rows {
			if row.Concept == "" || row.Text == "" {
				t.Fatalf("%q has the row %+v", data, row)
			}
		}
	})
}
