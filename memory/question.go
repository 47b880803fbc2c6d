package memory

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"multis/clock/schedule"
	"multis/knowledge/search"
)

// newsWords matches words of questions about what happened.
var newsWords = regexp.MustCompile(`(?i)\b(came in|come in|happen(?:ed)?|new|news|miss(?:ed)?|went on|asked|complain(?:ed)?|passiert|neu|neues|verpasst|reingekommen|eingegangen|gefragt)\b`)

// QuestionPeriod returns the past period that a question about messages names, such as "what came in overnight?" or "who
// wrote since Monday?". It returns the zero Period for any other question, and for a question about a day that may be in
// the future.
func QuestionPeriod(question string, now time.Time) schedule.Period {
	t, found := schedule.ParsePast(question, now)
	if !found || !t.From.Before(now) || !t.Certain && !isAboutSaying(question) && !newsWords.MatchString(question) {
		return schedule.Period{}
	}
	return t.Period
}

// newestAge is the length of the period that a question about the latest messages means.
const newestAge = 7 * 24 * time.Hour

// LatestPeriod returns the period to read for a question that asks for the latest messages and names no topic. It returns
// the zero Period for any other question.
func LatestPeriod(question string, now time.Time) schedule.Period {
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

// timeFilter filters or reorders hits by the period that a question names. For a question about what was said, it keeps only messages from
// the period. For any other question, messages from the period and from the week after it score higher, because people often write about
// something after the day on which it happened.
type timeFilter struct {
	schedule.Period

	exclusive   bool // keep only hits from the period
	contactOnly bool // the question asks what the contact said, not what both talked about
}

// sayingWords matches words of questions about what was said.
var sayingWords = regexp.MustCompile(`(?i)\b(said|say|says|saying|told|wrote|write|written|message[ds]?|talk(?:ed)?|discuss(?:ed)?|promise[ds]?|agree[ds]?|gesagt|sagte|geschrieben|schrieb|erzählt|erzählte|besprochen|versprochen|vereinbart|nachrichten?)\b`)

// newestWords matches words of questions about the latest messages.
var newestWords = regexp.MustCompile(`(?i)\b(last|lately|latest|recent(?:ly)?|newest|just|zuletzt|letztes|kürzlich|neulich|neueste[ns]?)\b`)

// bothSides matches words of questions about what the owner and the contact said, not the contact alone.
var bothSides = regexp.MustCompile(`(?i)\b(we|us|talk(?:ed)?|discuss(?:ed)?|promise[ds]?|agree[ds]?|i|wir|ich|besprochen|versprochen|vereinbart)\b`)

// requestToWrite matches the beginning of a request such as "write Ana a message". Its words are ignored by
// isAboutSaying, because the request is not about what was said.
var requestToWrite = regexp.MustCompile(`(?i)^\W*(?:please\s+|(?:can|could|would)\s+you\s+)*(?:write|draft|send|say|talk)\b(?:\s+(?:to\s+)?[\p{L}]+)?(?:\s+an?\s+message\b)?`)

// isAboutSaying reports whether a question is about what somebody said.
func isAboutSaying(question string) bool {
	return sayingWords.MatchString(requestToWrite.ReplaceAllString(question, ""))
}

const (
	duringFactor = 1.6 // factor for the score of a hit from the period
	afterFactor  = 1.3 // factor for the score of a hit from afterAge after the period
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
