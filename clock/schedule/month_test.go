package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

// TestParseRecurrence_OfCalendar reads what cron cannot say, and repeats it in words that it reads as the same.
func TestParseRecurrence_OfCalendar(t *testing.T) {
	t.Parallel()
	lisbon := zone(t, "Europe/Lisbon")
	now := wallTime(t, "2026-11-25 10:00", lisbon) // a Wednesday
	for text, want := range map[string][]string{
		"first monday 9am":                          {"2026-12-07 09:00", "2027-01-04 09:00", "2027-02-01 09:00"},
		"every first monday 9am":                    {"2026-12-07 09:00", "2027-01-04 09:00"},
		"on the first monday of each month 9am":     {"2026-12-07 09:00", "2027-01-04 09:00"},
		"every 1st monday at 9am":                   {"2026-12-07 09:00", "2027-01-04 09:00"},
		"second tuesday of the month 8:30":          {"2026-12-08 08:30", "2027-01-12 08:30"},
		"every last friday 18:00":                   {"2026-11-27 18:00", "2026-12-25 18:00", "2027-01-29 18:00"},
		"last day of the month 18:00":               {"2026-11-30 18:00", "2026-12-31 18:00", "2027-01-31 18:00", "2027-02-28 18:00"},
		"every month on the last day at 18:00":      {"2026-11-30 18:00", "2026-12-31 18:00"},
		"last weekday of the month 17:00":           {"2026-11-30 17:00", "2026-12-31 17:00", "2027-01-29 17:00"},
		"first workday of every month 9am":          {"2026-12-01 09:00", "2027-01-01 09:00", "2027-02-01 09:00"},
		"every 15th 9am":                            {"2026-12-15 09:00", "2027-01-15 09:00"},
		"15th of every month 9am":                   {"2026-12-15 09:00", "2027-01-15 09:00"},
		"every month on the 1st 9am":                {"2026-12-01 09:00", "2027-01-01 09:00"},
		"every other week monday 9am":               {"2026-11-30 09:00", "2026-12-14 09:00", "2026-12-28 09:00"},
		"every other week on monday 9am":            {"2026-11-30 09:00", "2026-12-14 09:00"},
		"every other week 9am":                      {"2026-12-02 09:00", "2026-12-16 09:00"},
		"every other week 11:00":                    {"2026-11-25 11:00", "2026-12-09 11:00"},
		"every second week on friday 9am":           {"2026-11-27 09:00", "2026-12-11 09:00"},
		"every other monday and thursday 9am":       {"2026-11-26 09:00", "2026-12-07 09:00", "2026-12-10 09:00"},
		"every other day 9am":                       {"2026-11-26 09:00", "2026-11-28 09:00"},
		"every 3 days 20:00":                        {"2026-11-25 20:00", "2026-11-28 20:00"},
		"every three weeks on friday at 9am":        {"2026-11-27 09:00", "2026-12-18 09:00"},
		"every week on monday 9am":                  {"2026-11-30 09:00", "2026-12-07 09:00"},
		"every 3 months on the 1st 9am":             {"2026-12-01 09:00", "2027-03-01 09:00"},
		"every other month on the first monday 9am": {"2026-12-07 09:00", "2027-02-01 09:00"},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			kind, spec, rest, err := schedule.ParseRecurrence(text+" pay the rent", now, schedule.English())
			require.NoError(t, err)
			require.Equal(t, schedule.Rule, kind)
			require.Equal(t, "pay the rent", rest)
			plan, err := schedule.Open(kind, spec, lisbon)
			require.NoError(t, err)
			var got []string
			for _, at := range plan.Upcoming(now, len(want)) {
				got = append(got, at.In(lisbon).Format("2006-01-02 15:04"))
			}
			require.Equal(t, want, got, spec)
			words := schedule.Describe(kind, spec)
			_, again, _, err := schedule.ParseRecurrence(words, now, schedule.English())
			require.NoError(t, err, words)
			require.Equal(t, spec, again, words)
		})
	}
}

// TestParseRecurrence_AsksWhatIsUnsure refuses what has two meanings, with an example of each.
func TestParseRecurrence_AsksWhatIsUnsure(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"every second monday 9am":    "By weeks or by months?",
		"every third friday 9am":     "By weeks or by months?",
		"every 31st 9am":             "Not every month has a",
		"every month 9am":            "On which day",
		"every other week":           "At what time?",
		"first monday":               "At what time?",
		"every last day 9am":         "Of the month?",
		"last wednesday 9am":         "Of the month?",
		"every 24th of december 9am": "Once a year",
		"every other banana 9am":     "I don't know *other*",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, spec, _, err := schedule.ParseRecurrence(text, now, schedule.English())
			require.ErrorContains(t, err, why, spec)
		})
	}
}

// TestRule_FollowsWallClock: nine o'clock stays nine o'clock when the clocks change, and a skipped time comes right after the change.
func TestRule_FollowsWallClock(t *testing.T) {
	t.Parallel()
	lisbon := zone(t, "Europe/Lisbon")
	now := wallTime(t, "2027-03-14 00:00", lisbon)
	kind, spec, _, err := schedule.ParseRecurrence("every other sunday 1:30 x", now, schedule.English())
	require.NoError(t, err)
	plan, err := schedule.Open(kind, spec, lisbon)
	require.NoError(t, err)
	var got []string
	for _, at := range plan.Upcoming(now, 3) {
		got = append(got, at.In(lisbon).Format(time.RFC3339))
	}
	require.Equal(t, []string{"2027-03-14T01:30:00Z", "2027-03-28T02:00:00+01:00", "2027-04-11T01:30:00+01:00"}, got)
}

// TestOpen_RefusesForeignRules accepts only what ParseRecurrence makes.
func TestOpen_RefusesForeignRules(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{
		"", "FREQ=DAILY", "DTSTART=20261125T090000Z;FREQ=SECONDLY;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
		"DTSTART=20261125T090000Z;FREQ=DAILY;COUNT=3;BYHOUR=9;BYMINUTE=0;BYSECOND=0", "0 9 * * 1",
	} {
		_, err := schedule.Open(schedule.Rule, spec, time.UTC)
		require.Error(t, err, spec)
	}
}

// TestParseTime_DayOfMonth reads a single day by its place in a month.
func TestParseTime_DayOfMonth(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	now := wallTime(t, "2026-11-25 10:00", berlin) // a Wednesday
	for text, want := range map[string]string{
		"first monday 9am x":                  "2026-12-07 09:00",
		"last day of the month x":             "2026-11-30 09:00",
		"last day of november 18:00 x":        "2026-11-30 18:00",
		"on the last friday of the month x":   "2026-11-27 09:00",
		"first monday of december x":          "2026-12-07 09:00",
		"first monday of november x":          "2027-11-01 09:00",
		"second tuesday of march 2027 10am x": "2027-03-09 10:00",
		"first day of next month 8am x":       "2026-12-01 08:00",
		"last weekday of the month 17:00 x":   "2026-11-30 17:00",
		"x on the first friday of december":   "2026-12-04 09:00",
		"x last day of the month 18:00":       "2026-11-30 18:00",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			at, rest, err := schedule.ParseTime(text, now, schedule.English())
			require.NoError(t, err)
			require.Equal(t, want, at.In(berlin).Format("2006-01-02 15:04"))
			require.Equal(t, "x", rest)
		})
	}
	for _, text := range []string{"last monday x", "every first monday 9am x", "first monday of this month x"} {
		_, _, err := schedule.ParseTime(text, now, schedule.English())
		require.Error(t, err, text)
	}
}
