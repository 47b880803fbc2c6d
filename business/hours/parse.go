package hours

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	day = 24 * time.Hour
	// maxPeriods is the maximum number of periods on one weekday.
	maxPeriods = 10
	// maxHolidayDays is the maximum length of one holiday.
	maxHolidayDays = 366
	isoDate        = "2006-01-02"
)

// weekdays returns the names of the weekdays as configuration has them, by time.Weekday.
func weekdays() [7]string { return [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} }

// SetDays sets the periods of some weekdays. days is a weekday such as "mon", several such as "mon, wed" or a range such as "mon-fri";
// "daily" is all. periods are times such as "9-12:30, 13:30-18", "22:00-02:00" for one over midnight, "24h", or "closed".
func (h *Hours) SetDays(days, periods string) error {
	list, err := parseWeekdays(days)
	if err != nil {
		return err
	}
	parsed, err := parsePeriods(periods)
	if err != nil {
		return err
	}
	for _, d := range list {
		h.Week[d] = parsed
	}
	return nil
}

// Set sets the periods of some weekdays from one line, such as "mon-fri 9-12:30, 13:30-18" and "sat, sun closed"; see SetDays.
func (h *Hours) Set(line string) error {
	at := strings.IndexFunc(line, func(r rune) bool { return r >= '0' && r <= '9' })
	if days, isClosed := strings.CutSuffix(strings.TrimSpace(line), "closed"); isClosed {
		return h.SetDays(days, "closed")
	}
	if at < 0 {
		return fmt.Errorf("%.60q has no times; write it like mon-fri 9-12:30, 13:30-18", line)
	}
	return h.SetDays(strings.TrimRight(line[:at], " :"), line[at:])
}

// parseWeekdays parses weekdays such as "mon-fri", "sat, sun" and "daily".
func parseWeekdays(s string) ([]time.Weekday, error) {
	if strings.EqualFold(strings.TrimSpace(s), "daily") {
		return []time.Weekday{time.Sunday, time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday}, nil
	}
	var list []time.Weekday
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := parseWeekday(from)
		if err != nil {
			return nil, err
		}
		last := first
		if isRange {
			if last, err = parseWeekday(to); err != nil {
				return nil, err
			}
		}
		for d := first; ; d = (d + 1) % 7 {
			if !slices.Contains(list, d) {
				list = append(list, d)
			}
			if d == last {
				break
			}
		}
	}
	return list, nil
}

func parseWeekday(s string) (time.Weekday, error) {
	names := weekdays()
	i := slices.Index(names[:], strings.ToLower(strings.TrimSpace(s)))
	if i < 0 {
		return 0, fmt.Errorf("%.30q is not a weekday; write mon, tue, wed, thu, fri, sat, sun, mon-fri or daily", strings.TrimSpace(s))
	}
	return time.Weekday(i), nil
}

var periodForm = regexp.MustCompile(`^(\d{1,2})(?:[:.](\d{2}))?\s*[-–]\s*(\d{1,2})(?:[:.](\d{2}))?$`)

// parsePeriods parses the periods of a day. Those of one day may touch, but not overlap.
func parsePeriods(s string) ([]Period, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "closed":
		return nil, nil
	case "24h":
		return []Period{{0, day}}, nil
	}
	var list []Period
	for part := range strings.SplitSeq(s, ",") {
		p, err := parsePeriod(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if len(list) > maxPeriods {
		return nil, fmt.Errorf("these are %d periods for one day; %d are possible", len(list), maxPeriods)
	}
	slices.SortFunc(list, func(a, b Period) int { return int(a.From - b.From) })
	for i := 1; i < len(list); i++ {
		if list[i].From < list[i-1].Until {
			return nil, fmt.Errorf("two periods of %.60q overlap", s)
		}
	}
	return list, nil
}

func parsePeriod(s string) (Period, error) {
	m := periodForm.FindStringSubmatch(s)
	if m == nil {
		return Period{}, fmt.Errorf("%.30q is not a period; write it like 9-17, 9:00-12:30 or 22-02, or write closed", s)
	}
	from, err := clockTime(m[1], m[2])
	if err != nil {
		return Period{}, err
	}
	until, err := clockTime(m[3], m[4])
	if err != nil {
		return Period{}, err
	}
	switch {
	case from == day || from == until:
		return Period{}, fmt.Errorf("the period %.30q is empty; write 24h for a whole day", s)
	case until < from:
		until += day
	}
	return Period{from, until}, nil
}

// clockTime returns the time since midnight. "24" is the end of the day.
func clockTime(hour, minute string) (time.Duration, error) {
	h, err := strconv.Atoi(hour)
	m := 0
	if minute != "" {
		var wrong error
		m, wrong = strconv.Atoi(minute)
		err = errors.Join(err, wrong)
	}
	t := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
	if err != nil || m > 59 || t > day {
		return 0, fmt.Errorf("there is no time %s:%02d", hour, m)
	}
	return t, nil
}

// ParseDays parses a holiday: a date such as 2026-12-25, or a range such as 2026-12-24..2027-01-02.
func ParseDays(s string) (Days, error) {
	from, to, isRange := strings.Cut(s, "..")
	first, err := time.Parse(isoDate, strings.TrimSpace(from))
	last := first
	if err == nil && isRange {
		last, err = time.Parse(isoDate, strings.TrimSpace(to))
	}
	switch {
	case err != nil:
		return Days{}, fmt.Errorf("%.40q is not a holiday; write it like 2026-12-25 or 2026-12-24..2027-01-02", s)
	case last.Before(first):
		return Days{}, fmt.Errorf("the holiday %.40q ends before it begins", s)
	case last.Sub(first) > maxHolidayDays*day:
		return Days{}, fmt.Errorf("the holiday %.40q is longer than a year", s)
	}
	return Days{first, last}, nil
}
