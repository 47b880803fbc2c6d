package answers

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"multis/business/catalog"
)

// Verdict says how close two answers are.
type Verdict string

// The verdicts.
const (
	Same      Verdict = "same"      // nearly the same words
	Near      Verdict = "near"      // most words of the shorter one, and no other numbers
	Different Verdict = "different" // other words or other numbers
	None      Verdict = "none"      // the owner gave no answer in time
	Pending   Verdict = "pending"   // the owner still has time
)

const (
	// sameShare is the share of all words, and nearShare the share of the words of the shorter answer, that both answers have.
	sameShare, nearShare = 0.8, 0.5
	// nearWithNumbers replaces nearShare if both answers have the same numbers, because numbers say more than words.
	nearWithNumbers = 0.25
	// ReplyTime is how long the owner's own messages count as the answer.
	ReplyTime = 24 * time.Hour
	// ReportPeriod is how far back shadow answers are compared and judged for the weekly report.
	ReportPeriod = 7 * 24 * time.Hour
)

// disclosure is the mark before a text that multis writes in the owner's name. A person does not write it, nor the names
// of documents at the end.
var disclosure = regexp.MustCompile(`^\[[^\]\n]{1,60}\] `)

// Compare compares what multis would have said with what the owner wrote. It compares words and numbers, so that the same
// fact in other words can be Different; it never calls two answers with different numbers Near. An answer is Near as well
// if the owner says what one of the cited quotes says.
func Compare(said, wrote string, quotes ...string) Verdict {
	v, _, disagree := compare(said, wrote)
	if v != Different || disagree {
		return v
	}
	for _, quote := range quotes {
		if of, _, _ := compare(quote, wrote); of == Same || of == Near {
			return Near
		}
	}
	return Different
}

// IsUnsure reports whether a model may know better than Compare: the words differ, and no numbers do.
func IsUnsure(said, wrote string) bool {
	v, _, disagree := compare(said, wrote)
	return (v == Near || v == Different) && !disagree
}

// Likeness is the share of the words and numbers of two answers that both have, from 0 to 1; 0 if their numbers disagree.
func Likeness(said, wrote string) float64 {
	_, likeness, _ := compare(said, wrote)
	return likeness
}

// compare compares two answers. likeness is as in Likeness; disagree reports whether their numbers do.
func compare(said, wrote string) (_ Verdict, likeness float64, disagree bool) {
	said = withoutMarks(said)
	ours, numbers := words(said, minWordLen)
	theirs, otherNumbers := words(wrote, minWordLen)
	if len(ours) == 0 || len(theirs) == 0 { // "Ja."
		ours, numbers = words(said, 1)
		theirs, otherNumbers = words(wrote, 1)
	}
	if len(theirs)+len(otherNumbers) == 0 {
		return None, 0, false
	}
	both := countCommon(ours, theirs)
	sameNumbers := countCommon(numbers, otherNumbers)
	all := len(ours) + len(theirs) - both + len(numbers) + len(otherNumbers) - sameNumbers
	shorter := min(len(ours), len(theirs))
	share, likeness := nearShare, float64(both+sameNumbers)/float64(all)
	if sameNumbers > 0 {
		share = nearWithNumbers
	}
	switch {
	case len(numbers) > 0 && len(otherNumbers) > 0 && sameNumbers < min(len(numbers), len(otherNumbers)):
		return Different, 0, true
	case likeness >= sameShare:
		return Same, likeness, false
	case shorter > 0 && float64(both) >= share*float64(shorter), shorter == 0 && sameNumbers > 0:
		return Near, likeness, false
	default:
		return Different, likeness, false
	}
}

// withoutMarks returns what multis says without the marks that a person does not write.
func withoutMarks(said string) string {
	return catalog.CutSource(disclosure.ReplaceAllString(said, ""))
}

// minWordLen is the length in letters from which words are compared, because every text has shorter ones. A text that has
// only shorter ones is compared by them.
const minWordLen = 3

// words returns the different numbers of a text and its different words of at least minLen letters, in lower case.
func words(s string, minLen int) (words, numbers []string) {
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		switch {
		case strings.ContainsFunc(w, unicode.IsDigit):
			if w = strings.TrimLeft(w, "0"); w == "" {
				w = "0"
			}
			numbers = append(numbers, w)
		case len([]rune(w)) >= minLen:
			words = append(words, w)
		}
	}
	slices.Sort(words)
	slices.Sort(numbers)
	return slices.Compact(words), slices.Compact(numbers)
}

// countCommon returns how many words two sorted lists share.
func countCommon(a, b []string) (n int) {
	for _, w := range a {
		if _, found := slices.BinarySearch(b, w); found {
			n++
		}
	}
	return n
}

// Tally counts the verdicts about one chat.
type Tally struct{ Same, Near, Different, None, Pending int } //nolint:recvcheck // only Add changes it

// Add counts a verdict.
func (t *Tally) Add(v Verdict) {
	switch v {
	case Same:
		t.Same++
	case Near:
		t.Near++
	case Different:
		t.Different++
	case None:
		t.None++
	case Pending:
		t.Pending++
	}
}

// Pairs is how many of the answers can be compared with one of the owner's.
func (t Tally) Pairs() int { return t.Same + t.Near + t.Different }

// Rate is the share of the pairs that are Same or Near, from 0 to 1; 0 without pairs.
func (t Tally) Rate() float64 {
	if t.Pairs() == 0 {
		return 0
	}
	return float64(t.Same+t.Near) / float64(t.Pairs())
}

const (
	// minPairs and minRate are the fewest pairs, and the lowest rate, from which answers may be good enough to be sent.
	minPairs, minRate = 20, 0.9
)

// Ready reports whether enough answers were close to the owner's to offer that they are sent from now on.
func (t Tally) Ready() bool { return t.Pairs() >= minPairs && t.Rate() >= minRate }
