// Package hours computes when a business is open, from several periods a weekday, also over midnight, and holidays.
package hours

import (
	"slices"
	"time"

	"multis/clock/schedule"
)

// maxLookaheadDays is how far ahead Hours looks for the next change, in days. It is longer than any year, so that yearly
// closures do not hide it.
const maxLookaheadDays = 400

// Hours are the opening hours of a business. The zero value is open at all times.
type Hours struct { //nolint:recvcheck // only Set and SetDays change it
	// Zone is the time zone of the hours; nil is UTC.
	Zone *time.Location
	// Week has the periods of each weekday, by time.Weekday. A business without any period is always open.
	Week [7][]Period
	// Holidays are the days on which no period begins.
	Holidays []Days
}

// Period is a part of a day, by local time: From is less than 24 hours after midnight, and Until is after From. A period that goes
// over midnight ends later than at 24 hours.
type Period struct{ From, Until time.Duration }

// Days are consecutive days, First and Last included. They are midnights in UTC.
type Days struct{ First, Last time.Time }

// String returns the days as ParseDays reads them.
func (d Days) String() string {
	if d.Last.Equal(d.First) {
		return d.First.Format(isoDate)
	}
	return d.First.Format(isoDate) + ".." + d.Last.Format(isoDate)
}

// Contains reports whether a day, a midnight in UTC, is one of d.
func (d Days) Contains(day time.Time) bool { return !day.Before(d.First) && !day.After(d.Last) }

// State says whether a business is open at some time, and when that state began and ends.
type State struct {
	Open bool
	// Since is when the state began; the zero time if it began more than a year before.
	Since time.Time
	// Until is when the state ends; the zero time if it lasts more than a year.
	Until time.Time
}

// IsZero reports whether no hours are given, which means that the business is always open.
func (h Hours) IsZero() bool {
	return !slices.ContainsFunc(h.Week[:], func(periods []Period) bool { return len(periods) > 0 })
}

// ClosedDays returns the holidays, from the day of a time on, on which the business would be open otherwise: at most
// limit of those within the next days. They are midnights in UTC.
func (h Hours) ClosedDays(from time.Time, days, limit int) (closed []time.Time) {
	y, m, d := from.In(h.zone()).Date()
	for i := 0; i <= days && len(closed) < limit; i++ {
		day := time.Date(y, m, d+i, 0, 0, 0, 0, time.UTC)
		if len(h.Week[day.Weekday()]) > 0 && slices.ContainsFunc(h.Holidays, func(d Days) bool { return d.Contains(day) }) {
			closed = append(closed, day)
		}
	}
	return closed
}

// zone returns the time zone of the hours.
func (h Hours) zone() *time.Location {
	if h.Zone == nil {
		return time.UTC
	}
	return h.Zone
}

// At returns the state at t. A local time that daylight saving skips means the first instant after the gap, and one that occurs
// twice means the first, as in package schedule.
func (h Hours) At(t time.Time) State {
	if h.IsZero() {
		return State{Open: true}
	}
	before, after := h.openingsAround(t)
	state := State{Since: before}
	for _, span := range after {
		switch {
		case span.Contains(t):
			state.Open = true
			state.Since = span.From
			state.Until = span.Until
			if span.From.Before(t.AddDate(-1, 0, 0)) {
				state.Since = time.Time{}
			}
			if span.Until.After(t.AddDate(1, 0, 0)) {
				state.Until = time.Time{}
			}
			return state
		case span.From.After(t):
			state.Until = span.From
			return state
		}
	}
	return state
}

// openingsAround returns the end of the last opening before t, and the openings that end after t. before is zero if there
// is no opening within the next maxLookaheadDays. Periods that touch or overlap are one opening.
func (h Hours) openingsAround(t time.Time) (before time.Time, after []schedule.Period) {
	zone := h.zone()
	y, m, d := t.In(zone).Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	// The last opening is mostly days away, so that few days are looked at.
	for reach := 8; ; reach *= 8 {
		reach = min(reach, maxLookaheadDays)
		before, after = time.Time{}, nil
		for _, span := range h.openings(today.AddDate(0, 0, -reach), today.AddDate(0, 0, reach), zone) {
			if span.Until.After(t) {
				after = append(after, span)
			} else {
				before = span.Until
			}
		}
		if len(after) > 1 && !before.IsZero() || reach == maxLookaheadDays {
			return before, after
		}
	}
}

// openings returns the openings that begin on the days from first to last, in order.
func (h Hours) openings(first, last time.Time, zone *time.Location) []schedule.Period {
	var all []schedule.Period
	near := slices.DeleteFunc(slices.Clone(h.Holidays), func(d Days) bool { return d.Last.Before(first) || d.First.After(last) })
	for day := first; !day.After(last); day = day.AddDate(0, 0, 1) {
		if slices.ContainsFunc(near, func(d Days) bool { return d.Contains(day) }) {
			continue
		}
		for _, p := range h.Week[day.Weekday()] {
			span := schedule.Period{From: schedule.InZone(day.Add(p.From), zone), Until: schedule.InZone(day.Add(p.Until), zone)}
			if span.From.Before(span.Until) { // the clocks may skip the whole of it
				all = append(all, span)
			}
		}
	}
	slices.SortFunc(all, func(a, b schedule.Period) int { return a.From.Compare(b.From) })
	merged := all[:0]
	for _, span := range all {
		if n := len(merged); n > 0 && !span.From.After(merged[n-1].Until) {
			if span.Until.After(merged[n-1].Until) {
				merged[n-1].Until = span.Until
			}
			continue
		}
		merged = append(merged, span)
	}
	return merged
}
