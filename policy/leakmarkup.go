package policy

import (
	"slices"
	"strings"
)

// visibleTexts returns a text as readers may see it: as it is, without all that looks like markup, and without what is a
// comment, a tag, a link or the number of an item of a list. A single "<" or "](" may take more away than a reader
// misses, so that no reading alone is enough.
func visibleTexts(s string) []string {
	all, plain := []string{s}, s
	if strings.ContainsAny(s, "<]") {
		linked := without(s, ']', linkLen)
		plain = without(without(withoutComments(s), ']', linkLen), '<', tagLen)
		all = append(all, withoutMarkup(s), linked, without(linked, '<', tagLen), plain)
	}
	all = append(all, withoutListNumbers(plain))
	slices.Sort(all)
	return slices.Compact(all)
}

// without removes the parts of a text that begin with a character. length returns the length of the part at the beginning
// of s; zero if it is none.
func without(text string, first byte, length func(s string) int) string {
	var b strings.Builder
	b.Grow(len(text))
	for {
		i := strings.IndexByte(text, first)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		n := length(text[i:])
		if n == 0 {
			b.WriteByte(first)
			n = 1
		}
		text = text[i+n:]
	}
}

// tagLen returns the length of the HTML tag at the beginning of s, which is "<"; zero if there is none. The expression
// that FuzzMarkup compares it with takes 20 times as long for a page. No character is read for more than three tags,
// because a "<" outside of a quoted value ends a tag. So the time for all tags of a text grows linearly with its length.
func tagLen(s string) int {
	i := 1
	if strings.HasPrefix(s[i:], "/") {
		i++
	}
	name := span(s[i:], isTagName)
	if name == 0 || !isASCIILetter(s[i]) {
		return 0
	}
	for i += name; ; {
		space := span(s[i:], isMarkupSpace)
		switch rest := s[i+space:]; {
		case strings.HasPrefix(rest, ">"):
			return i + space + 1
		case strings.HasPrefix(rest, "/>"):
			return i + space + 2
		case space == 0:
			return 0
		default:
			attribute := attributeLen(rest)
			if attribute == 0 {
				return 0
			}
			i += space + attribute
		}
	}
}

// attributeLen returns the length of the attribute of a tag at the beginning of s, with its value; zero if there is none.
func attributeLen(s string) int {
	name := span(s, isAttributeName)
	if name == 0 || !isASCIILetter(s[0]) && s[0] != '_' && s[0] != ':' {
		return 0
	}
	equals := name + span(s[name:], isMarkupSpace)
	if !strings.HasPrefix(s[equals:], "=") {
		return name
	}
	value := equals + 1 + span(s[equals+1:], isMarkupSpace)
	if quoted := quotedLen(s[value:], false); quoted > 0 {
		return value + quoted
	}
	unquoted := span(s[value:], func(c byte) bool { return !isMarkupSpace(c) && strings.IndexByte(`"'=<>`, c) < 0 })
	if unquoted == 0 {
		return 0
	}
	return value + unquoted
}

// linkLen returns the length of the end of a Markdown link at the beginning of s, which is "]": up to the end of the
// link's address or label; zero if there is none. Like tagLen it reads no place of a text more than a few times.
func linkLen(s string) int {
	switch {
	case strings.HasPrefix(s, "]["):
		if i := 2 + strings.IndexAny(s[2:], "[]"); i > 1 && s[i] == ']' {
			return i + 1
		}
	case strings.HasPrefix(s, "]("):
		address := 2 + span(s[2:], isMarkupSpace)
		if strings.HasPrefix(s[address:], "<") {
			if i := address + 1 + strings.IndexAny(s[address+1:], "<>\n"); i > address && s[i] == '>' {
				if n := titleLen(s[i+1:]); n > 0 {
					return i + 1 + n
				}
			}
		}
		address += addressLen(s[address:])
		if n := titleLen(s[address:]); n > 0 {
			return address + n
		}
		if n := titleLen(s[2:]); n > 0 { // a title without an address
			return 2 + n
		}
	}
	return 0
}

// addressLen returns the length of the address of a link at the beginning of s: it has no spaces, and parentheses in pairs only.
func addressLen(s string) int {
	opened := -1 // where the open parenthesis is
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] != '\n':
			i++
		case c == '(' && opened < 0:
			opened = i
		case c == ')' && opened >= 0:
			opened = -1
		case strings.IndexByte(`\()`, c) >= 0, isMarkupSpace(c):
			if opened >= 0 {
				return opened
			}
			return i
		}
	}
	if opened >= 0 {
		return opened
	}
	return len(s)
}

// titleLen returns the length of what follows the address of a link: its title, which may be missing, and the closing
// parenthesis; zero if they are not there.
func titleLen(s string) int {
	i := span(s, isMarkupSpace)
	if i > 0 {
		if n := quotedLen(s[i:], true); n > 0 {
			i += n
			i += span(s[i:], isMarkupSpace)
		}
	}
	if strings.HasPrefix(s[i:], ")") {
		return i + 1
	}
	return 0
}

// quotedLen returns the length of the text in quotation marks at the beginning of s; zero if there is none. With escapes
// a quotation mark after a backslash does not end it.
func quotedLen(s string, escapes bool) int {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return i + 1
		case escapes && s[i] == '\\':
			i++
		}
	}
	return 0
}

// span returns how many of the first bytes of s belong to a class.
func span(s string, belongs func(byte) bool) int {
	for i := range len(s) {
		if !belongs(s[i]) {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool         { return '0' <= c && c <= '9' }
func isMarkupSpace(c byte) bool   { return strings.IndexByte(" \t\n\f\r", c) >= 0 }
func isASCIILetter(c byte) bool   { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isTagName(c byte) bool       { return isASCIILetter(c) || isDigit(c) || c == '-' }
func isAttributeName(c byte) bool { return isTagName(c) || strings.IndexByte("_:.", c) >= 0 }

// withoutListNumbers removes the numbers before the items of lists, such as "1. " and "(2) ".
func withoutListNumbers(s string) string {
	rest := without("\n"+s, '\n', func(line string) int {
		i := 1 + span(line[1:], func(c byte) bool { return c == ' ' || c == '\t' || c == '(' || c == '#' || c == '>' })
		digits := span(line[i:], isDigit)
		if after := line[i+digits:]; digits == 0 || after == "" || strings.IndexByte(".):]", after[0]) < 0 {
			return 0
		}
		return i + digits + 1
	})
	if len(rest) > len(s) { // there is no list
		return s
	}
	return rest
}

// withoutComments removes HTML comments.
func withoutComments(s string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(s, "<!--")
		_, after, closed := strings.Cut(rest, "-->")
		if !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		s = after
	}
}

// markup holds the start and the end of each part that a reader of HTML or Markdown does not see: comments, tags, the
// addresses and labels of links.
var markup = [...][2]string{{"<!--", "-->"}, {"<", ">"}, {"](", ")"}, {"][", "]"}} //nolint:gochecknoglobals // a constant, were there constant arrays

// withoutMarkup removes HTML comments and tags, and the addresses and labels of Markdown links.
func withoutMarkup(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var unclosed [len(markup)]bool // kinds of markup whose end does not occur any more
	for i := 0; i < len(s); i++ {
		if c := s[i]; c != '<' && c != ']' {
			b.WriteByte(c)
			continue
		}
		length := 0
		for k, m := range markup {
			if unclosed[k] || !strings.HasPrefix(s[i:], m[0]) {
				continue
			}
			if end := strings.Index(s[i+len(m[0]):], m[1]); end >= 0 {
				length = len(m[0]) + end + len(m[1])
				break
			}
			unclosed[k] = true
		}
		if length == 0 {
			b.WriteByte(s[i])
			continue
		}
		i += length - 1
	}
	return b.String()
}
