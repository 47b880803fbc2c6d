package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/teambition/rrule-go"
)

// rulePlan is a recurrence of the calendar, as RFC 5545 writes it, in a time zone. Its times are those of the wall clock.
type rulePlan struct {
	rule *rrule.RRule
	zone *time.Location
}

// parseRule parses the specification of a plan of kind Rule. It accepts what newRule makes: a rule without an end, with one time of day.
func parseRule(spec string, zone *time.Location) (rulePlan, error) {
	option, err := rrule.StrToROptionInLocation(spec, time.UTC)
	if err != nil {
		return rulePlan{}, fmt.Errorf("%q is not a rule: %w", spec, err)
	}
	isDaily := option.Freq == rrule.DAILY || option.Freq == rrule.WEEKLY || option.Freq == rrule.MONTHLY
	hasOneTime := len(option.Byhour) == 1 && len(option.Byminute) == 1 && len(option.Bysecond) == 1
	if !isDaily || !hasOneTime || option.Dtstart.IsZero() || option.Count != 0 || !option.Until.IsZero() {
		return rulePlan{}, fmt.Errorf("%q is no rule of days, weeks or months with one time of day", spec)
	}
	rule, err := rrule.NewRRule(*option)
	if err != nil {
		return rulePlan{}, fmt.Errorf("%q is not a rule: %w", spec, err)
	}
	return rulePlan{rule: rule, zone: zone}, nil
}

// next returns the first time after another.
func (r rulePlan) next(after time.Time) time.Time {
	return nextOnClock(after, r.zone, func(wall time.Time) time.Time { return r.rule.After(wall, false) })
}

// nextOnClock returns the first instant after another at which the clock of a zone shows the next time that find finds. A time that the
// clocks skip is moved to their change; of a time that they show twice, only the first counts.
func nextOnClock(after time.Time, zone *time.Location, find func(wall time.Time) time.Time) time.Time {
	for wall := wallClock(after.In(zone)); ; {
		wall = find(wall)
		if wall.IsZero() {
			return time.Time{}
		}
		if t := InZone(wall, zone); t.After(after) {
			return t.UTC()
		}
	}
}

// newRule returns the specification of a rule at a time of day. The rule begins with its first time after now, from which every interval-th
// day, week or month counts.
func newRule(option rrule.ROption, c clockTime, now time.Time) (string, error) {
	interval := option.Interval
	option.Interval = 1
	option.Byhour = []int{c.hour}
	option.Byminute = []int{c.minute}
	option.Bysecond = []int{0}
	option.Dtstart = midnight(wallClock(now))
	rule, err := rrule.NewRRule(option)
	if err != nil {
		return "", err
	}
	option.Interval = interval
	option.Dtstart = rule.After(wallClock(now), false)
	if option.Dtstart.IsZero() {
		return "", ErrNever
	}
	return "DTSTART=" + option.Dtstart.Format("20060102T150405Z") + ";" + option.RRuleString(), nil
}

// Describe returns a recurrence in the words that ParseRecurrence reads.
func Describe(kind Kind, spec string) string {
	switch kind {
	case Every:
		every := strings.NewReplacer("h0m0s ", "h", "m0s ", "m").Replace(spec + " ") // 1h0m0s is 1h, but 1h30m is not 1h3
		return "every " + strings.TrimSpace(every)
	case Rule:
		option, err := rrule.StrToROptionInLocation(spec, time.UTC)
		if err != nil {
			return spec
		}
		return describeRule(option)
	default:
		return spec
	}
}

func describeRule(o *rrule.ROption) string {
	unit := map[rrule.Frequency]string{rrule.DAILY: "day", rrule.WEEKLY: "week", rrule.MONTHLY: "month"}[o.Freq]
	often := "every " + unit
	switch {
	case o.Interval == 2:
		often = "every other " + unit
	case o.Interval > 2:
		often = fmt.Sprintf("every %d %ss", o.Interval, unit)
	}
	if on := describeDays(o); on != "" {
		often += " on " + on
	}
	return fmt.Sprintf("%s at %02d:%02d", often, firstOf(o.Byhour), firstOf(o.Byminute))
}

// describeDays names the days of a rule: "monday and thursday", "the first monday", "the last day", "the 15th".
func describeDays(o *rrule.ROption) string {
	switch {
	case len(o.Bysetpos) > 0:
		return "the " + positionName(o.Bysetpos[0]) + " weekday"
	case len(o.Bymonthday) > 0 && o.Bymonthday[0] < 0:
		return "the last day"
	case len(o.Bymonthday) > 0:
		return "the " + ordinalOf(o.Bymonthday[0])
	}
	var names []string
	for _, day := range o.Byweekday {
		name := lower(time.Weekday((day.Day() + 1) % 7).String())
		if day.N() != 0 {
			name = "the " + positionName(day.N()) + " " + name
		}
		names = append(names, name)
	}
	return strings.Join(names, " and ")
}

func firstOf(numbers []int) int {
	if len(numbers) == 0 {
		return 0
	}
	return numbers[0]
}

// ordinalOf returns a number as an ordinal: 1st, 22nd, 13th.
func ordinalOf(n int) string {
	suffix := "th"
	if n < 11 || n > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
