package reply

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A value is what the parser returns: nil, bool, string, number, list or object.
type (
	number string
	list   []any
	object []member
)

// member is a key of an object with its value.
type member struct {
	key   string
	value any
}

// maxDepth is how deep values may be nested.
const maxDepth = 60

// parser reads one JSON value, and what models write instead: comments, a comma behind the last element, keys without
// quotation marks, single quotation marks, line breaks and quotation marks within a text, None and True.
type parser struct {
	text       string
	at         int
	hasMembers bool // a key with its colon was read: this is meant to be JSON
}

// value reads a value at the parser's place.
func (p *parser) value(depth int) (any, bool) {
	p.skipSpace()
	if p.at >= len(p.text) || depth > maxDepth {
		return nil, false
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"' || c == '\'' || strings.HasPrefix(p.text[p.at:], "“"):
		return p.string()
	default:
		return p.word()
	}
}

func (p *parser) object(depth int) (any, bool) {
	p.at++
	read := object{}
	for {
		p.skipSpace()
		if p.takes("}") {
			return read, true
		}
		key, ok := p.key()
		if !ok {
			return nil, false
		}
		p.skipSpace()
		if !p.takes(":") {
			return nil, false
		}
		p.hasMembers = true
		value, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		read = append(read, member{key, value})
		if !p.separator('}') {
			return nil, false
		}
	}
}

func (p *parser) list(depth int) (any, bool) {
	p.at++
	read := list{}
	for {
		p.skipSpace()
		if p.takes("]") {
			return read, true
		}
		value, ok := p.value(depth + 1)
		if !ok {
			return nil, false
		}
		read = append(read, value)
		if !p.separator(']') {
			return nil, false
		}
	}
}

// separator reads the comma behind an element. It returns false if neither a comma nor the end follows.
func (p *parser) separator(end byte) bool {
	p.skipSpace()
	if p.takes(",") {
		return true
	}
	return p.at < len(p.text) && p.text[p.at] == end
}

// key reads the key of an object, with or without quotation marks.
func (p *parser) key() (string, bool) {
	if p.at >= len(p.text) {
		return "", false
	}
	if c := p.text[p.at]; c == '"' || c == '\'' || strings.HasPrefix(p.text[p.at:], "“") {
		return p.string()
	}
	from := p.at
	for p.at < len(p.text) && (isWordByte(p.text[p.at]) || p.text[p.at] == '-') {
		p.at++
	}
	return p.text[from:p.at], p.at > from
}

// string reads a text in quotation marks. A quotation mark within it that nothing of JSON follows belongs to the text.
func (p *parser) string() (string, bool) {
	open, size := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += size
	end := string(open)
	if open == '“' {
		end = "”"
	}
	var b strings.Builder
	for p.at < len(p.text) {
		if p.text[p.at] == '\\' {
			p.escape(&b)
			continue
		}
		if rest := p.text[p.at:]; strings.HasPrefix(rest, end) && endsString(rest[len(end):]) {
			p.at += len(end)
			return b.String(), true
		}
		r, size := utf8.DecodeRuneInString(p.text[p.at:])
		b.WriteRune(r)
		p.at += size
	}
	return "", false
}

// endsString reports whether rest can follow a text in JSON.
func endsString(rest string) bool {
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	return rest == "" || strings.ContainsRune(",:]}", rune(rest[0])) || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*")
}

// escape reads a backslash and what it stands for. An unknown escape stands for the character itself.
func (p *parser) escape(b *strings.Builder) {
	p.at++
	if p.at >= len(p.text) {
		return
	}
	c, size := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += size
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b', 'f':
		b.WriteByte(' ')
	case 'u':
		b.WriteRune(p.codePoint())
	default:
		b.WriteRune(c)
	}
}

// codePoint reads the digits of \uXXXX, and of a second one if they are a surrogate pair.
func (p *parser) codePoint() rune {
	first, ok := p.hexDigits()
	if !ok {
		return unicode.ReplacementChar
	}
	if first < 0xD800 || first > 0xDFFF {
		return first
	}
	at := p.at
	if p.takes(`\u`) {
		if second, ok := p.hexDigits(); ok && first < 0xDC00 && second >= 0xDC00 && second <= 0xDFFF {
			return (first-0xD800)<<10 + second - 0xDC00 + 0x10000
		}
	}
	p.at = at
	return unicode.ReplacementChar
}

func (p *parser) hexDigits() (rune, bool) {
	const digits = 4
	if p.at+digits > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[p.at:p.at+digits], 16, 32)
	if err != nil {
		return 0, false
	}
	p.at += digits
	return rune(n), true //nolint:gosec // at most four hexadecimal digits
}

// word reads a number, or one of the words that stand for true, false and null.
func (p *parser) word() (any, bool) {
	from := p.at
	for p.at < len(p.text) && (isWordByte(p.text[p.at]) || strings.IndexByte("+-.", p.text[p.at]) >= 0) {
		p.at++
	}
	word := p.text[from:p.at]
	switch strings.ToLower(word) {
	case "true":
		return true, true
	case "false":
		return false, true
	case "null", "none", "nil", "undefined", "nan":
		return nil, true
	}
	_, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return nil, false
	}
	if strings.ContainsAny(word, "xXpP_iI") {
		return nil, false
	}
	return number(word), true
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// takes moves over a text if it stands at the parser's place.
func (p *parser) takes(s string) bool {
	if !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

// skipSpace moves over white space and comments.
func (p *parser) skipSpace() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch r, size := utf8.DecodeRuneInString(rest); {
		case unicode.IsSpace(r) || r == '\ufeff':
			p.at += size
		case strings.HasPrefix(rest, "//"):
			p.at += endOf(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			p.at += endOf(rest, "*/")
		default:
			return
		}
	}
}

// endOf returns where the first end of a text ends; the length of the text if it has none.
func endOf(text, end string) int {
	if i := strings.Index(text, end); i >= 0 {
		return i + len(end)
	}
	return len(text)
}
