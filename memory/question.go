package memory

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"multis/schedule"
	"multis/search"
)

// newsWords are in questions about what happened.
var newsWords = regexp.MustCompile(`(?i)\b(came in|come in|happen(?:ed)?|new|news|miss(?:ed)?|went on|asked|complain(?:ed)?|passiert|neu|neues|verpasst|reingekommen|eingegangen|gefragt)\b`)

// AskedTime returns the time of a question about what was said then, by anybody: "what came in overnight?", "who wrote since Monday?". It
// is zero for any other question, also for one about a day that may be to come.
func AskedTime(question string, now time.Time) schedule.Period {
	t, found := schedule.FindPast(question, now)
	if !found || !t.From.Before(now) || !t.Certain && !isAboutSaying(question) && !newsWords.MatchString(question) {
		return schedule.Period{}
	}
	return t.Period
}

// newestAge is how far back a question for what was said last reaches.
const newestAge = 7 * 24 * time.Hour

// AskedNewest returns the time to read for a question that asks for what was said last and names nothing else. It is zero for any other
// question.
func AskedNewest(question string, now time.Time) schedule.Period {
	if !isAboutSaying(question) || !newestWords.MatchString(question) {
		return schedule.Period{}
	}
	besides := search.Words(strings.Join(append(sayingWords.FindAllString(question, -1), newestWords.FindAllString(question, -1)...), " "))
	for _, word := range search.Words(question) {
		if !search.IsCommonWord(word) && !slices.Contains(besides, word) {
			return schedule.Period{}
		}
	}
	return schedule.Period{From: now.Add(-newestAge)}
}

// timeFilter applies the time of a question to what was found. A question about what was said keeps only messages of that time. In
// any other question they only score higher, as do those of the days after it: people rarely speak of something on the very day.
type timeFilter struct {
	schedule.Period

	exclusive   bool // keep only what is from that time
	contactOnly bool // the question is what the contact said, not what was talked about
}

// sayingWords are in questions about what was said.
var sayingWords = regexp.MustCompile(`(?i)\b(said|say|says|saying|told|wrote|write|written|message[ds]?|talk(?:ed)?|discuss(?:ed)?|promise[ds]?|agree[ds]?|gesagt|sagte|geschrieben|schrieb|erzählt|erzählte|besprochen|versprochen|vereinbart|nachrichten?)\b`)

// newestWords are in questions about the newest.
var newestWords = regexp.MustCompile(`(?i)\b(last|lately|latest|recent(?:ly)?|newest|just|zuletzt|letztes|kürzlich|neulich|neueste[ns]?)\b`)

// bothSides are words in questions about what both sides said, not only the contact.
var bothSides = regexp.MustCompile(`(?i)\b(we|us|talk(?:ed)?|discuss(?:ed)?|promise[ds]?|agree[ds]?|i|wir|ich|besprochen|versprochen|vereinbart)\b`)

// requestToWrite begins a request to the assistant, such as "write Ana a message": its words are not about what was said.
var requestToWrite = regexp.MustCompile(`(?i)^\W*(?:please\s+|(?:can|could|would)\s+you\s+)*(?:write|draft|send|say|talk)\b(?:\s+(?:to\s+)?[\p{L}]+)?(?:\s+an?\s+message\b)?`)

// isAboutSaying reports whether a question is about what somebody said.
func isAboutSaying(question string) bool {
	return sayingWords.MatchString(requestToWrite.ReplaceAllString(question, ""))
}

const (
	duringFactor = 1.6 // for the score of a hit from the time of the question
	afterFactor  = 1.3 // and of one from the week after it
	afterAge     = 7 * 24 * time.Hour
)

// apply filters or reorders hits by their time.
func (f timeFilter) apply(hits []search.Hit) []search.Hit {
	switch {
	case f.IsZero():
		return hits
	case f.exclusive:
		return slices.DeleteFunc(hits, func(h search.Hit) bool { return !f.Contains(h.IndexedAt) })
	}
	for i, h := range hits {
		switch {
		case f.Contains(h.IndexedAt):
			hits[i].Score *= duringFactor
		case !f.Until.IsZero() && !h.IndexedAt.Before(f.Until) && h.IndexedAt.Before(f.Until.Add(afterAge)):
			hits[i].Score *= afterFactor
		}
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}
