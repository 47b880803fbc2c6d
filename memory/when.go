package memory

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/search"
)

// Span is a stretch of time: from From, before Until. Its zero value is all of it.
type Span struct {
	From, Until time.Time
}

// IsZero tells whether the span is all of time.
func (s Span) IsZero() bool { return s.From.IsZero() && s.Until.IsZero() }

// holds tells whether an instant is in the span.
func (s Span) holds(t time.Time) bool {
	return (s.From.IsZero() || !t.Before(s.From)) && (s.Until.IsZero() || t.Before(s.Until))
}

var (
	dayWords = regexp.MustCompile(`(?i)\b(today|yesterday|heute|vorgestern|gestern|last night)\b`)
	unitBack = regexp.MustCompile(`(?i)\b(this|last|past|previous|diese[nrs]?|letzte[nrs]?|vorige[nrs]?)\s+(week|month|year|woche|monat|jahr)\b`)
	countAgo = regexp.MustCompile(`(?i)\b(\d{1,3})\s+(days?|weeks?|months?)\s+ago\b`)
	vorTagen = regexp.MustCompile(`(?i)\bvor\s+(\d{1,3})\s+(tag(?:en)?|wochen?|monat(?:en)?)\b`)
	isoDay   = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	// news is how one asks for what happened.
	news       = regexp.MustCompile(`(?i)\b(came in|come in|happen(?:ed)?|new|news|miss(?:ed)?|went on|asked|complain(?:ed)?|passiert|neu|neues|verpasst|reingekommen|eingegangen|gefragt)\b`)
	overnight  = regexp.MustCompile(`(?i)(?:\b(?:overnight|over night|during the night|heute nacht)|über nacht)\b`)
	dayPart    = regexp.MustCompile(`(?i)\b(this morning|this afternoon|this evening|heute vormittag|heute nachmittag|heute abend)\b`)
	lastCount  = regexp.MustCompile(`(?i)\b(?:(?:in|over|within)\s+)?(?:the\s+)?(?:last|past|letzten?)\s+(\d{1,3})\s*(h|hours?|d|days?|w|weeks?|stunden?|tagen?|tage|wochen?)\b`)
	sinceWord  = regexp.MustCompile(`(?i)\b(?:since|seit)\s+`)
	sinceCount = regexp.MustCompile(`(?i)^(\d{1,3})\s*(h|hours?|d|days?|w|weeks?|stunden?|tagen?|tage|wochen?)\b`)
	weekday    = regexp.MustCompile(`(?i)\b(?:on|last|am|letzten)\s+(monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b`)
	dayMonth   = regexp.MustCompile(`(?i)\b(?:(?:on|am|vom)\s+)?(?:the\s+)?(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(` + months + `)(?:,?\s*(\d{4}))?(?:$|[^\p{L}\d])`)
	monthDay   = regexp.MustCompile(`(?i)\b(?:on\s+)?(` + months + `)\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s*(\d{4}))?(?:$|[^\p{L}\d])`)
	inMonth    = regexp.MustCompile(`(?i)\b(?:in|im|last|during|since|seit)\s+(` + months + `)(?:\s+(\d{4}))?(?:$|[^\p{L}])`)
	monthOf    = regexp.MustCompile(`(?i)\b(` + months + `)\s+(\d{4})\b`)
)

const months = "january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember"

// timeForm is one way to write a time in a question.
type timeForm struct {
	form *regexp.Regexp
	read func(words []string) (Span, bool)
	// past says that it is about what was, whatever else the question says: "on Sunday" may be the one to come.
	past bool
}

// timeForms are the ways to write a time, the more exact first.
func timeForms(now time.Time) []timeForm {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	return []timeForm{
		{isoDay, func(w []string) (Span, bool) {
			day, err := time.ParseInLocation(time.DateOnly, w[0], now.Location())
			return days(day, 1), err == nil
		}, false},
		{countAgo, func(w []string) (Span, bool) { return backBy(w[1], w[2], today) }, true},
		{vorTagen, func(w []string) (Span, bool) { return backBy(w[1], w[2], today) }, true},
		{lastCount, func(w []string) (Span, bool) { return lastLength(w[1], w[2], now) }, true},
		{unitBack, func(w []string) (Span, bool) { return unit(w[1], w[2], today) }, true},
		{overnight, func([]string) (Span, bool) {
			return Span{From: today.Add(-6 * time.Hour), Until: today.Add(10 * time.Hour)}, true
		}, true},
		{dayPart, func(w []string) (Span, bool) { return partOf(w[1], today) }, true},
		{dayWords, func(w []string) (Span, bool) { return dayOf(w[1], today), true }, true},
		{weekday, func(w []string) (Span, bool) { return lastWeekday(w[1], today) }, false},
		{dayMonth, func(w []string) (Span, bool) { return dayIn(w[2], w[1], w[3], today) }, false},
		{monthDay, func(w []string) (Span, bool) { return dayIn(w[1], w[2], w[3], today) }, false},
		{inMonth, func(w []string) (Span, bool) { return month(w[0], w[1], w[2], today) }, false},
		{monthOf, func(w []string) (Span, bool) { return month("", w[1], w[2], today) }, false},
	}
}

// timeFound is a time in a question, and where it stands.
type timeFound struct {
	Span

	from, to int
	past     bool
}

// findTime reads the time in a question. Without one it is zero.
func findTime(question string, now time.Time) timeFound {
	if f := findSince(question, now); !f.IsZero() {
		return f
	}
	return findForm(question, now)
}

// findForm is findTime but for "since".
func findForm(question string, now time.Time) timeFound {
	for _, r := range timeForms(now) {
		at := r.form.FindStringSubmatchIndex(question)
		if at == nil {
			continue
		}
		if span, ok := r.read(r.form.FindStringSubmatch(question)); ok {
			return timeFound{Span: span, from: at[0], to: at[1], past: r.past}
		}
	}
	return timeFound{}
}

// findSince reads "since" with a time behind it: from then on.
func findSince(question string, now time.Time) timeFound {
	at := sinceWord.FindStringIndex(question)
	if at == nil {
		return timeFound{}
	}
	tail := question[at[1]:]
	if m := sinceCount.FindStringSubmatch(tail); m != nil {
		span, ok := lastLength(m[1], m[2], now)
		if ok {
			return timeFound{Span: span, from: at[0], to: at[1] + len(m[0]), past: true}
		}
	}
	for _, word := range []string{"", "on ", "in ", "last "} {
		if f := findForm(word+tail, now); !f.From.IsZero() && f.from == 0 {
			return timeFound{Span: Span{From: f.From}, from: at[0], to: at[1] + f.to - len(word), past: true}
		}
	}
	return timeFound{}
}

// When reads the time that a question is about, such as "last week", "in May", "since Monday", "3 days ago" or "2026-05-01", and returns it
// with the rest of the question. now is in the zone of who asks. Without a time the span is zero and the question as it was.
func When(question string, now time.Time) (Span, string) {
	f := findTime(question, now)
	if f.IsZero() {
		return Span{}, question
	}
	return f.Span, strings.Join(strings.Fields(question[:f.from]+" "+question[f.to:]), " ")
}

// AskedTime is the time of a question that is about what was said then, by anybody: "what came in overnight?", "who wrote since Monday?".
// Zero for any other question, also for one about a day that may be to come.
func AskedTime(question string, now time.Time) Span {
	f := findTime(question, now)
	if f.IsZero() || !f.From.Before(now) || !f.past && !isAboutSaying(question) && !news.MatchString(question) {
		return Span{}
	}
	return f.Span
}

// newestSpan is how far back what was said last is looked for.
const newestSpan = 7 * 24 * time.Hour

// AskedNewest returns the time that is read for a question that asks for what was said last and names nothing else; zero for any other.
func AskedNewest(question string, now time.Time) Span {
	if !isAboutSaying(question) || !lately.MatchString(question) {
		return Span{}
	}
	besides := search.Words(strings.Join(append(saying.FindAllString(question, -1), lately.FindAllString(question, -1)...), " "))
	for _, word := range search.Words(question) {
		if !search.IsCommonWord(word) && !slices.Contains(besides, word) {
			return Span{}
		}
	}
	return Span{From: now.Add(-newestSpan)}
}

func days(from time.Time, n int) Span { return Span{From: from, Until: from.AddDate(0, 0, n)} }

func dayOf(word string, today time.Time) Span {
	switch strings.ToLower(word) {
	case "today", "heute":
		return days(today, 1)
	case "vorgestern":
		return days(today.AddDate(0, 0, -2), 1)
	default:
		return days(today.AddDate(0, 0, -1), 1)
	}
}

// partOf is a part of today.
func partOf(words string, today time.Time) (Span, bool) {
	from, until := 0, 12
	switch words = strings.ToLower(words); {
	case strings.HasSuffix(words, "afternoon"), strings.HasSuffix(words, "nachmittag"):
		from, until = 12, 18
	case strings.HasSuffix(words, "evening"), strings.HasSuffix(words, "abend"):
		from, until = 18, 24
	}
	return Span{From: today.Add(time.Duration(from) * time.Hour), Until: today.Add(time.Duration(until) * time.Hour)}, true
}

// lastLength is the last so many hours, days or weeks before now.
func lastLength(count, word string, now time.Time) (Span, bool) {
	n, err := strconv.Atoi(count)
	switch strings.ToLower(word)[0] {
	case 'h', 's':
		return Span{From: now.Add(-time.Duration(n) * time.Hour)}, err == nil && n > 0
	case 'w':
		n *= 7
	}
	return Span{From: now.AddDate(0, 0, -n)}, err == nil && n > 0
}

// backBy is "3 days ago": that day, or that week or month. A week or a month ago is less exact than a day.
func backBy(count, word string, today time.Time) (Span, bool) {
	n, err := strconv.Atoi(count)
	if err != nil || n == 0 {
		return Span{}, false
	}
	switch word = strings.ToLower(word); {
	case strings.HasPrefix(word, "day"), strings.HasPrefix(word, "tag"):
		return days(today.AddDate(0, 0, -n), 1), true
	case strings.HasPrefix(word, "week"), strings.HasPrefix(word, "woche"):
		return days(today.AddDate(0, 0, -7*n-3), 7), true
	default:
		middle := today.AddDate(0, -n, 0)
		return Span{From: middle.AddDate(0, 0, -15), Until: middle.AddDate(0, 0, 16)}, true
	}
}

// unit is "last week" or "this month". Weeks begin on Monday.
func unit(which, word string, today time.Time) (Span, bool) {
	back := 1
	if which = strings.ToLower(which); which == "this" || strings.HasPrefix(which, "diese") {
		back = 0
	}
	switch strings.ToLower(word) {
	case "week", "woche":
		monday := today.AddDate(0, 0, -int(today.Weekday()+6)%7)
		return days(monday.AddDate(0, 0, -7*back), 7), true
	case "month", "monat":
		first := time.Date(today.Year(), today.Month()-time.Month(back), 1, 0, 0, 0, 0, today.Location())
		return Span{From: first, Until: first.AddDate(0, 1, 0)}, true
	default:
		first := time.Date(today.Year()-back, 1, 1, 0, 0, 0, 0, today.Location())
		return Span{From: first, Until: first.AddDate(1, 0, 0)}, true
	}
}

// lastWeekday is the last such day before today.
func lastWeekday(word string, today time.Time) (Span, bool) {
	names := map[string]time.Weekday{
		"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
		"montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5, "samstag": 6, "sonntag": 0,
	}
	day, known := names[strings.ToLower(word)]
	back := (int(today.Weekday()-day) + 7) % 7
	if back == 0 {
		back = 7
	}
	return days(today.AddDate(0, 0, -back), 1), known
}

var monthNames = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
	"januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
}

// dayIn is the last such day that has begun, or that of a year.
func dayIn(name, day, year string, today time.Time) (Span, bool) {
	m, known := monthNames[strings.ToLower(name)]
	d, err := strconv.Atoi(day)
	y := today.Year()
	if year != "" {
		y, _ = strconv.Atoi(year)
	} else if at := time.Date(y, m, d, 0, 0, 0, 0, today.Location()); at.After(today) {
		y--
	}
	at := time.Date(y, m, d, 0, 0, 0, 0, today.Location())
	return days(at, 1), known && err == nil && at.Day() == d
}

// month is the last such month that has begun, or that of a year. "since May" goes on until now.
func month(all, name, year string, today time.Time) (Span, bool) {
	m, known := monthNames[strings.ToLower(name)]
	y := today.Year()
	if year != "" {
		y, _ = strconv.Atoi(year)
	} else if m > today.Month() {
		y--
	}
	first := time.Date(y, m, 1, 0, 0, 0, 0, today.Location())
	span := Span{From: first, Until: first.AddDate(0, 1, 0)}
	if start := strings.ToLower(all); strings.HasPrefix(start, "since") || strings.HasPrefix(start, "seit") {
		span.Until = time.Time{}
	}
	return span, known
}

// period is the time of a question. What people speak of is rarely of the very day: only a question about what was said then
// means nothing else, in any other what was said then, or soon after, counts more.
type period struct {
	Span

	firm bool
	// theirs: the question is what the contact said, not what was talked about.
	theirs bool
}

// saying is how one asks for what was said.
var saying = regexp.MustCompile(`(?i)\b(said|say|says|saying|told|wrote|write|written|message[ds]?|talk(?:ed)?|discuss(?:ed)?|promise[ds]?|agree[ds]?|gesagt|sagte|geschrieben|schrieb|erzählt|erzählte|besprochen|versprochen|vereinbart|nachrichten?)\b`)

// lately is how one asks for the newest.
var lately = regexp.MustCompile(`(?i)\b(last|lately|latest|recent(?:ly)?|newest|just|zuletzt|letztes|kürzlich|neulich|neueste[ns]?)\b`)

// together is how one asks for what both sides said.
var together = regexp.MustCompile(`(?i)\b(we|us|talk(?:ed)?|discuss(?:ed)?|promise[ds]?|agree[ds]?|i|wir|ich|besprochen|versprochen|vereinbart)\b`)

// ordered is a request to me, at the beginning: whoever is told to write has not written.
var ordered = regexp.MustCompile(`(?i)^\W*(?:please\s+|(?:can|could|would)\s+you\s+)*(?:write|draft|send|say|talk)\b(?:\s+(?:to\s+)?[\p{L}]+)?(?:\s+an?\s+message\b)?`)

// isAboutSaying tells whether a question is about what somebody said.
func isAboutSaying(question string) bool {
	return saying.MatchString(ordered.ReplaceAllString(question, ""))
}

const (
	thenFactor = 1.6
	soonFactor = 1.3
	soon       = 7 * 24 * time.Hour
)

// of orders hits by what their time adds to them.
func (p period) of(hits []search.Hit) []search.Hit {
	switch {
	case p.IsZero():
		return hits
	case p.firm:
		return slices.DeleteFunc(hits, func(h search.Hit) bool { return !p.holds(h.IndexedAt) })
	}
	for i, h := range hits {
		switch {
		case p.holds(h.IndexedAt):
			hits[i].Score *= thenFactor
		case !p.Until.IsZero() && !h.IndexedAt.Before(p.Until) && h.IndexedAt.Before(p.Until.Add(soon)):
			hits[i].Score *= soonFactor
		}
	}
	slices.SortStableFunc(hits, func(a, b search.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}
