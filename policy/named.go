package policy

import (
	"slices"
	"unicode"
)

// ChatName is the name and the network of a chat.
type ChatName struct {
	ID      ChatID
	Name    string
	Network string // "WhatsApp"
	Person  int64  // the same for all chats of a merged person; 0 means not merged
}

// minNameLetters is the shortest first name that is searched for, in letters.
const minNameLetters = 3

// FindChats returns the chats that a text names. A chat is named if the text has its whole name as whole words, in any
// case, or the first word of its name if no other chat has that first word. If several chats have the same name, named
// holds the one whose network the text also names; without a network, unclear holds all of them. A name inside a longer
// name in the text does not count. All chats of a merged person are returned together.
func FindChats(text string, chats []ChatName) (named, unclear []ChatName) {
	haystack := fold(text)
	return findNames(haystack, chats, func(g nameGroup) bool { return g.appearsIn(haystack) })
}

// FindChatsInQuestion is FindChats for a question that may name no chat at all. A name counts only if the text does not
// write it in lower case, and if it is not a common word: otherwise every question would name a contact called "What".
func FindChatsInQuestion(text string, chats []ChatName, isCommon func(word string) bool) (named, unclear []ChatName) {
	haystack, written := fold(text), collapseSpaces(text)
	return findNames(haystack, chats, func(g nameGroup) bool {
		if isCommon(string(g.folded)) {
			return false
		}
		for start := range wordMatches(haystack, g.folded) {
			if !unicode.IsLower(written[start]) {
				return true
			}
		}
		return false
	})
}

// findNames implements FindChats and FindChatsInQuestion. isInText reports whether the text contains the name of a group.
func findNames(haystack []rune, chats []ChatName, isInText func(nameGroup) bool) (named, unclear []ChatName) {
	whole := groupNames(chats, func(name string) string { return name })
	for _, group := range whole {
		if !isInText(group) || slices.ContainsFunc(whole, func(o nameGroup) bool { return o.contains(group) && isInText(o) }) {
			continue
		}
		n, u := group.resolve(haystack)
		named, unclear = append(named, n...), append(unclear, u...)
	}
	for _, group := range groupNames(chats, firstWord) {
		known := slices.ContainsFunc(whole, func(o nameGroup) bool { return isInText(o) && o.overlaps(group) })
		if known || len(group.folded) < minNameLetters || !isInText(group) {
			continue
		}
		n, u := group.resolve(haystack)
		named, unclear = append(named, n...), append(unclear, u...)
	}
	return withMerged(named, chats), unclear
}

// withMerged adds to named the other chats of its merged persons.
func withMerged(named, chats []ChatName) []ChatName {
	for _, c := range chats {
		isSamePerson := func(n ChatName) bool { return n.Person != 0 && n.Person == c.Person }
		if slices.ContainsFunc(named, isSamePerson) && !slices.Contains(named, c) {
			named = append(named, c)
		}
	}
	return named
}

// nameGroup holds all chats that have the same name, or the same first word of it.
type nameGroup struct {
	folded []rune
	chats  []ChatName
}

// groupNames groups chats by a part of their names, in the order of the first chat of each group.
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

// firstWord returns the first word of a name; empty for a name of one word.
func firstWord(name string) string {
	folded := fold(name)
	if i := slices.Index(folded, ' '); i > 0 {
		return string(folded[:i])
	}
	return ""
}

// appearsIn reports whether a folded text has the name as whole words.
func (g nameGroup) appearsIn(haystack []rune) bool {
	for range wordMatches(haystack, g.folded) {
		return true
	}
	return false
}

// contains reports whether the name of o is a part of this longer name.
func (g nameGroup) contains(o nameGroup) bool {
	return len(g.folded) > len(o.folded) && o.appearsIn(g.folded)
}

// overlaps reports whether the two groups have the same name or share a chat.
func (g nameGroup) overlaps(o nameGroup) bool {
	return slices.Equal(g.folded, o.folded) || slices.ContainsFunc(g.chats, func(c ChatName) bool { return slices.Contains(o.chats, c) })
}

// resolve returns the chats that the name refers to in a folded text. If that is not certain, all chats of the group are unclear.
func (g nameGroup) resolve(haystack []rune) (named, unclear []ChatName) {
	one := g.chats[0].Person
	isOther := func(c ChatName) bool { return c.Person != one }
	if len(g.chats) == 1 || (one != 0 && !slices.ContainsFunc(g.chats, isOther)) {
		return g.chats, nil
	}
	for _, c := range g.chats {
		if n := (nameGroup{folded: fold(c.Network)}); len(n.folded) > 0 && n.appearsIn(haystack) {
			named = append(named, c)
		}
	}
	if len(named) != 1 {
		return nil, g.chats
	}
	return named, nil
}
