package policy

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
)

func TestLeaksSecret_InAnyEncoding(t *testing.T) { //nolint:paralleltest // what the configuration holds is the same for all
	t.Cleanup(func() { SetSecrets(nil) })
	const secret = "tK9-pq.Z7_xw/42mN"
	SetSecrets([]string{"short", "no", secret, "https://tools.example.com/s/0123456789abcdef"})
	for _, said := range []string{
		secret, "it is " + secret + ".", strings.ToUpper(secret), strings.Join(strings.Split(secret, ""), " "),
		strings.Join(strings.Split(secret, ""), "\u200b"),
		strings.Join(strings.Split(secret, ""), "*"), secret[:8] + "\n\n" + secret[8:],
		"tK9-pq.Z7_xw%2F42mN", "ｔＫ９-pq.Z7_xw/42mN", hex.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte("a" + secret)),
		base64.StdEncoding.EncodeToString([]byte("key: " + secret + " and more")),
		base64.StdEncoding.EncodeToString([]byte("Bearer " + secret)), "https://tools.example.com/s/0123456789abcdef",
		strings.Join(strings.Split(secret, ""), "\u3164"), "tK9-pq.Z\u11607_xw/42mN", "tK9-pq.Z\u115f7_xw/42mN", "tK9-pq.Z\uffa07_xw/42mN",
		"tK9-pq.Z\u034f7_xw/42mN", "tK9-pq.Z\ufe0f7_xw/42mN",
		"tK9-pq.Z7_x\u0301w/42mN", "ⓣK9-pq.Z7_xw/42mN", "tK٩-pq.Z7_xw/42mN",
		"tK9-pq<b>.Z7_xw/</b>42mN", `tK9-pq<span title="a b">.Z7_xw</span>/42mN`, "tK9-pq<!-- a > b -->.Z7_xw/42mN", "tK9-pq.Z7<br/>_xw/42mN",
		"tK9-pq.Z7&#95;xw/42mN", "tK9-pq.Z7_&#120;w/42mN", "tK9-pq.Z7_&#x78;w/42mN", "tK9-pq.Z7_&amp;#120;w/42mN", "tK9-pq&lt;b&gt;.Z7_xw/42mN",
		"[tK9-pq](https://a.b/).Z7_xw/42mN", "[tK9-pq][1].Z7_xw/42mN", "![tK9-pq](https://a.b/ 'c').Z7_xw/42mN", "[tK9-pq.Z](x)[7_xw/42mN](y)",
		"tK9%2Dpq%2EZ7%5Fxw%2F42mN", "t%4B9-pq.Z7_xw/42mN", "t%254B9-pq.Z7_xw/42mN", "https://a.b/?q=t%4b9-pq.Z7_xw%2f42mN",
		`\x74\x4b\x39\x2d\x70\x71\x2e\x5a\x37\x5f\x78\x77\x2f\x34\x32\x6d\x4e`,
		"0x74 0x4b 0x39 0x2d 0x70 0x71 0x2e 0x5a 0x37 0x5f 0x78 0x77 0x2f 0x34 0x32 0x6d 0x4e",
		`t\u004b9-pq.Z7_xw/42mN`, "74 4b 39 2d 70 71 2e 5a 37 5f 78 77 2f 34 32 6d 4e",
		"i <3 you. tK9-pq<b>.Z7_xw</b>/42mN", "see a](b and tK9-pq<b>.Z7</b>_xw/42mN :)", "if a<b: [tK9-pq](https://a.b/).Z7_xw/42mN -> ok",
		"if a<b then [tK9-pq](x).Z7_xw/42mN > c",
		"[tK9-pq](https://a.b/(x)y).Z7_xw/42mN", "[tK9-pq](<https://a.b/)y>).Z7_xw/42mN", `[tK9-pq](a\)b).Z7_xw/42mN`,
		`[tK9-pq](x "a) b").Z7_xw/42mN`, `tK9-pq<i title="a>b">.Z7_xw</i>/42mN`,
		"i <3 tK9-pq<!-- a > b -->.Z7_xw/42mN", `tK9-pq\u200b.Z7_xw/42mN`, `tK9-pq\u{200b}.Z7_xw/42mN`, "tK9-pq%u200b.Z7_xw/42mN",
		`tK9-pq\u0020.Z7_xw/42mN`, "tK9-pqー.Z7_xw/42mN",
		"t%252525254b9-pq.Z7_xw/42mN", "tK9-pq&amp;amp;amp;lt;b&amp;amp;amp;gt;.Z7_xw/42mN", "It opens <here: tK9-pq.Z7_xw/42mN", "](" + secret,
		"a < b, [" + secret + "]",
		`t\U0000004b9-pq.Z7_xw/42mN`, `tK9-pq\U0000200b.Z7_xw/42mN`, "1. tK9-pq\n2. .Z7_xw\n3. /42mN", "(1) tK9-pq\n\t(2) .Z7_xw/42mN",
		"> 1) `tK9-pq`\n> 2) `.Z7_xw/42mN`", "10: tK9<b>-pq</b>\n11: .Z7_xw/42mN",
	} {
		t.Run(said, func(t *testing.T) {
			require.True(t, LeaksSecret(said), said)
		})
	}
	for _, said := range []string{
		"", "short", "We deliver on Mondays.", secret[:9], "https://tools.example.com/s",
		base64.StdEncoding.EncodeToString([]byte("something else entirely")),
	} {
		t.Run(said, func(t *testing.T) {
			require.False(t, LeaksSecret(said), said)
		})
	}
	SetSecrets([]string{"a<b>c%41&amp;efg]hij(klm", "%41%42%43"})
	for _, said := range []string{"it is a<b>c%41&amp;efg]hij(klm", "a<b>c<i>%41&amp;efg]hij(klm", "a&lt;b&gt;c%2541&amp;amp;efg]hij(klm"} {
		t.Run(said, func(t *testing.T) {
			require.True(t, LeaksSecret(said), said)
		})
	}
	SetSecrets(nil)
	require.False(t, LeaksSecret(secret))
}

// FuzzLeaksSecret checks that nothing that a reader does not see hides a secret, and that what is sent of a text is judged like the text.
func FuzzLeaksSecret(f *testing.F) {
	for _, s := range []string{"", "a < b", "[x](y)", "100 %", "&#12", `\u00`, "<a href=\"", "]("} {
		f.Add(s, uint(3))
	}
	const secret = "tK9pqZ7xw42mNvv"
	SetSecrets([]string{secret})
	f.Fuzz(func(t *testing.T, s string, at uint) {
		i := at%uint(len(secret)-1) + 1
		for _, between := range []string{"\u3164", "\u200b", "<b>", "</i>", "<!-- - -->", "](https://a.b)", "&shy;", "%20", " * "} {
			// The end of what stands before could be the beginning of an escape.
			if hidden := s + " > ) ] " + secret[:i] + between + secret[i:]; !LeaksSecret(hidden) {
				t.Fatalf("%q holds the secret", hidden)
			}
		}
		if LeaksSecret(s) != LeaksSecret(text.Clean(s)) {
			t.Fatalf("%q is judged otherwise than what is sent of it", s)
		}
	})
}

func BenchmarkLeaksSecret(b *testing.B) {
	SetSecrets([]string{"tK9pqZ7xw42mNvv"})
	b.Cleanup(func() { SetSecrets(nil) })
	for name, repeated := range map[string]string{
		"text": "We deliver on Mondays. ", "markup": "<a](%41&", "long": "\ufdfa<b>%2541](", "attributes": "<a b c='<a b=\"",
		"links": "](<a b](\"(", "escapes": "%2525252541&amp;amp;amp;lt;\ufdfa",
		"letters": "\ufe8e<i>ΐ&amp;#x390;각", "lines": "\n 1. (2) <", "quotes": `](a "](b '\"`,
	} {
		s := strings.Repeat(repeated, 1<<20/len(repeated))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for range b.N {
				LeaksSecret(s)
			}
		})
	}
}

// FuzzMarkup checks that tags and links are found as their definitions have them.
func FuzzMarkup(f *testing.F) {
	for _, s := range []string{
		`<a b="x>" c=d e>`, `</b >`, "[x](y(z)\\) 't')", "[x]( <a b> \"\\\"\")", "[x][y][z", "](<a)", "<a b= >",
		"<a/b>", "](a\n \"b\n\"\n)", "](((a))", "](\\\n)", `<a b="<a b='<a b="`,
	} {
		f.Add(s)
	}
	tags := regexp.MustCompile(`</?[a-zA-Z][a-zA-Z0-9-]*(?:\s+[a-zA-Z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>]+|"[^"]*"|'[^']*'))?)*\s*/?>`)
	links := regexp.MustCompile(`\](?:\(\s*(?:<[^<>\n]*>|(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*)(?:\s+(?:"(?:[^"\\]|(?s:\\.))*"|'(?:[^'\\]|(?s:\\.))*'))?\s*\)|\[[^\[\]]*\])`)
	f.Fuzz(func(t *testing.T, s string) {
		require.Equal(t, tags.ReplaceAllString(s, ""), without(s, '<', tagLen))
		require.Equal(t, links.ReplaceAllString(s, ""), without(s, ']', linkLen))
	})
}

func FuzzLeaksSecretInBase64(f *testing.F) {
	f.Add("", "")
	f.Add("a", "bc")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "tK9pqZ7xw42mNvv"
		forms := newLeakForms([]string{secret})
		require.True(t, forms.in([]byte(foldSecret(base64.StdEncoding.EncodeToString([]byte(before+secret+after))))))
	})
}
