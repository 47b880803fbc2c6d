package schedule

import (
	"fmt"
	"strings"
	"time"
)

// clockTime is a time of day.
type clockTime struct {
	hour, minute int
	// hourOnly says that only an hour was written, as in "9". isTwelveHour says that am or pm followed.
	hourOnly, isTwelveHour bool
}

// onDay returns the time on the day of wall, in UTC.
func (c clockTime) onDay(wall time.Time) time.Time {
	return time.Date(wall.Year(), wall.Month(), wall.Day(), c.hour, c.minute, 0, 0, time.UTC)
}

// timeOn reads the time of day after a day. Without one it uses the hour of the part of the day, or defaultHour.
func (p *timeParser) timeOn(d day) (reading, error) {
	at := p.accept(roleAt)
	start := p.pos
	c, ok, err := p.timeOfDay()
	switch {
	case err != nil:
		return reading{}, err
	case ok && d.byWeekday && c.hourOnly && !at && c.hour == d.date.Day():
		return reading{}, p.refuse(fmt.Sprintf("Is *%d* the day or the time? Write `%d:00` for the time.", c.hour, c.hour))
	case ok:
		if c, err = p.withPartOfDay(d.part, c); err != nil {
			return reading{}, err
		}
		return p.reading(d, c)
	case at, startsWithDigit(p.peek(0).text):
		p.pos = start
		return reading{}, p.unknown()
	}
	c = clockTime{hour: defaultHour}
	if d.part != 0 {
		c.hour = d.part
	}
	r, err := p.reading(d, c)
	r.noTime = true
	if d.needsTime && d.part == 0 {
		r.incomplete = p.refuse(fmt.Sprintf("At what time *%s*?", p.words[p.pos-1].quoted()))
	}
	if r.incomplete != nil && d.byWeekday { // "sun cream"
		return reading{}, r.incomplete
	}
	return r, err
}

// reading returns the reading of a day and a time of day, which ends at the current position.
func (p *timeParser) reading(d day, c clockTime) (reading, error) {
	at, err := p.instantOn(d, c)
	return reading{
		at:       at,
		day:      d,
		clock:    c,
		weekOnly: d.weekOnly,
		rest:     p.pos,
		end:      len(p.words),
	}, err
}

// withPartOfDay combines a time and a part of the day, as in "tomorrow evening at 8". part is the hour of the part; 0 for none.
func (p *timeParser) withPartOfDay(part int, c clockTime) (clockTime, error) {
	low, high := 0, 24
	switch {
	case part >= 18:
		low = 17
	case part >= 15:
		low, high = 12, 19
	case part == 12:
		low, high = 11, 15
	case part > 0:
		high = 12
	case c.hourOnly && c.hour < 7:
		return c, p.refuse(fmt.Sprintf("Is %d at night or in the afternoon? Write `%02d:00` or `%dpm`.", c.hour, c.hour, max(c.hour, 1)))
	}
	if part > 0 && !c.isTwelveHour && c.hour < low && c.hour > 0 && c.hour < 12 {
		c.hour += 12
	}
	if c.hour < low || c.hour >= high {
		return c, p.refuse(fmt.Sprintf("%02d:%02d is not at that time of day.", c.hour, c.minute))
	}
	return c, nil
}

// instantOn returns the instant of a time on a day. If that has passed, a day of the week is taken from the next week,
// and a date without a year from the next year.
func (p *timeParser) instantOn(d day, c clockTime) (time.Time, error) {
	if c.hourOnly && c.hour < 7 && d.part == 0 {
		var err error
		if c, err = p.withPartOfDay(0, c); err != nil {
			return time.Time{}, err
		}
	}
	at := InZone(c.onDay(d.date), p.now.Location())
	if at.After(p.now) {
		return at, nil
	}
	switch {
	case d.byWeekday:
		return InZone(c.onDay(d.date.AddDate(0, 0, 7)), p.now.Location()), nil
	case d.noYear:
		next := d.date.AddDate(1, 0, 0)
		if next.Day() == d.date.Day() {
			return InZone(c.onDay(next), p.now.Location()), nil
		}
	}
	return at, nil // the time has passed; the caller refuses it
}

// timeOfDay reads a time of day: 9, 9am, 9 pm, 9:30, noon. It returns false if the next word is no time of day.
func (p *timeParser) timeOfDay() (clockTime, bool, error) {
	w := p.peek(0)
	if w.word.role == roleMidnight {
		return clockTime{}, false, p.refuse("Is midnight where the day begins or where it ends? Write `00:00` with its date, or `23:59`.")
	}
	if w.word.role == rolePart && w.word.n == 12 {
		p.pos++
		return clockTime{hour: 12}, true, nil
	}
	hour, suffix, ok := parseNumber(w.text)
	if !ok || hour > 99 {
		return clockTime{}, false, nil
	}
	c := clockTime{hour: hour, hourOnly: true}
	if strings.HasPrefix(suffix, ":") {
		minute, after, ok := parseNumber(suffix[1:])
		if !ok || len(suffix)-len(after) != 3 || minute > 59 {
			return clockTime{}, false, p.unknown()
		}
		c, suffix = clockTime{hour: hour, minute: minute}, after
	}
	if minutes, isFrench := strings.CutPrefix(suffix, "h"); isFrench { // 17h30, 17h
		minute, after, ok := parseNumber(minutes)
		switch {
		case minutes == "" && p.peek(-1).word.role == roleAt:
			suffix = ""
		case ok && len(minutes) == 2 && after == "" && minute < 60:
			c, suffix = clockTime{hour: hour, minute: minute}, ""
		}
	}
	next := p.peek(1).word.role
	switch half := p.lang.words[suffix].role; {
	case half == roleAM, half == rolePM:
		p.pos++
		return p.twelveHour(c, half)
	case suffix != "":
		return clockTime{}, false, p.unknown()
	case next == roleAM, next == rolePM:
		p.pos += 2
		return p.twelveHour(c, next)
	case next == roleClock && c.hourOnly:
		p.pos += 2
	default:
		p.pos++
	}
	if c.hour > 23 || len(w.text)-len(strings.TrimLeft(w.text, "0123456789")) > 2 {
		p.pos--
		return clockTime{}, false, p.unknown()
	}
	return p.partAfterTime(c)
}

// partAfterTime reads the part of the day after a time, as in "at 8 in the evening", "3:15 in the afternoon".
func (p *timeParser) partAfterTime(c clockTime) (clockTime, bool, error) {
	if !p.nextIs(roleIn) || p.peek(1).word.role != roleThe || p.peek(2).word.role != rolePart {
		return c, true, nil
	}
	part := p.peek(2).word.n
	p.pos += 3
	c, err := p.withPartOfDay(part, c)
	c.hourOnly = false
	return c, err == nil, err
}

// twelveHour converts an hour with am or pm to the 24-hour clock.
func (p *timeParser) twelveHour(c clockTime, half role) (clockTime, bool, error) {
	if c.hour < 1 || c.hour > 12 {
		return clockTime{}, false, p.refuse(fmt.Sprintf("There is no %d am or pm.", c.hour))
	}
	c.hourOnly, c.isTwelveHour = false, true
	c.hour %= 12
	if half == rolePM {
		c.hour += 12
	}
	return c, true, nil
}
