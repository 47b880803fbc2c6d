package memory

import (
	"slices"
	"strings"
	"time"

	"multis/store"
	"multis/text"
)

// placement is what becomes of one note that was found.
type placement struct {
	note store.Note
	// same is the note that says so already; nil for none.
	same *store.Note
	// old is the note that the new one takes the place of, or that is newer than it; nil for none.
	old *store.Note
}

// minSharedWords is which share of their words two notes must have in common to say the same.
const minSharedWords = 0.85

// placeNote decides what becomes of a note that was found, given what is known. offered are the notes that the model was shown and
// may name as replaced; others it may only meet by their subject.
func placeNote(n store.Note, replaces int64, known []store.Note, offered map[int64]bool) placement {
	s := placement{note: n}
	for i, k := range known {
		if sameWords(k.Body, n.Body) {
			s.same = &known[i]
			return s
		}
	}
	for i, k := range known {
		if (replaces == k.ID && offered[k.ID]) || (n.Subject != "" && n.Subject == k.Subject) {
			s.old = &known[i]
			break
		}
	}
	if s.old == nil {
		return s
	}
	if s.old.ValidFrom.After(n.ValidFrom) {
		// It was said before what is known: it held until then.
		ended, by := s.old.ValidFrom, s.old.ID
		s.note.ValidTo, s.note.SupersededBy = &ended, &by
		return s
	}
	s.note.Was = text.Clip(s.old.Body, maxBody)
	if s.note.Subject == "" {
		s.note.Subject = s.old.Subject
	}
	return s
}

// sameWords tells whether two texts say the same but for a word or two. A number or a "not" makes a difference, however
// short it is.
func sameWords(a, b string) bool {
	x, y := strings.Fields(fold(a)), strings.Fields(fold(b))
	if len(x) == 0 || len(y) == 0 {
		return len(x) == len(y)
	}
	common := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			common++
		} else if changesMeaning(w) {
			return false
		}
	}
	for _, w := range y {
		if !slices.Contains(x, w) && changesMeaning(w) {
			return false
		}
	}
	return float64(2*common) >= minSharedWords*float64(len(x)+len(y))
}

// changesMeaning says whether a word alone changes what a sentence says.
func changesMeaning(word string) bool {
	switch word {
	case "not", "no", "never", "nicht", "kein", "keine", "nie", "pas", "jamais", "non", "nunca", "niet", "geen":
		return true
	default:
		return strings.ContainsAny(word, "0123456789") || len(word) >= 5
	}
}

// newestTime is when the newest of the messages that a note comes from was said.
func newestTime(messages []store.Message, from []int) time.Time {
	var at time.Time
	for _, n := range from {
		if t := messages[n-1].At; t.After(at) {
			at = t
		}
	}
	return at
}
