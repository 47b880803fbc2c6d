package schedule

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// calendarDuration is a length of time in calendar months and days, whose real length varies, and in clock time.
type calendarDuration struct {
	months, days int
	clock        time.Duration
}

// add adds n units.
func (s *calendarDuration) add(n, unit int) {
	switch unit {
	case unitMonth:
		s.months += n
	case unitWeek:
		s.days += 7 * n
	case unitDay:
		s.days += n
	case unitHour:
		s.clock += time.Duration(n) * time.Hour
	case unitMinute:
		s.clock += time.Duration(n) * time.Minute
	default:
		s.clock += time.Duration(n) * time.Second
	}
}

// clockWithH matches what is a time of day in French and Portuguese, and a length elsewhere: 8h30, 17h30, 18h.
var clockWithH = regexp.MustCompile(`^(?:(?:1[3-9]|2[0-3])h(?:[0-5]\d)?|(?:0?[7-9]|1[0-2])h[0-5]\d)$`)

// relativeTime reads a time relative to now: "2h", "in 45 min", "half an hour". It returns false if the next words are no such time.
func (p *timeParser) relativeTime() (reading, bool, error) {
	in := p.accept(roleIn)
	if w := p.peek(0); !in && clockWithH.MatchString(w.text) {
		hour, minutes, _ := strings.Cut(w.text, "h")
		return reading{}, false, p.refuse(fmt.Sprintf("Is *%s* a time of day or a length? Write `%s:%02s`, or `in %s`.", w.quoted(), hour,
			minutes, w.text))
	}
	s, ok, err := p.duration(in)
	switch {
	case err != nil:
		return reading{}, false, err
	case !ok && in:
		return reading{}, false, p.unknown()
	case !ok:
		return reading{}, false, nil
	case s == calendarDuration{}:
		return reading{}, false, p.refuse("That is now.")
	}
	if !p.accept(roleLater) && p.nextIs(roleFrom) && p.peek(1).word.role == roleNow {
		p.pos += 2
	}
	p.isAfterDuration = true
	wall := wallClock(p.now)
	if s.months != 0 {
		wall = addMonths(wall, s.months)
	}
	if s.months == 0 && s.days == 0 {
		return reading{at: p.now.Add(s.clock), rest: p.pos, end: len(p.words)}, true, nil
	}
	wall = wall.AddDate(0, 0, s.days)
	r := reading{at: InZone(wall, p.now.Location()).Add(s.clock), rest: p.pos, end: len(p.words), noTime: s.clock == 0}
	r.day = day{date: midnight(wall)}
	if s.clock == 0 && p.nextIs(roleAt) {
		r, err = p.timeOn(r.day)
	}
	return r, err == nil, err
}

// duration reads a length of time with one or several units, such as "1 hour 5 minutes". in is true if the word before is "in".
func (p *timeParser) duration(in bool) (s calendarDuration, ok bool, err error) {
	if half, ok := p.half(in); ok {
		return half, true, nil
	}
	if in && p.nextIs(roleAn) && p.peek(1).word.role == roleUnit {
		s.add(1, p.peek(1).word.n)
		p.pos += 2
		return s, true, nil
	}
	last := unitMonth + 1
	for {
		start := p.pos
		if ok && p.accept(roleAnd) && !startsWithDigit(p.peek(0).text) {
			p.pos = start
			return s, ok, nil
		}
		parts, found := p.quantities()
		if !found {
			p.pos = start
			return s, ok, nil
		}
		for _, part := range parts {
			if part.unit >= last { // units go from large to small, each once
				return calendarDuration{}, false, p.unknown()
			}
			last = part.unit
			s.add(part.n, part.unit)
		}
		ok = true
	}
}

// half reads "half an hour" and "half hour".
func (p *timeParser) half(in bool) (calendarDuration, bool) {
	n := 1
	switch {
	case !p.nextIs(roleHalf):
		return calendarDuration{}, false
	case p.peek(1).word.role == roleAn:
		n = 2
	case !in && p.peek(1).word.role != roleUnit:
		return calendarDuration{}, false
	}
	if w := p.peek(n).word; w.role != roleUnit || w.n != unitHour {
		return calendarDuration{}, false
	}
	p.pos += n + 1
	return calendarDuration{clock: 30 * time.Minute}, true
}

// quantity is a number with a unit.
type quantity struct{ n, unit int }

// quantities reads "2h", "1h30m", or a number and its unit as two words. It returns false if the next word is none of these.
func (p *timeParser) quantities() ([]quantity, bool) {
	text := p.peek(0).text
	if !startsWithDigit(text) {
		return nil, false
	}
	var parts []quantity
	for text != "" {
		n, suffix, ok := parseNumber(text)
		if !ok {
			return nil, false
		}
		end := 0
		for end < len(suffix) && (suffix[end] < '0' || suffix[end] > '9') {
			end++
		}
		w := p.lang.words[suffix[:end]]
		if suffix == "" && len(parts) > 0 && parts[len(parts)-1].unit == unitHour && n < 60 { // 1h30
			w = word{role: roleUnit, n: unitMinute}
		}
		if suffix == "" && len(parts) == 0 {
			isOrdinal := p.peek(1).text == "second" && n != 1 // "the twenty second"
			if w = p.peek(1).word; w.role == roleUnit && !isOrdinal {
				p.pos += 2
				return []quantity{{n, w.n}}, true
			}
			return nil, false
		}
		if w.role != roleUnit {
			return nil, false
		}
		parts = append(parts, quantity{n, w.n})
		text = suffix[end:]
	}
	p.pos++
	return parts, true
}

// addMonths returns the same day n months later, or the last day of that month if it is shorter.
func addMonths(wall time.Time, n int) time.Time {
	first := time.Date(wall.Year(), wall.Month()+time.Month(n), 1, wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)
	return first.AddDate(0, 0, min(wall.Day(), daysIn(first.Year(), first.Month()))-1)
}

// daysIn returns the number of days of a month.
func daysIn(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}
