package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// last is the position of the last of the days of a month.
const last = -1

// positions are the words for the positions of days in a month. There is not always a fifth.
var positions = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "last": last}

// positionName returns the word for a position.
func positionName(n int) string {
	for name, position := range positions {
		if position == n {
			return name
		}
	}
	return ordinalOf(n)
}

// nthDay is a day of any month: the nth of some days of the week, the last day, or a day with a number.
type nthDay struct {
	position int            // of the days in weekdays, from 1, or last
	weekdays []time.Weekday // all of them for the first and the last day
}

var (
	everyWeekday = []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}
	workdays     = everyWeekday[:5]
)

// monthDay reads "the first monday", "last day", "last weekday". It returns false, at the same position, if the next
// words name no such day.
func (p dayParser) monthDay() (nthDay, bool) {
	start := p.pos
	p.accept(roleThe)
	d := nthDay{position: p.position(p.peek(0))}
	switch w := p.peek(1); {
	case d.position == 0:
	case isWeekday(w):
		d.weekdays = []time.Weekday{time.Weekday(w.word.n)}
	case w.text == "weekday", w.text == "workday":
		d.weekdays = workdays
	case w.word.role == roleUnit && w.word.n == unitDay && (d.position == last || d.position == 1):
		d.weekdays = everyWeekday
	}
	if len(d.weekdays) == 0 {
		p.pos = start
		return nthDay{}, false
	}
	p.pos += 2
	return d, true
}

// position returns the position that a word names: first, 2nd, last; 0 for none.
func (p dayParser) position(t token) int {
	if n := positions[t.text]; n != 0 {
		return n
	}
	if n := p.lang.ordinal(t.text); n <= 4 && !endsWithDigit(t.text) {
		return n
	}
	return 0
}

func endsWithDigit(s string) bool { return s != "" && startsWithDigit(s[len(s)-1:]) }

// in returns the day in a month, as UTC.
func (d nthDay) in(year int, month time.Month) time.Time {
	date := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	step := 1
	if d.position == last {
		date, step = date.AddDate(0, 1, -1), -1
	}
	for left := max(d.position, 1); ; date = date.AddDate(0, 0, step) {
		for _, wanted := range d.weekdays {
			if date.Weekday() == wanted {
				left--
			}
		}
		if left == 0 {
			return date
		}
	}
}

// dayOfMonth reads a position in a month, and the month: "first monday of december", "last day of the month". Without a month the next such
// day is meant, but "last monday" is in the past.
func (p dayParser) dayOfMonth(today time.Time) (day, bool, error) {
	start := p.pos
	d, ok := p.monthDay()
	if !ok {
		return day{}, false, nil
	}
	if p.nextIs(roleOf) || p.nextIs(roleIn) {
		p.pos++
		date, err := p.inNamedMonth(d, today)
		return day{date: date, part: p.part()}, err == nil, err
	}
	if d.position == last || len(d.weekdays) > 1 {
		p.pos = start
		return day{}, false, nil
	}
	return day{date: d.from(today), part: p.part()}, true, nil
}

// from returns the next such day, which may be today.
func (d nthDay) from(today time.Time) time.Time {
	date := d.in(today.Year(), today.Month())
	if date.Before(today) {
		return d.in(today.Year(), today.Month()+1)
	}
	return date
}

// inNamedMonth reads the month of a day: "december 2026", "the month", "next month".
func (p dayParser) inNamedMonth(d nthDay, today time.Time) (time.Time, error) {
	w := p.peek(0)
	if w.word.role == roleMonth {
		p.pos++
		month := time.Month(w.word.n)
		if year, ok := p.year(); ok {
			return d.in(year, month), nil
		}
		date := d.in(today.Year(), month)
		if date.Before(today) {
			date = d.in(today.Year()+1, month)
		}
		return date, nil
	}
	if unit := p.peek(1).word; unit.role != roleUnit || unit.n != unitMonth {
		return time.Time{}, p.unknown()
	}
	p.pos += 2
	switch w.word.role {
	case roleNext:
		return d.in(today.Year(), today.Month()+1), nil
	case roleThis:
		return d.in(today.Year(), today.Month()), nil
	case roleThe:
		return d.from(today), nil
	default:
		p.pos -= 2
		return time.Time{}, p.unknown()
	}
}

// year reads a year of four digits.
func (p dayParser) year() (int, bool) {
	text := p.peek(0).text
	y, suffix, ok := parseNumber(text)
	if !ok || suffix != "" || y < 2000 || y >= 2200 || len(text) != 4 {
		return 0, false
	}
	p.pos++
	return y, true
}

// byCalendar reads a recurrence that cron cannot say: "other monday", "2 weeks on friday", "first monday", "month on the 15th". It returns
// false, at the same position, for any other.
func (p *recurrenceParser) byCalendar() (Kind, string, bool, error) {
	start := p.pos
	p.accept(roleOn)
	option, ok, err := p.monthly(1)
	if !ok && err == nil {
		p.pos = start
		option, ok, err = p.interval()
	}
	if err != nil {
		return "", "", false, err
	}
	if !ok {
		p.pos = start
		return "", "", false, nil
	}
	p.accept(roleAt)
	c, err := p.requiredTime()
	if err != nil {
		return "", "", false, err
	}
	spec, err := newRule(option, c, p.now)
	if err != nil {
		return "", "", false, p.refuse("That never happens.")
	}
	return Rule, spec, true, nil
}

// monthly reads a day of every month, or of every interval-th, and "of the month" after it.
func (p *recurrenceParser) monthly(interval int) (rrule.ROption, bool, error) {
	option := rrule.ROption{Freq: rrule.MONTHLY, Interval: interval}
	start := p.pos
	if d, ok := (dayParser{&p.timeParser}).monthDay(); ok {
		isDay := len(d.weekdays) == len(everyWeekday)
		isOfMonth := p.acceptOfMonth()
		switch {
		case !isOfMonth && !p.inMonths && (isDay || d.position == last && p.words[0].word.role != roleEvery):
			return option, false, p.refuse("Of the month? Then say so: `last day of the month 18:00`, `last friday of the month 9am`.")
		case d.position > 1 && !isOfMonth && !p.inMonths && p.words[0].word.role == roleEvery:
			return option, false, p.refuse("By weeks or by months? There is `every other monday 9am`, and `second monday of the month 9am`.")
		}
		return d.apply(option), true, nil
	}
	p.accept(roleThe)
	w := p.peek(0)
	n := p.lang.ordinal(w.text)
	if n == 0 || endsWithDigit(w.text) {
		p.pos = start
		return option, false, nil
	}
	if n > 28 {
		return option, false, p.refuse(fmt.Sprintf("Not every month has a %s. There is `last day of the month`.", w.quoted()))
	}
	p.pos++
	if month := p.peek(1).word.role; p.nextIs(roleMonth) || p.nextIs(roleOf) && month == roleMonth {
		return option, false, p.refuse("Once a year is cron's: `0 9 24 12 *`.")
	}
	p.acceptOfMonth()
	option.Bymonthday = []int{n}
	return option, true, nil
}

// apply sets the day in a rule.
func (d nthDay) apply(option rrule.ROption) rrule.ROption {
	switch {
	case len(d.weekdays) == len(everyWeekday):
		option.Bymonthday = []int{d.position}
	case len(d.weekdays) > 1:
		option.Byweekday, option.Bysetpos = ruleDays(d.weekdays), []int{d.position}
	default:
		of := ruleDays(d.weekdays)[0]
		option.Byweekday = []rrule.Weekday{of.Nth(d.position)}
	}
	return option
}

// ruleDays returns days of the week as the rules write them.
func ruleDays(days []time.Weekday) []rrule.Weekday {
	var in []rrule.Weekday
	for _, day := range days {
		in = append(in, []rrule.Weekday{rrule.SU, rrule.MO, rrule.TU, rrule.WE, rrule.TH, rrule.FR, rrule.SA}[day])
	}
	return in
}

// acceptOfMonth skips "of the month", "of each month".
func (p *recurrenceParser) acceptOfMonth() bool {
	of := p.nextIs(roleOf) || p.nextIs(roleIn)
	unit := p.peek(2).word
	if which := p.peek(1).word.role; !of || which != roleThe && which != roleEvery || unit.role != roleUnit || unit.n != unitMonth {
		return false
	}
	p.pos += 3
	return true
}

// interval reads every nth day, week or month, and its day: "other week on monday", "other monday", "2 days", "month on the first monday".
func (p *recurrenceParser) interval() (rrule.ROption, bool, error) {
	n, isCounted := p.count()
	w := p.peek(0)
	option := rrule.ROption{Interval: n}
	switch {
	case isWeekday(w) && n > 1:
		option.Freq = rrule.WEEKLY
		option.Byweekday = ruleDays(p.weekdays())
		return option, true, nil
	case w.word.role != roleUnit:
		return option, false, nil
	case w.word.n == unitDay && n > 1:
		p.pos++
		option.Freq = rrule.DAILY
		return option, true, nil
	case w.word.n == unitWeek && (isCounted || isWeekday(p.peek(1)) || isWeekday(p.peek(2)) && p.peek(1).word.role == roleOn):
		p.pos++
		option.Freq = rrule.WEEKLY
		p.accept(roleOn)
		days := []time.Weekday{p.now.Weekday()}
		if isWeekday(p.peek(0)) {
			days = p.weekdays()
		}
		option.Byweekday = ruleDays(days)
		return option, true, nil
	case w.word.n == unitMonth && p.peek(1).word.role == roleOn:
		p.pos += 2
		p.inMonths = true
		return p.monthly(n)
	case w.word.n == unitMonth:
		return option, false, p.refuse("On which day: `every month on the 15th 9am`, `last friday of the month 9am`?")
	default:
		return option, false, nil
	}
}

// count reads how many days, weeks or months lie between two times: "other", "second", "3"; 1 if nothing is said.
func (p *recurrenceParser) count() (n int, isCounted bool) {
	w := p.peek(0)
	if w.text == "other" || w.text == "second" {
		p.pos++
		return 2, true
	}
	text := w.text
	if digits, isNumber := p.lang.numbers[text]; isNumber {
		text = digits
	}
	n, suffix, ok := parseNumber(text)
	if !ok || n == 0 || n > 1000 {
		return 1, false
	}
	unit := p.peek(1).word
	if suffix != "" || unit.role != roleUnit || unit.n < unitDay {
		return 1, false
	}
	p.pos++
	return n, true
}

// weekdays reads one or several days of the week, joined by "and".
func (p *recurrenceParser) weekdays() []time.Weekday {
	days := []time.Weekday{time.Weekday(p.peek(0).word.n)}
	for p.peek(1).word.role == roleAnd && isWeekday(p.peek(2)) {
		p.pos += 2
		days = append(days, time.Weekday(p.peek(0).word.n))
	}
	p.pos++
	return days
}

// requiredTime reads the time of day that each recurrence of days needs.
func (p *recurrenceParser) requiredTime() (clockTime, error) {
	c, ok, err := p.timeOfDay()
	if err == nil && ok {
		c, err = p.withPartOfDay(0, c)
	}
	if err == nil && !ok {
		err = p.refuse("At what time?")
	}
	return c, err
}

// cronDays returns days of the week as a field of cron.
func cronDays(days []time.Weekday) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprintf("%d", days), " ", ","), "[]")
}
