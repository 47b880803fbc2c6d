package knowledge

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

const (
	// guessSample is how much of a text is looked at to guess what it was written in, in bytes.
	guessSample = 64 << 10
	// Most bytes could be pairs that stand for Chinese, Japanese or Korean characters. They are taken for that when it is so
	// sure, in percent, and when they do not spell the words of an alphabet so surely.
	surePairs, sureLetters = 80, 50
)

// guess tells in which characters a text was written of which nobody says it: those of Western Europe, unless its letters
// speak for others. A few words are not enough to tell.
func guess(data []byte) encoding.Encoding {
	from := max(bytes.IndexFunc(data, func(r rune) bool { return r >= 0x80 }), 0)
	all, err := chardet.NewTextDetector().DetectAll(data[from:min(from+guessSample, len(data))])
	if err != nil {
		return charmap.Windows1252 // nothing fits
	}
	spelled := slices.ContainsFunc(all, func(r chardet.Result) bool { return !isPairs(r) && r.Confidence >= sureLetters })
	all = slices.DeleteFunc(all, func(r chardet.Result) bool {
		e, _ := charset.Lookup(r.Charset)
		return e == nil || isPairs(r) && (spelled || r.Confidence < surePairs)
	})
	if len(all) == 0 {
		return charmap.Windows1252
	}
	best := slices.MinFunc(all, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(rarity(a), rarity(b)), cmp.Compare(a.Charset, b.Charset))
	})
	e, _ := charset.Lookup(best.Charset)
	return e
}

// mostlyUTF8 tells whether more characters beyond ASCII are whole than broken. Many servers say UTF-8 of whatever they have.
func mostlyUTF8(data []byte) bool {
	whole, broken := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch data = data[size:]; {
		case size > 1:
			whole++
		case r == utf8.RuneError:
			broken++
		}
	}
	return whole > broken
}

// isPairs tells whether characters are written as two bytes.
func isPairs(r chardet.Result) bool {
	return slices.Contains([]string{"GB18030", "Big5", "EUC-JP", "EUC-KR", "Shift_JIS"}, r.Charset)
}

// rarity decides between equals.
func rarity(r chardet.Result) int {
	if slices.Contains([]string{"ISO-8859-1", "windows-1252", "GB18030"}, r.Charset) {
		return 0
	}
	return 1
}
