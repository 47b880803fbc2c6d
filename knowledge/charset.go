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
	// charsetSample is how much of a text is used to guess its encoding, in bytes.
	charsetSample = 64 << 10
	// Nearly all bytes are valid in the two-byte encodings of Chinese, Japanese and Korean. Such an encoding is chosen only
	// if its confidence is at least minTwoByteConfidence percent, and if no single-byte encoding reaches
	// minAlphabetConfidence percent.
	minTwoByteConfidence, minAlphabetConfidence = 80, 50
)

// guessEncoding returns the probable encoding of a text that does not declare one. It is Windows-1252 unless there is evidence for another.
func guessEncoding(data []byte) encoding.Encoding {
	from := max(bytes.IndexFunc(data, func(r rune) bool { return r >= 0x80 }), 0)
	all, err := chardet.NewTextDetector().DetectAll(data[from:min(from+charsetSample, len(data))])
	if err != nil {
		return charmap.Windows1252 // no encoding was detected
	}
	spelled := slices.ContainsFunc(all, func(r chardet.Result) bool { return !isTwoByte(r) && r.Confidence >= minAlphabetConfidence })
	all = slices.DeleteFunc(all, func(r chardet.Result) bool {
		e, _ := charset.Lookup(r.Charset)
		return e == nil || isTwoByte(r) && (spelled || r.Confidence < minTwoByteConfidence)
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

// mostlyUTF8 reports whether more non-ASCII characters are valid UTF-8 than not. Many servers declare UTF-8 for any text.
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

// isTwoByte reports whether an encoding uses two bytes for a character.
func isTwoByte(r chardet.Result) bool {
	return slices.Contains([]string{"GB18030", "Big5", "EUC-JP", "EUC-KR", "Shift_JIS"}, r.Charset)
}

// rarity returns 0 for common encodings and 1 for others. It decides between results of equal confidence.
func rarity(r chardet.Result) int {
	if slices.Contains([]string{"ISO-8859-1", "windows-1252", "GB18030"}, r.Charset) {
		return 0
	}
	return 1
}
