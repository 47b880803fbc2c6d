package policy

import (
	"slices"
	"unicode"
)

// ChatName is what a chat is called, and on which network it is.
type ChatName struct {
	ID      ChatID
	Name    string
	Network string // "WhatsApp"
	Person  int64  // the same for chats that were merged; 0: merged with none
}

// minNameLetters is how many letters of a first name are enough to mean somebody.
const minNameLetters = 3

// FindNamed finds the chats that a text names: by the whole name, or by the first word of it where nobody else is called so, as
// whole words in any case. Of several of one name, one is meant if its network is named, too; else they are unclear. A name
// within a longer one that is named is not meant. Who was merged is named with all chats.
func FindNamed(text string, chats []ChatName) (named, unclear []ChatName) {
	hay := fold(text)
	return findNames(hay, chats, func(g nameGroup) bool { return g.appearsIn(hay) })
}

// FindMentioned is Named for a question that need not be about anybody: a name must be written as one, not in small letters, and be no
// common word. A contact who calls himself "What" is not in every question.
func FindMentioned(text string, chats []ChatName, isCommon func(word string) bool) (named, unclear []ChatName) {
	hay, written := fold(text), collapseSpaces(text)
	return findNames(hay, chats, func(g nameGroup) bool {
		if isCommon(string(g.folded)) {
			return false
		}
		for start := range wordMatches(hay, g.folded) {
			if !unicode.IsLower(written[start]) {
				return true
			}
		}
		return false
	})
}

func findNames(hay []rune, chats []ChatName, stands func(nameGroup) bool) (named, unclear []ChatName) {
	whole := groupNames(chats, func(name string) string { return name })
	for _, group := range whole {
		if !stands(group) || slices.ContainsFunc(whole, func(o nameGroup) bool { return o.contains(group) && stands(o) }) {
			continue
		}
		n, u := group.resolve(hay)
		named, unclear = append(named, n...), append(unclear, u...)
	}
	for _, group := range groupNames(chats, firstWord) {
		known := slices.ContainsFunc(whole, func(o nameGroup) bool { return stands(o) && o.overlaps(group) })
		if known || len(group.folded) < minNameLetters || !stands(group) {
			continue
		}
		n, u := group.resolve(hay)
		named, unclear = append(named, n...), append(unclear, u...)
	}
	return withMerged(named, chats), unclear
}

// withMerged adds the other chats of the people who are named.
func withMerged(named, chats []ChatName) []ChatName {
	for _, c := range chats {
		of := func(n ChatName) bool { return n.Person != 0 && n.Person == c.Person }
		if slices.ContainsFunc(named, of) && !slices.Contains(named, c) {
			named = append(named, c)
		}
	}
	return named
}

// nameGroup are the chats of one name.
type nameGroup struct {
	folded []rune
	chats  []ChatName
}

// groupNames groups chats by a part of their names, in order of their first.
func groupNames(chats []ChatName, part func(string) string) []nameGroup {
	var groups []nameGroup
	for _, c := range chats {
		folded := fold(part(c.Name))
		if len(folded) < 2 {
			continue
		}
		i := slices.IndexFunc(groups, func(g nameGroup) bool { return slices.Equal(g.folded, folded) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nameGroup{folded: folded})
		}
		groups[i].chats = append(groups[i].chats, c)
	}
	return groups
}

// firstWord is the first of several words of a name.
func firstWord(name string) string {
	folded := fold(name)
	if i := slices.Index(folded, ' '); i > 0 {
		return string(folded[:i])
	}
	return ""
}

func (g nameGroup) appearsIn(hay []rune) bool {
	for range wordMatches(hay, g.folded) {
		return true
	}
	return false
}

// contains tells whether o is part of this longer name.
func (g nameGroup) contains(o nameGroup) bool {
	return len(g.folded) > len(o.folded) && o.appearsIn(g.folded)
}

// overlaps tells whether one of the chats is in both groups, or whether one name begins the other.
func (g nameGroup) overlaps(o nameGroup) bool {
	return slices.Equal(g.folded, o.folded) || slices.ContainsFunc(g.chats, func(c ChatName) bool { return slices.Contains(o.chats, c) })
}

// resolve is the one chat of a group that is meant, or all of them as unclear.
func (g nameGroup) resolve(hay []rune) (named, unclear []ChatName) {
	if one := g.chats[0].Person; len(g.chats) == 1 || (one != 0 && !slices.ContainsFunc(g.chats, func(c ChatName) bool { return c.Person != one })) {
		return g.chats, nil
	}
	for _, c := range g.chats {
		if n := (nameGroup{folded: fold(c.Network)}); len(n.folded) > 0 && n.appearsIn(hay) {
			named = append(named, c)
		}
	}
	if len(named) != 1 {
		return nil, g.chats
	}
	return named, nil
}
