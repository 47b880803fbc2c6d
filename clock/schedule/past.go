package schedule

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Period is the time from From up to, but not including, Until. A zero From or Until means no limit.
type Period struct {
	From, Until time.Time
}

// IsZero reports whether the period has no limits.
func (p Period) IsZero() bool { return p.From.IsZero() && p.Until.IsZero() }

// in returns the period whose bounds the clocks of a zone show as p does.
func (p Period) in(zone *time.Location) Period {
	for _, bound := range []*time.Time{&p.From, &p.Until} {
		if !bound.IsZero() {
			*bound = InZone(*bound, zone)
		}
	}
	return p
}

// Contains reports whether t lies in the period.
func (p Period) Contains(t time.Time) bool {
	return (p.From.IsZero() || !t.Before(p.From)) && (p.Until.IsZero() || t.Before(p.Until))
}

var (
	dayWords       = regexp.MustCompile(`(?i)\b(today|yesterday|heute|vorgestern|gestern|last night)\b`)
	unitBack       = regexp.MustCompile(`(?i)\b(this|last|past|previous|diese[nrs]?|letzte[nrs]?|vorige[nrs]?)\s+(week|month|year|woche|monat|jahr)\b`)
	countAgo       = regexp.MustCompile(`(?i)\b(\d{1,3})\s+(days?|weeks?|months?)\s+ago\b`)
	countAgoGerman = regexp.MustCompile(`(?i)\bvor\s+(\d{1,3})\s+(tag(?:en)?|wochen?|monat(?:en)?)\b`)
	isoDay         = regexp.MustCompile(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	overnight      = regexp.MustCompile(`(?i)(?:\b(?:overnight|over night|during the night|heute nacht)|über nacht)\b`)
	dayPart        = regexp.MustCompile(`(?i)\b(this morning|this afternoon|this evening|heute vormittag|heute nachmittag|heute abend)\b`)
	lastCount      = regexp.MustCompile(`(?i)\b(?:(?:in|over|within)\s+)?(?:the\s+)?(?:last|past|letzten?)\s+(\d{1,3})\s*(h|hours?|d|days?|w|weeks?|stunden?|tagen?|tage|wochen?)\b`)
	sinceWord      = regexp.MustCompile(`(?i)\b(?:since|seit)\s+`)
	sinceCount     = regexp.MustCompile(`(?i)^(\d{1,3})\s*(h|hours?|d|days?|w|weeks?|stunden?|tagen?|tage|wochen?)\b`)
	weekdayName    = regexp.MustCompile(`(?i)\b(?:on|last|am|letzten)\s+(monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)\b`)
	dayMonth       = regexp.MustCompile(`(?i)\b(?:(?:on|am|vom)\s+)?(?:the\s+)?(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(` + months +
		`)(?:,?\s*(\d{4}))?(?:$|[^\p{L}\d])`)
	monthDay  = regexp.MustCompile(`(?i)\b(?:on\s+)?(` + months + `)\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s*(\d{4}))?(?:$|[^\p{L}\d])`)
	inMonth   = regexp.MustCompile(`(?i)\b(?:in|im|last|during|since|seit)\s+(` + months + `)(?:\s+(\d{4}))?(?:$|[^\p{L}])`)
	monthYear = regexp.MustCompile(`(?i)\b(` + months + `)\s+(\d{4})\b`)
)

const months = "january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember"

// pastForm is one way to write a past time.
type pastForm struct {
	pattern *regexp.Regexp
	read    func(groups []string) (Period, bool)
	certain bool // the form always means a past time; "on Sunday" may mean a future one
	instant bool // read returns instants, not times of the wall clock
}

// pastForms returns the ways to write a past time, the more exact first.
func pastForms(now time.Time) []pastForm {
	today := midnight(wallClock(now)) // periods are of the wall clock: a day may have no midnight, and not 24 hours
	return []pastForm{
		{isoDay, func(w []string) (Period, bool) {
			day, err := time.Parse(time.DateOnly, w[0])
			return daysFrom(day, 1), err == nil
		}, false, false},
		{countAgo, func(w []string) (Period, bool) { return unitsAgo(w[1], w[2], today) }, true, false},
		{countAgoGerman, func(w []string) (Period, bool) { return unitsAgo(w[1], w[2], today) }, true, false},
		{lastCount, func(w []string) (Period, bool) { return lastLength(w[1], w[2], now) }, true, true},
		{unitBack, func(w []string) (Period, bool) { return calendarPeriod(w[1], w[2], today) }, true, false},
		{overnight, func([]string) (Period, bool) {
			return Period{From: today.Add(-6 * time.Hour), Until: today.Add(10 * time.Hour)}, true
		}, true, false},
		{dayPart, func(w []string) (Period, bool) { return partOfDay(w[1], today) }, true, false},
		{dayWords, func(w []string) (Period, bool) { return dayOf(w[1], today), true }, true, false},
		{weekdayName, func(w []string) (Period, bool) { return lastWeekday(w[1], today) }, false, false},
		{dayMonth, func(w []string) (Period, bool) { return dayInMonth(w[2], w[1], w[3], today) }, false, false},
		{monthDay, func(w []string) (Period, bool) { return dayInMonth(w[1], w[2], w[3], today) }, false, false},
		{inMonth, func(w []string) (Period, bool) { return monthOf(w[0], w[1], w[2], today) }, false, false},
		{monthYear, func(w []string) (Period, bool) { return monthOf("", w[1], w[2], today) }, false, false},
	}
}

// PastTime is a time that a text is about.
type PastTime struct {
	Period

	Rest    string // the text without the words for the time
	Certain bool   // false if the words may also mean a future time, such as "on Sunday"
}

// ParsePast finds the time that a text is about, such as "last week", "in May", "since Monday", "3 days ago" or
// "2026-05-01". now is in the time zone of the text's author. ParsePast returns false if the text names no such time.
func ParsePast(text string, now time.Time) (PastTime, bool) {
	m, found := matchSince(text, now)
	if !found {
		m, found = matchPast(text, now)
	}
	if !found {
		return PastTime{}, false
	}
	return PastTime{Period: m.Period, Rest: strings.Join(strings.Fields(text[:m.from]+" "+text[m.to:]), " "), Certain: m.certain}, true
}

// pastMatch is a time that was found in a text between two byte positions.
type pastMatch struct {
	Period

	from, to int
	certain  bool
}

// matchPast finds a time in a text: the first match of the first form that has one.
func matchPast(text string, now time.Time) (pastMatch, bool) {
	for _, f := range pastForms(now) {
		at := f.pattern.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		if period, ok := f.read(f.pattern.FindStringSubmatch(text)); ok {
			if !f.instant {
				period = period.in(now.Location())
			}
			return pastMatch{Period: period, from: at[0], to: at[1], certain: f.certain}, !period.IsZero()
		}
	}
	return pastMatch{}, false
}

// matchSince finds "since" and a time in a text. The period begins at that time and has no end.
func matchSince(text string, now time.Time) (pastMatch, bool) {
	at := sinceWord.FindStringIndex(text)
	if at == nil {
		return pastMatch{}, false
	}
	tail := text[at[1]:]
	if m := sinceCount.FindStringSubmatch(tail); m != nil {
		if period, ok := lastLength(m[1], m[2], now); ok {
			return pastMatch{Period: period, from: at[0], to: at[1] + len(m[0]), certain: true}, true
		}
	}
	for _, word := range []string{"", "on ", "in ", "last "} {
		if m, _ := matchPast(word+tail, now); !m.From.IsZero() && m.from == 0 {
			return pastMatch{Period: Period{From: m.From}, from: at[0], to: at[1] + m.to - len(word), certain: true}, true
		}
	}
	return pastMatch{}, false
}

// daysFrom returns the period of n days.
func daysFrom(from time.Time, n int) Period { return Period{From: from, Until: from.AddDate(0, 0, n)} }

// dayOf returns the day that a word such as "yesterday" names.
func dayOf(word string, today time.Time) Period {
	switch strings.ToLower(word) {
	case "today", "heute":
		return daysFrom(today, 1)
	case "vorgestern":
		return daysFrom(today.AddDate(0, 0, -2), 1)
	default:
		return daysFrom(today.AddDate(0, 0, -1), 1)
	}
}

// partOfDay returns a part of today.
func partOfDay(words string, today time.Time) (Period, bool) {
	from, until := 0, 12
	switch words = strings.ToLower(words); {
	case strings.HasSuffix(words, "afternoon"), strings.HasSuffix(words, "nachmittag"):
		from, until = 12, 18
	case strings.HasSuffix(words, "evening"), strings.HasSuffix(words, "abend"):
		from, until = 18, 24
	}
	return Period{From: today.Add(time.Duration(from) * time.Hour), Until: today.Add(time.Duration(until) * time.Hour)}, true
}

// lastLength returns the period of the last hours, days or weeks.
func lastLength(count, word string, now time.Time) (Period, bool) {
	n, err := strconv.Atoi(count)
	switch strings.ToLower(word)[0] {
	case 'h', 's':
		return Period{From: now.Add(-time.Duration(n) * time.Hour)}, err == nil && n > 0
	case 'w':
		n *= 7
	}
	return Period{From: now.AddDate(0, 0, -n)}, err == nil && n > 0
}

// unitsAgo reads "3 days ago" as that day, and the less exact "3 weeks ago" and "3 months ago" as the week or month around that day.
func unitsAgo(count, word string, today time.Time) (Period, bool) {
	n, err := strconv.Atoi(count)
	if err != nil {
		return Period{}, false
	}
	if n == 0 {
		return Period{}, false
	}
	switch word = strings.ToLower(word); {
	case strings.HasPrefix(word, "day"), strings.HasPrefix(word, "tag"):
		return daysFrom(today.AddDate(0, 0, -n), 1), true
	case strings.HasPrefix(word, "week"), strings.HasPrefix(word, "woche"):
		return daysFrom(today.AddDate(0, 0, -7*n-3), 7), true
	default:
		middle := today.AddDate(0, -n, 0)
		return Period{From: middle.AddDate(0, 0, -15), Until: middle.AddDate(0, 0, 16)}, true
	}
}

// calendarPeriod reads "last week" or "this month". Weeks begin on Monday.
func calendarPeriod(which, word string, today time.Time) (Period, bool) {
	back := 1
	if which = strings.ToLower(which); which == "this" || strings.HasPrefix(which, "diese") {
		back = 0
	}
	switch strings.ToLower(word) {
	case "week", "woche":
		monday := today.AddDate(0, 0, -int(today.Weekday()+6)%7)
		return daysFrom(monday.AddDate(0, 0, -7*back), 7), true
	case "month", "monat":
		first := time.Date(today.Year(), today.Month()-time.Month(back), 1, 0, 0, 0, 0, today.Location())
		return Period{From: first, Until: first.AddDate(0, 1, 0)}, true
	default:
		first := time.Date(today.Year()-back, 1, 1, 0, 0, 0, 0, today.Location())
		return Period{From: first, Until: first.AddDate(1, 0, 0)}, true
	}
}

// lastWeekday returns the last weekday with a name before today.
func lastWeekday(word string, today time.Time) (Period, bool) {
	names := map[string]time.Weekday{
		"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
		"montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5, "samstag": 6, "sonntag": 0,
	}
	day, known := names[strings.ToLower(word)]
	back := (int(today.Weekday()-day) + 7) % 7
	if back == 0 {
		back = 7
	}
	return daysFrom(today.AddDate(0, 0, -back), 1), known
}

var monthNames = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10,
	"november": 11, "december": 12,
	"januar": 1, "februar": 2, "märz": 3, "mai": 5, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
}

// dayInMonth returns a day of a month, in the given year or the last one in which the day has begun.
func dayInMonth(name, day, year string, today time.Time) (Period, bool) {
	m, known := monthNames[strings.ToLower(name)]
	d, err := strconv.Atoi(day)
	y := today.Year()
	if year != "" {
		y, _ = strconv.Atoi(year)
	} else if at := time.Date(y, m, d, 0, 0, 0, 0, today.Location()); at.After(today) {
		y--
	}
	at := time.Date(y, m, d, 0, 0, 0, 0, today.Location())
	return daysFrom(at, 1), known && err == nil && at.Day() == d
}

// monthOf returns a month, in the given year or the last one in which it has begun. "since May" has no end.
func monthOf(phrase, name, year string, today time.Time) (Period, bool) {
	m, known := monthNames[strings.ToLower(name)]
	y := today.Year()
	if year != "" {
		y, _ = strconv.Atoi(year)
	} else if m > today.Month() {
		y--
	}
	first := time.Date(y, m, 1, 0, 0, 0, 0, today.Location())
	period := Period{From: first, Until: first.AddDate(0, 1, 0)}
	if start := strings.ToLower(phrase); strings.HasPrefix(start, "since") || strings.HasPrefix(start, "seit") {
		period.Until = time.Time{}
	}
	return period, known
}
