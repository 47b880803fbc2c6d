package memory

import (
	"slices"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// notePlacement says how a new note relates to the known notes.
type notePlacement struct {
	note store.Note
	// duplicate is a known note that says the same; nil for none.
	duplicate *store.Note
	// replaced is a known note about the same matter; nil for none. The new note replaces it, unless the known note is newer.
	replaced *store.Note
}

// minSharedWords is the share of words that two notes must have in common to count as the same.
const minSharedWords = 0.85

// placeNote compares a new note with the known ones. replaces is the note that the model names as replaced; it counts only if it is in
// offered, the notes that the model saw. Other notes are found by their subject.
func placeNote(n store.Note, replaces store.NoteID, known []store.Note, offered map[store.NoteID]bool) notePlacement {
	s := notePlacement{note: n}
	for i, k := range known {
		if sameWords(k.Body, n.Body) {
			s.duplicate = &known[i]
			return s
		}
	}
	for i, k := range known {
		if (replaces == k.ID && offered[k.ID]) || (n.Subject != "" && n.Subject == k.Subject) {
			s.replaced = &known[i]
			break
		}
	}
	if s.replaced == nil {
		return s
	}
	if s.replaced.ValidFrom.After(n.ValidFrom) {
		// The new note is about an earlier time than the known one, so it was valid until the known one began.
		ended, by := s.replaced.ValidFrom, s.replaced.ID
		s.note.ValidTo, s.note.SupersededBy = &ended, &by
		return s
	}
	s.note.Was = text.Clip(s.replaced.Body, maxBody)
	if s.note.Subject == "" {
		s.note.Subject = s.replaced.Subject
	}
	return s
}

// sameWords reports whether two texts differ in a few unimportant words only. A number or a "not" always makes a difference.
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

// changesMeaning reports whether the meaning of a sentence changes if this word is added or left out.
func changesMeaning(word string) bool {
	switch word {
	case "not", "no", "never", "nicht", "kein", "keine", "nie", "pas", "jamais", "non", "nunca", "niet", "geen":
		return true
	default:
		return strings.ContainsAny(word, "0123456789") || len(word) >= 5
	}
}

// newestTime returns the time of the newest of the messages with the given numbers, from 1.
func newestTime(messages []store.Message, from []int) time.Time {
	var at time.Time
	for _, n := range from {
		if t := messages[n-1].At; t.After(at) {
			at = t
		}
	}
	return at
}
