package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const scotland = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"

func TestClean(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"hello":                            "hello",
		"two\r\nlines\u2028three":          "two\nlines\nthree",
		"\u2068@nora\u2069 please":         "@nora please",
		"a\u202eb\u200bc\u00add\x00e\x1bf": "abcdef",
		"pay\u200dpal.com":                 "paypal.com",
		"4\u034f9\u1160":                   "49",
		"👨\u200d👩\u200d👧 and ❤\ufe0f\u200d🔥":  "👨\u200d👩\u200d👧 and ❤\ufe0f\u200d🔥",
		"می\u200cخواهم":                       "می\u200cخواهم",
		"caf\xe9":                             "caf\uFFFD",
		"m² ½ ﬁn":                             "m² ½ ﬁn",
		"1\ufe0f\u20e3":                       "1\ufe0f\u20e3",
		"\u200d\u200c":                        "",
		"tab\tstays":                          "tab\tstays",
		"flag \U0001f3f4\U000e0067\U000e007f": "flag \U0001f3f4",
		"go " + scotland + "!":                "go " + scotland + "!",
		"\U0001f3f4" + scotland:               "\U0001f3f4" + scotland,
		"🏴\U000e0065\U000e0076\U000e0069\U000e006c\U000e0021\U000e007f": "🏴", // words to a model
	} {
		require.Equal(t, want, Clean(given), "%q", given)
	}
	require.Equal(t, "one two", OneLine(" one\u2028\n two\u2069 "))
	require.Equal(t, "abc…", Clip("abcde", 4))
}

func TestFold(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"４９":                     "49",
		"٤٩":                     "49",
		"४९":                     "49",
		"④⁹":                     "49",
		"4️⃣9️⃣":                 "49",
		"𝟒𝟡":                     "49",
		"4\u200b9\u00ad":         "49",
		"4½":                     "4 1/2",
		"evil。com evil．com":      "evil.com evil.com",
		"Ⅳ ❾":                    "Ⅳ ❾",
		"Café\u00a0\u2009crème":  "Cafe creme",
		"e\u0301vil":             "evil",
		"４\u0336９":               "49",
		"ﬁne":                    "fine",
		"أربعون":                 "اربعون",
		"line\nend\u2028 stays":  "line\nend\n stays",
		"\U0001fbf4\U0001fbf9":   "49",
		"\u1090\u1099 \u1a80 x²": "09 0 x2",
	} {
		require.Equal(t, want, Fold(given), "%q", given)
	}
}

func TestDigit_OfEveryScript(t *testing.T) {
	t.Parallel()
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if unicode.Is(unicode.Nd, r) {
			require.Contains(t, "0123456789", Fold(string(r)), "%U", r)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\u202eb\xff\u200d")
	f.Add(scotland)
	f.Fuzz(func(t *testing.T, s string) {
		cleaned := Clean(s)
		require.Equal(t, cleaned, Clean(cleaned))
		require.True(t, utf8.ValidString(cleaned))
		require.False(t, strings.ContainsFunc(strings.ReplaceAll(cleaned, scotland, ""), func(r rune) bool {
			return isHidden(r) && !isJoiner(r)
		}))
		folded := Fold(s)
		require.Equal(t, folded, Fold(folded), "%q", s)
	})
}
