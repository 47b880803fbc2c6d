// Package phrase matches a line that a person typed against phrases, such as "stop answering {chat}". A phrase is words and
//
//	(a|b c)  one of several
//	[a b]    may be left out
//	...      up to six words that do not matter
//	{name}   a slot: one or more words, whose text is returned
//
// Case, accents and punctuation do not matter.
package phrase

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Phrase is a compiled phrase.
type Phrase struct {
	parts []part
}

// part is a word, a gap, a slot, or a choice of sequences.
type part struct {
	word    string
	slot    string
	isGap   bool
	choices [][]part
}

// maxGap is the maximum number of words in a gap.
const maxGap = 6

// Parse compiles a phrase.
func Parse(s string) (Phrase, error) {
	p := parser{rest: s}
	parts, err := p.sequence()
	if err != nil {
		return Phrase{}, fmt.Errorf("phrase %q: %w", s, err)
	}
	if p.rest != "" {
		return Phrase{}, fmt.Errorf("phrase %q: unexpected %q", s, p.rest)
	}
	if len(parts) == 0 {
		return Phrase{}, fmt.Errorf("phrase %q: it has no words", s)
	}
	return Phrase{parts}, nil
}

// parser reads a phrase from left to right.
type parser struct {
	rest string
}

// sequence reads parts until the end, or until a sign that ends a choice.
func (p *parser) sequence() ([]part, error) {
	var parts []part
	for {
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.rest == "" || strings.ContainsRune(")]|", rune(p.rest[0])) {
			return parts, nil
		}
		next, err := p.part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, next...)
	}
}

// part reads a group, a slot, a gap or a word. A word with an apostrophe or a hyphen may be several.
func (p *parser) part() ([]part, error) {
	switch p.rest[0] {
	case '(':
		return p.group(")")
	case '[':
		return p.group("]")
	case '{':
		name, rest, closed := strings.Cut(p.rest[1:], "}")
		if !closed || name == "" {
			return nil, errors.New("a slot is not closed")
		}
		p.rest = rest
		return []part{{slot: name}}, nil
	}
	end := strings.IndexAny(p.rest, " ()[]|{}")
	if end < 0 {
		end = len(p.rest)
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	if text == "..." {
		return []part{{isGap: true}}, nil
	}
	var parts []part
	for _, t := range Tokens(text) {
		parts = append(parts, part{word: t.Word})
	}
	if parts == nil {
		return nil, fmt.Errorf("%q is not a word", text)
	}
	return parts, nil
}

// group reads choices up to the closing sign. Those in square brackets may be left out.
func (p *parser) group(closing string) ([]part, error) {
	p.rest = p.rest[1:]
	var choices [][]part
	for {
		parts, err := p.sequence()
		if err != nil {
			return nil, err
		}
		choices = append(choices, parts)
		rest, isMore := strings.CutPrefix(p.rest, "|")
		if !isMore {
			break
		}
		p.rest = rest
	}
	rest, closed := strings.CutPrefix(p.rest, closing)
	if !closed {
		return nil, fmt.Errorf("%q is missing", closing)
	}
	p.rest = rest
	if closing == "]" {
		choices = append(choices, nil)
	}
	return []part{{choices: choices}}, nil
}

// FirstWords returns the words that a line for this phrase can begin with; nil if it can begin with any.
func (p Phrase) FirstWords() []string {
	words, isOpen := firstWords(p.parts)
	if isOpen {
		return nil
	}
	return words
}

// NeededWords returns words of which a line for this phrase has one at least; nil if it needs none.
func (p Phrase) NeededWords() []string {
	for i, part := range p.parts {
		if part.slot != "" || part.isGap {
			continue
		}
		words, isOpen := firstWords(p.parts[i:])
		if !isOpen {
			return words
		}
	}
	return nil
}

// firstWords returns the words that a sequence can begin with. isOpen is true if it can begin with any, or be empty.
func firstWords(parts []part) (words []string, isOpen bool) {
	for _, p := range parts {
		switch {
		case p.word != "":
			return append(words, p.word), false
		case p.slot != "", p.isGap:
			return nil, true
		}
		isEmpty := false
		for _, choice := range p.choices {
			more, open := firstWords(choice)
			if open && len(choice) > 0 {
				return nil, true
			}
			isEmpty = isEmpty || len(choice) == 0
			words = append(words, more...)
		}
		if !isEmpty {
			return words, false
		}
	}
	return words, true
}

// Match is a line to be matched against phrases.
type Match struct {
	Line   Line
	Accept func(slot string, from, to int) bool // reports whether tokens of the line can fill a slot
	// Slots are the texts of the slots after Phrase has returned true.
	Slots map[string]string
	// ToEnd are the texts of the slots after which only words of politeness follow, with these words.
	ToEnd map[string]string
}

// Phrase reports whether a phrase matches the whole line, and sets Slots.
func (m *Match) Phrase(p Phrase) bool {
	m.Slots = map[string]string{}
	m.ToEnd = map[string]string{}
	return m.sequence(p.parts, 0, func(at int) bool { return m.Line.isRestPolite(at) })
}

// sequence matches parts from a token on, and then what follows.
func (m *Match) sequence(parts []part, at int, then func(int) bool) bool {
	if len(parts) == 0 {
		return then(at)
	}
	next, rest := parts[0], parts[1:]
	following := func(at int) bool { return m.sequence(rest, at, then) }
	switch {
	case next.word != "":
		return m.word(next.word, at, following)
	case next.slot != "":
		return m.slot(next.slot, at, following)
	case next.isGap:
		for n := 0; n <= maxGap && at+n <= len(m.Line.Tokens); n++ {
			if following(at + n) {
				return true
			}
		}
		return false
	default:
		return slices.ContainsFunc(next.choices, func(choice []part) bool { return m.sequence(choice, at, following) })
	}
}

// word matches a word. Words of politeness before it are skipped.
func (m *Match) word(word string, at int, then func(int) bool) bool {
	for ; at < len(m.Line.Tokens); at++ {
		if m.Line.Tokens[at].Word == word && then(at+1) {
			return true
		}
		if !m.Line.Tokens[at].IsPolite {
			return false
		}
	}
	return false
}

// slot matches one word and more, the shortest text first.
func (m *Match) slot(name string, at int, then func(int) bool) bool {
	for end := at + 1; end <= len(m.Line.Tokens); end++ {
		if !m.Accept(name, at, end) || !then(end) {
			continue
		}
		m.Slots[name] = m.Line.Text(at, end)
		if m.Line.isRestPolite(end) {
			m.ToEnd[name] = m.Line.Text(at, len(m.Line.Tokens))
		}
		return true
	}
	return false
}
