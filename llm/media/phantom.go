package media

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"multis/internal/language/lexicon"
	"multis/internal/text"
)

const (
	// maxThanks is how long a recording may be in which somebody only says thank you.
	maxThanks = 4 * time.Second
	// minSparse is the length from which a recording needs words: one in each maxPause.
	minSparse = 15 * time.Second
	maxPause  = 5 * time.Second
)

var (
	// noise matches what speech models write of a sound that is no speech: [BLANK_AUDIO], (music), *applause*, ♪.
	noise       = regexp.MustCompile(`\[[^\]]*\]|\([^)]*\)|\*[^*]*\*|[♪♫🎵🎶]+`)
	sentenceEnd = regexp.MustCompile(`[.!?…\n。]+(\s|$)`)
	wordOrSpace = regexp.MustCompile(`[^\pL\pN ]+`)
)

// phantoms are what speech models write where nobody speaks, in lower case and without punctuation.
type phantoms struct{ always, long map[string]bool }

var readPhantoms = sync.OnceValue(func() phantoms {
	set := func(concept string) map[string]bool {
		all := map[string]bool{}
		for _, phrase := range lexicon.Words("phantoms", concept) {
			all[plainWords(phrase)] = true
		}
		return all
	}
	return phantoms{always: set("always"), long: set("long")}
})

func plainWords(s string) string {
	return text.CollapseSpaces(wordOrSpace.ReplaceAllString(strings.ToLower(text.FoldWithAccents(s)), " "))
}

// isSilence reports whether a transcript is what a speech model writes where nobody speaks: nothing, sounds, the credits
// of subtitles, or far too few words for the length of the recording. A length of 0 is unknown.
func isSilence(said string, length time.Duration) bool {
	said = noise.ReplaceAllString(said, " ")
	var sentences []string
	for _, s := range sentenceEnd.Split(said, -1) {
		if s = plainWords(s); s != "" {
			sentences = append(sentences, s)
		}
	}
	words := strings.Fields(plainWords(said))
	known := readPhantoms()
	isPhantom := func(s string) bool { return known.always[s] || known.long[s] && length > maxThanks }
	switch {
	case isPhantom(strings.Join(words, " ")), !slices.ContainsFunc(sentences, func(s string) bool { return !isPhantom(s) }):
		return true
	default:
		return length >= minSparse && time.Duration(len(words))*maxPause < length && isSpaced(words)
	}
}

// isSpaced reports whether words are divided by spaces, as those of Chinese are not.
func isSpaced(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return strings.ContainsFunc(w, func(r rune) bool { return r >= '\u2e80' }) })
}
