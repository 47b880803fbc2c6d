package hours

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/teambition/rrule-go"
)

const (
	// lastYear is the last year in which an event without an end is repeated.
	lastYear = 2130
	// maxSteps is how many days the daily rules of a calendar may go through, whether they give a day or not. A month or a
	// week counts as two days and a year as five, because that is how long they take: some 20 microseconds a day.
	maxSteps = 100_000
	// maxInterval is the longest interval of a rule, in its units.
	maxInterval = 1000
)

// recurrence expands the rules of a calendar.
type recurrence struct {
	steps int // what is left of maxSteps
}

// occurrences returns the first days of an event and of its repetitions: by its rule, with the days of RDATE, without
// those of EXDATE and those that other events replace.
func (r *recurrence) occurrences(e *ics.VEvent, first time.Time, replaced []time.Time) ([]time.Time, error) {
	var set rrule.Set
	if e.GetProperty("EXRULE") != nil {
		return nil, errors.New("it has EXRULE, which I do not read; write EXDATE")
	}
	switch rules := e.GetProperties(ics.ComponentPropertyRrule); len(rules) {
	case 0:
	case 1:
		rule, err := r.parse(rules[0].Value, first)
		if err != nil {
			return nil, fmt.Errorf("it repeats by the rule %.60q: %w", rules[0].Value, err)
		}
		set.RRule(rule)
	default:
		return nil, errors.New("it has several rules; write an event for each")
	}
	set.DTStart(first)
	set.RDate(first) // the event itself counts, even if its rule does not give its day
	for name, add := range map[ics.ComponentProperty]func(time.Time){"RDATE": set.RDate, "EXDATE": set.ExDate} {
		dates, err := datesOf(e, name)
		if err != nil {
			return nil, err
		}
		for _, date := range dates {
			add(date)
		}
	}
	for _, date := range replaced {
		set.ExDate(date)
	}
	next := set.Iterator()
	var list []time.Time
	for {
		start, more := next()
		if !more {
			return list, nil
		}
		if list = append(list, start); len(list) > maxHolidays {
			return nil, fmt.Errorf("it repeats more than %d times; end its rule with UNTIL or COUNT", maxHolidays)
		}
	}
}

// zeroWeekday matches a day of the week with the number 0, which is no number of a week.
var zeroWeekday = regexp.MustCompile(`[=,][+-]?0+(MO|TU|WE|TH|FR|SA|SU)`)

// parse reads the rule of an event of whole days.
func (r *recurrence) parse(rule string, first time.Time) (*rrule.RRule, error) {
	rule = strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(rule)), ";")
	if err := checkParts(rule); err != nil {
		return nil, err
	}
	option, err := rrule.StrToROption(rule)
	if err != nil {
		return nil, fmt.Errorf("I cannot read it: %w", err)
	}
	if option.Freq > rrule.DAILY {
		return nil, errors.New("holidays are whole days")
	}
	option.Dtstart = first
	until := time.Date(max(lastYear, first.Year()), 12, 31, 0, 0, 0, 0, time.UTC)
	if option.Until.IsZero() || option.Until.After(until) {
		option.Until = until // so that a rule without a match ends
	}
	period := [...]time.Duration{rrule.YEARLY: 365 * day, rrule.MONTHLY: 30 * day, rrule.WEEKLY: 7 * day, rrule.DAILY: day}[option.Freq]
	weight := [...]int{rrule.YEARLY: 5, rrule.MONTHLY: 2, rrule.WEEKLY: 2, rrule.DAILY: 1}[option.Freq]
	r.steps -= weight * int(max(0, option.Until.Sub(first))/period) / max(1, option.Interval)
	if r.steps < 0 {
		return nil, errors.New("with it, the rules of the calendar go too far; end them with UNTIL, or write fewer")
	}
	parsed, err := rrule.NewRRule(*option)
	if err != nil {
		return nil, fmt.Errorf("it is not possible: %w", err)
	}
	return parsed, nil
}

// checkParts returns an error for a rule that the parser would take for another one.
func checkParts(rule string) error {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(rule, ";") {
		name, value, _ := strings.Cut(part, "=")
		if seen[name] {
			return fmt.Errorf("it has %.20q twice", name)
		}
		seen[name] = true
		switch name {
		case "BYHOUR", "BYMINUTE", "BYSECOND":
			return errors.New("holidays are whole days")
		case "INTERVAL", "COUNT":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || name == "INTERVAL" && n > maxInterval {
				return fmt.Errorf("its %s is %.20q; write a number from 1", name, value)
			}
		case "UNTIL":
			if strings.HasPrefix(value, "0001") {
				return errors.New("its UNTIL is before the calendar")
			}
		}
	}
	if zeroWeekday.MatchString(rule) {
		return errors.New("a day of the week has the number 0")
	}
	return nil
}

// currentEvents returns the events without the former versions of an event: those with a lower SEQUENCE and the same UID
// and day. It also returns, by UID, the days of repeated events that an event of their own replaces.
func currentEvents(all []*ics.VEvent) (current []*ics.VEvent, replaced map[string][]time.Time, err error) {
	newest := map[string]int{}
	version := func(e *ics.VEvent) (key string, sequence int) {
		sequence, _ = strconv.Atoi(property(e, ics.ComponentPropertySequence))
		return e.Id() + "\x00" + property(e, ics.ComponentPropertyRecurrenceId), sequence
	}
	for _, e := range all {
		key, sequence := version(e)
		newest[key] = max(newest[key], sequence)
	}
	replaced = map[string][]time.Time{}
	for _, e := range all {
		key, sequence := version(e)
		if e.Id() != "" && sequence < newest[key] {
			continue
		}
		current = append(current, e)
		p := e.GetProperty(ics.ComponentPropertyRecurrenceId)
		if p == nil {
			continue
		}
		date, err := time.Parse("20060102", p.Value)
		if err != nil || len(p.ICalParameters["RANGE"]) > 0 {
			return nil, nil, fmt.Errorf("the event %.60q replaces %.40q of another one; only a single day can be replaced",
				property(e, ics.ComponentPropertySummary), p.Value)
		}
		replaced[e.Id()] = append(replaced[e.Id()], date)
	}
	return current, replaced, nil
}
