package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/internal/text"
)

// recurrenceParser reads a recurrence: cron, a descriptor, or words with a time of day.
type recurrenceParser struct {
	timeParser

	inMonths bool // "every month" was read, so a day is one of the month
}

// ParseRecurrence reads a recurring plan from the beginning of a text: five cron fields, a descriptor such as @daily, "every ...", or a day
// of the month. now is in the time zone of the plan. It returns the plan as Open accepts it, and the rest of the text. If it does not fully
// understand the text, it returns a *RefusedError.
func ParseRecurrence(s string, now time.Time, lang Language) (kind Kind, spec, rest string, err error) {
	p := &recurrenceParser{timeParser: timeParser{
		text:     s,
		cursor:   cursor{words: tokenize(s, lang)},
		lang:     lang,
		now:      now.Truncate(time.Second),
		examples: lang.RepeatExamples,
	}}
	first := p.peek(0)
	switch {
	case first.end == 0:
		err = p.refuse("How often?")
	case strings.HasPrefix(first.text, "@"):
		p.pos++
		kind, spec = Cron, first.text
		err = p.refuseTimeOfDay(first)
	case first.text == "daily":
		kind, spec, err = p.everyDay("*")
	case first.text == "hourly":
		p.pos++
		kind, spec = Every, time.Hour.String()
	case first.text == "weekly" && isWeekday(p.peek(1)):
		p.pos++
		kind, spec, err = p.every()
	case first.text == "every" || first.text == "each":
		p.pos++
		kind, spec, err = p.every()
	default:
		kind, spec, err = p.dayOrFields()
	}
	if err != nil {
		return "", "", "", err
	}
	if _, err := Open(kind, spec, now.Location()); errors.Is(err, ErrNever) {
		return "", "", "", p.refuse("That never happens.")
	} else if err != nil {
		return "", "", "", p.refuse("I cannot read *" + text.Escape(text.Clip(spec, 40)) + "* as cron.")
	}
	p.isAfterDuration = kind == Every
	p.dayKnown = true
	rest, err = p.rest(len(p.words))
	return kind, spec, rest, err
}

// refuseTimeOfDay refuses a time of day after a descriptor such as @daily, which has a time of its own.
func (p *recurrenceParser) refuseTimeOfDay(first token) error {
	for at := p.pos; at < len(p.words); at++ {
		q := p.timeParser
		q.pos = at
		if m, err := q.mention(reading{}); err == nil && m.clock != nil {
			return p.refuse(fmt.Sprintf("*%s* is at midnight. For *%s* begin with `every day`, `every monday` or the fields of cron.",
				first.quoted(), p.phrase(m.start, m.end)))
		}
	}
	return nil
}

// dayOrFields reads a day of the month, or the five cron fields.
func (p *recurrenceParser) dayOrFields() (Kind, string, error) {
	w := p.peek(0)
	isDay := w.word.role == roleOn || w.word.role == roleThe || positions[w.text] != 0 || p.lang.ordinal(w.text) > 0 && !endsWithDigit(w.text)
	if isDay {
		if kind, spec, ok, err := p.byCalendar(); ok || err != nil {
			return kind, spec, err
		}
	}
	return p.fields()
}

// fields reads the five cron fields.
func (p *recurrenceParser) fields() (Kind, string, error) {
	var fields []string
	for ; len(fields) < 5; p.pos++ {
		w := p.peek(0)
		if w.end == 0 || (!startsWithDigit(w.spelling) && !strings.HasPrefix(w.spelling, "*") && !(len(fields) > 2 && isCronName(w.text))) {
			if len(fields) == 0 {
				return "", "", p.refuse("I don't know *" + w.quoted() + "*.")
			}
			return "", "", p.refuse(fmt.Sprintf("Cron has five fields: minute, hour, day, month, day of the week. I see %d.", len(fields)))
		}
		fields = append(fields, w.spelling)
	}
	if w := p.peek(0); w.end != 0 && !isDash(w.text) && strings.Trim(w.spelling, "0123456789*/,-?") == "" {
		return "", "", p.refuse("Cron has five fields here, without seconds or years. Is *" + w.quoted() +
			"* a sixth? If it belongs to the words, begin them with another one.")
	}
	return Cron, strings.Join(fields, " "), nil
}

var cronNames = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec sun mon tue wed thu fri sat")

// isCronName reports whether a cron field begins with the name of a month or a weekday.
func isCronName(s string) bool {
	if len(s) < 3 {
		return false
	}
	return slices.Contains(cronNames, s[:3]) && (len(s) == 3 || strings.ContainsAny(s[3:4], ",-"))
}

// every reads the words after "every": a length of time, or days with a time of day.
func (p *recurrenceParser) every() (Kind, string, error) {
	if kind, spec, ok, err := p.byCalendar(); ok || err != nil {
		return kind, spec, err
	}
	if s, ok, err := p.duration(false); err != nil || ok {
		switch {
		case err != nil:
			return "", "", err
		case s.days != 0 || s.months != 0:
			return "", "", p.refuse("Days are the calendar's.")
		case s.clock < MinInterval:
			return "", "", p.refuse("Once a minute is the most.")
		default:
			return Every, s.clock.String(), nil
		}
	}
	switch w := p.peek(0); {
	case w.word.role == roleUnit && w.word.n == unitHour:
		p.pos++
		return Every, time.Hour.String(), nil
	case w.word.role == roleUnit && w.word.n == unitMinute:
		p.pos++
		return Every, time.Minute.String(), nil
	case w.word.role == roleUnit && w.word.n == unitDay:
		return p.everyDay("*")
	case w.text == "weekday" || w.text == "workday":
		return p.everyDay("1-5")
	case isWeekday(w):
		days := cronDays(p.weekdays())
		p.pos--
		return p.everyDay(days)
	case w.end == 0:
		return "", "", p.refuse("Every what?")
	default:
		return "", "", p.refuse("I don't know *" + w.quoted() + "*.")
	}
}

// everyDay reads the required time of day after the days. days is the cron field of the days.
func (p *recurrenceParser) everyDay(days string) (Kind, string, error) {
	p.pos++
	p.accept(roleAt)
	c, err := p.requiredTime()
	if err != nil {
		return "", "", err
	}
	return Cron, fmt.Sprintf("%d %d * * %s", c.minute, c.hour, days), nil
}
