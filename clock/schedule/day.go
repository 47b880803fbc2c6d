package schedule

import (
	"fmt"
	"strings"
	"time"
)

// day is a day that a text names.
type day struct {
	date time.Time // midnight, as UTC
	// byWeekday says that only the name of a weekday was written: if its time has passed, the next week is meant. noYear
	// says that a date was written without a year.
	byWeekday, noYear bool
	// weekOnly says that only a week was written: the rest of the text may have the day.
	weekOnly bool
	// part is the hour of the part of the day; 0 if none was written.
	part int
	// needsTime says that a time of day is required: "today" has no default time, and "sun" may mean the sun.
	needsTime bool
}

// dayParser reads days.
type dayParser struct{ *timeParser }

// day reads a day. It returns false if the next words name no day.
func (p dayParser) day() (day, bool, error) {
	today := midnight(wallClock(p.now))
	start := p.pos
	on := p.accept(roleOn)
	switch w := p.peek(0); {
	case w.word.role == roleDay && !on:
		p.pos++
		d := day{date: today.AddDate(0, 0, w.word.n), needsTime: w.word.n == 0}
		d.part = p.part()
		return d, true, nil
	case w.word.role == roleTonight && !on:
		p.pos++
		return day{date: today, part: w.word.n}, true, nil
	case w.word.role == roleThis && p.peek(1).word.role == rolePart && !on:
		p.pos++
		return day{date: today, part: p.part()}, true, nil
	case p.acceptDayAfterTomorrow(w):
		return day{date: today.AddDate(0, 0, 2), part: p.part()}, true, nil
	case w.word.role == roleNext && !on:
		return p.nextDay(today)
	case w.word.role == roleWeekday, w.word.role == roleShortDay, w.word.role == roleThis && isWeekday(p.peek(1)):
		return p.weekday(today, on)
	}
	if d, ok, err := p.dayOfMonth(today); ok || err != nil {
		return d, ok, err
	}
	d, ok, err := p.date(today)
	if !ok && err == nil {
		p.pos = start
	}
	return d, ok, err
}

// isWeekday reports whether a word is the name of a weekday, in full or short.
func isWeekday(t token) bool {
	return t.word.role == roleWeekday || t.word.role == roleShortDay
}

// part reads a part of the day after the day, as in "tomorrow evening", and returns its hour; 0 if there is none.
func (p dayParser) part() int {
	if p.nextIs(roleIn) && p.peek(1).word.role == roleThe && p.peek(2).word.role == rolePart {
		p.pos += 2
	}
	if w := p.peek(0).word; w.role == rolePart {
		p.pos++
		return w.n
	}
	return 0
}

// acceptDayAfterTomorrow skips "the day after tomorrow", and reports whether these are the next words.
func (p dayParser) acceptDayAfterTomorrow(w token) bool {
	n := 0
	if w.word.role == roleThe {
		n = 1
	}
	unit := p.peek(n).word
	after := p.peek(n + 1).word
	tomorrow := p.peek(n + 2).word
	if unit.role != roleUnit || unit.n != unitDay || after.role != roleAfter || tomorrow.role != roleDay || tomorrow.n != 1 {
		return false
	}
	p.pos += n + 3
	return true
}

// nextDay reads "next week" and "next monday".
func (p dayParser) nextDay(today time.Time) (day, bool, error) {
	monday := nextMonday(today)
	switch w := p.peek(1); {
	case w.word.role == roleUnit && w.word.n == unitWeek:
		p.pos += 2
		on := 0
		if p.nextIs(roleOn) {
			on = 1
		}
		if w := p.peek(on); isWeekday(w) && (on == 1 || w.word.role == roleWeekday || p.peek(1).end == 0 || startsWithDigit(p.peek(1).text)) {
			p.pos += on + 1
			return day{date: nextWeekday(monday, time.Weekday(w.word.n)), part: p.part()}, true, nil
		}
		part := p.part()
		return day{date: monday, part: part, weekOnly: true}, true, nil
	case isWeekday(w):
		coming := nextWeekday(today.AddDate(0, 0, 1), time.Weekday(w.word.n))
		if coming.Before(monday) { // this week's or the one after?
			later := coming.AddDate(0, 0, 7)
			return day{}, false, p.refuse(fmt.Sprintf("Is *next %s* %s or %s? Leave *next* out, or write the date.", w.quoted(),
				coming.Format("2 Jan"), later.Format("2 Jan")))
		}
		p.pos += 2
		return day{date: coming, part: p.part()}, true, nil
	default:
		p.pos++
		return day{}, false, p.unknown()
	}
}

// nextMonday returns the Monday of the week after a day.
func nextMonday(today time.Time) time.Time { return today.AddDate(0, 0, 7-(int(today.Weekday())+6)%7) }

// weekday reads the name of a weekday, which a date may follow: "fri", "this friday", "Sat 21 Nov".
func (p dayParser) weekday(today time.Time, on bool) (day, bool, error) {
	sure := p.accept(roleThis) || on
	w := p.peek(0)
	p.pos++
	if p.words[p.pos-1].word.role == roleWeekday {
		sure = true
	}
	wanted := time.Weekday(w.word.n)
	if d, ok, err := p.date(today); err != nil || ok {
		if err == nil && d.noYear {
			for range 7 { // find the year in which the date falls on that weekday
				if d.date.Weekday() == wanted {
					break
				}
				d.date = time.Date(d.date.Year()+1, d.date.Month(), d.date.Day(), 0, 0, 0, 0, time.UTC)
			}
			if d.date.Weekday() != wanted || d.date.Year() > today.Year()+1 {
				return day{}, false, p.refuse(fmt.Sprintf("That day is no %s.", wanted))
			}
		}
		if err == nil && d.date.Weekday() != wanted {
			err = p.refuse(fmt.Sprintf("%s is a %s.", d.date.Format("2 Jan 2006"), d.date.Weekday()))
		}
		return d, err == nil, err
	}
	if unit := p.peek(1).word; p.nextIs(roleNext) && unit.role == roleUnit && unit.n == unitWeek {
		p.pos += 2
		return day{date: nextWeekday(nextMonday(today), wanted), part: p.part()}, true, nil
	}
	return day{date: nextWeekday(today, wanted), byWeekday: true, part: p.part(), needsTime: !sure}, true, nil
}

// date reads 2026-12-24, 24.12., 24.12.2026, Dec 24, 24 December 2026 and 24th of December.
func (p dayParser) date(today time.Time) (day, bool, error) {
	first := p.peek(0)
	switch {
	case isDate(first.text):
		date, err := time.Parse(time.DateOnly, first.text)
		if err != nil {
			return day{}, false, p.unknown()
		}
		p.pos++
		return day{date: date, part: p.part()}, true, nil
	case strings.Count(first.text, ".") == 2 && startsWithDigit(first.text):
		return p.dotted(first, today)
	case strings.Contains(first.text, "/") && startsWithDigit(first.text):
		return day{}, false, p.refuse(fmt.Sprintf("Is *%s* day/month or month/day?", first.quoted()))
	case first.word.role == roleMonth:
		n := p.lang.ordinal(p.peek(1).text)
		if n == 0 {
			return day{}, false, nil
		}
		p.pos += 2
		return p.inMonth(n, first.word.n, today)
	}
	n, i := p.lang.ordinal(first.text), 1
	if first.word.role == roleThe {
		n, i = p.lang.ordinal(p.peek(1).text), 2
	}
	if p.peek(i).word.role == roleOf {
		i++
	}
	month := p.peek(i).word
	if n == 0 || month.role != roleMonth {
		return day{}, false, nil
	}
	p.pos += i + 1
	return p.inMonth(n, month.n, today)
}

// inMonth completes a date whose day and month were read with the year that may follow.
func (p dayParser) inMonth(n, month int, today time.Time) (day, bool, error) {
	year, _ := p.year()
	return p.inYear(n, month, year, today)
}

// dotted reads 24.12. and 24.12.2026.
func (p dayParser) dotted(t token, today time.Time) (day, bool, error) {
	parts := strings.Split(t.text, ".")
	n, b1, ok1 := parseNumber(parts[0])
	month, b2, ok2 := parseNumber(parts[1])
	year, b3, ok3 := parseNumber(parts[2])
	if !ok1 || !ok2 || b1+b2+b3 != "" || len(parts[0]) > 2 || len(parts[1]) > 2 || (ok3 && len(parts[2]) != 4) {
		return day{}, false, p.unknown()
	}
	p.pos++
	return p.inYear(n, month, year, today)
}

// inYear returns the date of a day and month in a year. For the year 0 it returns the next such day.
func (p dayParser) inYear(n, month, year int, today time.Time) (day, bool, error) {
	exists := func(y int) bool { return month >= 1 && month <= 12 && n >= 1 && n <= daysIn(y, time.Month(month)) }
	d := day{noYear: year == 0}
	if year == 0 {
		year = today.Year()
		for range 9 {
			if exists(year) && !time.Date(year, time.Month(month), n, 0, 0, 0, 0, time.UTC).Before(today) {
				break
			}
			year++
		}
	}
	if !exists(year) {
		return day{}, false, p.refuse("There is no such day.")
	}
	d.date = time.Date(year, time.Month(month), n, 0, 0, 0, 0, time.UTC)
	d.part = p.part()
	return d, true, nil
}

// ordinal reads 24 or 24th; it returns 0 for anything else.
func (l Language) ordinal(s string) int {
	n, suffix, ok := parseNumber(s)
	if !ok || n < 1 || n > 31 || (suffix != "" && l.words[suffix].role != roleOrdinal) {
		return 0
	}
	return n
}

// isDate reports whether a text begins like 2026-12-24.
func isDate(s string) bool {
	if len(s) < len(time.DateOnly) {
		return false
	}
	for i := range len(time.DateOnly) {
		if dash := i == 4 || i == 7; dash != (s[i] == '-') || (!dash && (s[i] < '0' || s[i] > '9')) {
			return false
		}
	}
	return true
}

// midnight returns the beginning of a day, as UTC.
func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// nextWeekday returns the next such weekday, which may be today.
func nextWeekday(today time.Time, wanted time.Weekday) time.Time {
	return today.AddDate(0, 0, (int(wanted)-int(today.Weekday())+7)%7)
}
