package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

// thursday is a morning in November.
var thursday = time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC)

func november(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }

func TestParsePast_Words(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]struct {
		period schedule.Period
		rest   string
	}{
		"what came in overnight?":          {schedule.Period{november(18, 18), november(19, 10)}, "what came in ?"},
		"was kam über nacht?":              {schedule.Period{november(18, 18), november(19, 10)}, "was kam ?"},
		"who wrote this morning":           {schedule.Period{november(19, 0), november(19, 12)}, "who wrote"},
		"what happened yesterday?":         {schedule.Period{november(18, 0), november(19, 0)}, "what happened ?"},
		"who wrote since Monday?":          {schedule.Period{From: november(16, 0)}, "who wrote ?"},
		"what did Ana say since yesterday": {schedule.Period{From: november(18, 0)}, "what did Ana say"},
		"since 2026-11-01 Ana":             {schedule.Period{From: november(1, 0)}, "Ana"},
		"anything new since 24h":           {schedule.Period{From: november(18, 9)}, "anything new"},
		"was gab es seit 3 tagen?":         {schedule.Period{From: november(16, 9)}, "was gab es ?"},
		"news of the last 3 days":          {schedule.Period{From: november(16, 9)}, "news of"},
		"in the past 2 hours":              {schedule.Period{From: november(19, 7)}, ""},
		"since nobody asked":               {},
		"":                                 {},
	} {
		found, ok := schedule.ParsePast(question, thursday)
		require.Equal(t, !want.period.IsZero(), ok, question)
		require.Equal(t, want.period, found.Period, question)
		require.Equal(t, want.rest, found.Rest, question)
	}
}

func FuzzParsePast(f *testing.F) {
	for _, seed := range []string{
		"since since since monday", "since 0 days", "overnight", "in the last 999 weeks", "since über nacht",
		"last 3 days ago in May 2026",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, question string) {
		found, ok := schedule.ParsePast(question, thursday)
		require.LessOrEqual(t, len(found.Rest), len(question)+1)
		require.Equal(t, ok, !found.IsZero())
	})
}

// In Chile the clocks jump from Saturday's midnight to one o'clock of Sunday, 6 September 2026; in Berlin a day of October has 25 hours.
func TestParsePast_DaysOfAnyLength(t *testing.T) {
	t.Parallel()
	chile := zone(t, "America/Santiago")
	for said, now := range map[string]string{"what came in today?": "2026-09-06 23:30", "what came in yesterday?": "2026-09-07 12:00"} {
		found, ok := schedule.ParsePast(said, wallTime(t, now, chile))
		require.True(t, ok)
		require.Equal(t, "2026-09-06T01:00:00-03:00", found.From.Format(time.RFC3339), said)
		require.Equal(t, "2026-09-07T00:00:00-03:00", found.Until.Format(time.RFC3339), said)
	}
	found, ok := schedule.ParsePast("what came in this morning?", wallTime(t, "2026-10-25 18:00", zone(t, "Europe/Berlin")))
	require.True(t, ok)
	require.Equal(t, "2026-10-25T00:00:00+02:00", found.From.Format(time.RFC3339))
	require.Equal(t, "2026-10-25T12:00:00+01:00", found.Until.Format(time.RFC3339))
	require.Equal(t, "2026-09-06T01:00:00-03:00", schedule.DayStart(2026, 9, 6, chile).Format(time.RFC3339))
}
