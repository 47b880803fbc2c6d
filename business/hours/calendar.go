package hours

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
)

const (
	// MaxCalendarBytes is the maximum size of a calendar of holidays.
	MaxCalendarBytes = 1 << 20
	// maxEvents is the maximum number of events of a calendar.
	maxEvents = 2000
	// maxHolidays is the maximum number of holidays of a calendar, with the repetitions of yearly events. All are compared
	// whenever the hours are looked up.
	maxHolidays = 20_000
)

// The errors of a calendar that is not parsed at all.
var (
	errTooBig = errors.New("the calendar is bigger than 1 MB")
	errEmpty  = errors.New("it is empty; write a calendar in iCalendar form, or remove the setting")
	errCutOff = errors.New("this is not a whole calendar in iCalendar form: it does not end with END:VCALENDAR")
	errNested = errors.New("this is not a calendar in iCalendar form: its events contain one another")
)

// ParseCalendar reads the holidays from a calendar in iCalendar form (RFC 5545). Each of its events lasts whole days; it may repeat
// by a rule, and single days of it may be replaced by other events. Cancelled events are left out.
func ParseCalendar(r io.Reader) ([]Days, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxCalendarBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the calendar: %w", err)
	case len(data) > MaxCalendarBytes:
		return nil, errTooBig
	case len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))) == 0:
		return nil, errEmpty
	case !isShallow(data):
		return nil, errNested
	}
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	calendar, err := ics.ParseCalendar(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("this is not a calendar in iCalendar form: %w", err)
	}
	if !bytes.Contains(bytes.ToUpper(data), []byte("\nEND:VCALENDAR")) {
		return nil, errCutOff
	}
	events := calendar.Events()
	if len(events) > maxEvents {
		return nil, fmt.Errorf("the calendar has %d events; %d are possible", len(events), maxEvents)
	}
	current, replaced, err := currentEvents(events)
	if err != nil {
		return nil, err
	}
	rules := recurrence{steps: maxSteps}
	var list []Days
	for i, e := range current {
		days, err := eventDays(e, &rules, replaced[e.Id()])
		if err != nil {
			return nil, fmt.Errorf("event %d (%.60q): %w", i+1, property(e, ics.ComponentPropertySummary), err)
		}
		if list = append(list, days...); len(list) > maxHolidays {
			return nil, fmt.Errorf("the calendar has more than %d holidays with those that repeat; end the rules with UNTIL or COUNT", maxHolidays)
		}
	}
	return list, nil
}

// maxDepth is how deep the parts of a calendar may be nested. An alarm in an event in a calendar is 3.
const maxDepth = 10

// isShallow reports whether no more than maxDepth parts are nested. The parser calls itself for each.
func isShallow(data []byte) bool {
	unfolded := strings.NewReplacer("\n ", "", "\n\t", "").Replace(strings.ToUpper(strings.ReplaceAll(string(data), "\r\n", "\n")))
	depth := 0
	for line := range strings.Lines(unfolded) {
		switch {
		case strings.HasPrefix(line, "BEGIN"):
			depth++
		case strings.HasPrefix(line, "END:"):
			depth = max(depth-1, 0)
		}
		if depth > maxDepth {
			return false
		}
	}
	return true
}

// eventDays returns the days of an event and of its repetitions.
func eventDays(e *ics.VEvent, rules *recurrence, replaced []time.Time) ([]Days, error) {
	if strings.EqualFold(property(e, ics.ComponentPropertyStatus), string(ics.ObjectStatusCancelled)) {
		return nil, nil
	}
	if e.GetProperty("DURATION") != nil {
		return nil, errors.New("it has DURATION, which I do not read; write DTEND, the day after the last one")
	}
	if len(e.GetProperties(ics.ComponentPropertyDtStart)) > 1 {
		return nil, errors.New("it begins twice")
	}
	if e.GetProperty(ics.ComponentPropertyRecurrenceId) != nil {
		replaced = nil // it is one of them
	}
	first, err := dateOf(e, ics.ComponentPropertyDtStart)
	if err != nil {
		return nil, errors.New("it does not begin with a date; holidays are whole days")
	}
	last := first
	if e.GetProperty(ics.ComponentPropertyDtEnd) != nil {
		end, err := dateOf(e, ics.ComponentPropertyDtEnd)
		if err != nil {
			return nil, errors.New("it does not end with a date; holidays are whole days")
		}
		if !end.Equal(first) { // some programs write a day that ends where it begins
			last = end.AddDate(0, 0, -1) // the end is the day after the last one
		}
	}
	switch {
	case last.Before(first):
		return nil, errors.New("it ends before it begins")
	case last.Sub(first) > maxHolidayDays*day:
		return nil, errors.New("it is longer than a year")
	}
	starts, err := rules.occurrences(e, first, replaced)
	if err != nil {
		return nil, err
	}
	days := make([]Days, 0, len(starts))
	for _, start := range starts {
		days = append(days, Days{start, start.Add(last.Sub(first))})
	}
	return days, nil
}

// datesOf returns the dates of all properties of an event with a name, such as EXDATE. One property may have several.
func datesOf(e *ics.VEvent, name ics.ComponentProperty) ([]time.Time, error) {
	var dates []time.Time
	for _, p := range e.GetProperties(name) {
		for value := range strings.SplitSeq(p.Value, ",") {
			date, err := time.Parse("20060102", value)
			if err != nil {
				return nil, fmt.Errorf("its %s has %.40q; write a date such as 20261225, because holidays are whole days", name, value)
			}
			dates = append(dates, date)
		}
	}
	return dates, nil
}

// property returns the value of a property of an event; empty if it has none.
func property(e *ics.VEvent, name ics.ComponentProperty) string {
	if p := e.GetProperty(name); p != nil {
		return p.Value
	}
	return ""
}

// dateOf returns the date of a property, as midnight in UTC. A date has no zone, whatever stands beside it.
func dateOf(e *ics.VEvent, name ics.ComponentProperty) (time.Time, error) {
	return time.Parse("20060102", strings.TrimSpace(property(e, name)))
}
