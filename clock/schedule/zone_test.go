package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

// testZones are time zones whose clock changes are unusual: by half an hour, at midnight, in the southern hemisphere, or never.
var testZones = []string{
	"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Sao_Paulo", "Asia/Kathmandu",
	"America/Santiago", "Asia/Beirut", "Africa/Casablanca", "Europe/Dublin", "America/St_Johns", "Pacific/Chatham", "Asia/Tehran", "UTC",
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

func TestCron_AroundClockChanges(t *testing.T) {
	t.Parallel()
	// Around each change of the clocks in ten years, the times of a cron expression are those that expectedTimes finds minute by minute.
	exprs := []string{
		"30 2 * * *", "0 0 * * *", "15 0 * * *", "30 1 * * *", "45 1 * * *", "0 3 * * *", "15,45 1-3 * * *", "*/20 * * * *", "7 * * * *",
		"0 */2 * * *",
		"30 0,1,2,3 * * 0", "59 23 * * *", "0 9 * * 1-5", "@hourly", "@daily", "5 2 * * 7", "0 1-23/2 * * *", "30 23 * * *",
	}
	changes := 0
	for _, name := range testZones {
		loc := zone(t, name)
		for _, change := range changesOf(loc, 2016, 2026) {
			changes++
			// A change of the clocks affects only the hours around it.
			from, to := change.Add(-5*time.Hour), change.Add(5*time.Hour)
			for _, expr := range exprs {
				plan, err := schedule.Open(schedule.Cron, expr, loc)
				require.NoError(t, err)
				require.Equal(t, expectedTimes(expr, loc, from, to), timesBetween(plan, from, to), "%s in %s around %s", expr, name, change)
			}
		}
	}
	require.Greater(t, changes, 150)
}

// The same for random expressions and random starting times.
func TestCron_InEveryZone(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	for range 400 {
		name := testZones[rng.IntN(len(testZones))]
		loc := zone(t, name)
		expr := randomCron(rng)
		plan, err := schedule.Open(schedule.Cron, expr, loc)
		require.NoError(t, err)
		from := time.Unix(1_451_606_400+rng.Int64N(10*365*86_400), 0)
		if changes := changesOf(loc, from.Year(), from.Year()); len(changes) > 0 && rng.IntN(2) == 0 {
			from = changes[rng.IntN(len(changes))].Add(time.Duration(rng.IntN(7200)-5400) * time.Second)
		}
		to := from.Add(30 * time.Hour)
		require.Equal(t, expectedTimes(expr, loc, from, to), timesBetween(plan, from, to), "%s in %s from %s", expr, name, from)
	}
}

func TestCron_DaylightSavingTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, expr, after, want string }{
		{"Europe/Berlin", "30 2 * * *", "2026-03-28 12:00", "2026-03-29T03:00:00+02:00"}, // skipped: the first instant after
		{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00", "2026-10-25T02:30:00+02:00"}, // twice: the first
		{"America/New_York", "30 2 * * *", "2026-03-07 12:00", "2026-03-08T03:00:00-04:00"},
		{"America/New_York", "30 1 * * *", "2026-10-31 12:00", "2026-11-01T01:30:00-04:00"},
		{"Australia/Lord_Howe", "15 2 * * *", "2026-10-03 12:00", "2026-10-04T02:30:00+11:00"}, // half an hour is skipped
		{"Australia/Lord_Howe", "45 1 * * *", "2026-04-04 12:00", "2026-04-05T01:45:00+11:00"},
		{"Africa/Cairo", "0 0 * * *", "2026-04-23 12:00", "2026-04-24T01:00:00+03:00"}, // no midnight that day
		{"America/Sao_Paulo", "0 0 * * *", "2018-11-03 12:00", "2018-11-04T01:00:00-02:00"},
		{"America/Sao_Paulo", "30 23 * * *", "2018-02-17 12:00", "2018-02-17T23:30:00-02:00"},
		{"Asia/Kathmandu", "0 9 * * *", "2026-03-29 12:00", "2026-03-30T09:00:00+05:45"},
	} {
		loc := zone(t, c.zone)
		plan, err := schedule.Open(schedule.Cron, c.expr, loc)
		require.NoError(t, err)
		after, err := time.ParseInLocation("2006-01-02 15:04", c.after, loc)
		require.NoError(t, err)
		first := plan.Next(after)
		require.Equal(t, c.want, first.In(loc).Format(time.RFC3339), "%s in %s", c.expr, c.zone)
		require.Greater(t, plan.Next(first).Sub(first), 20*time.Hour, "%s in %s happens once that day", c.expr, c.zone)
	}
}

func TestOpen_RefusesCronWithoutMatch(t *testing.T) {
	t.Parallel()
	for _, expr := range []string{"0 0 30 2 *", "0 0 31 4,6,9,11 *"} {
		_, err := schedule.Open(schedule.Cron, expr, time.UTC)
		require.ErrorIs(t, err, schedule.ErrNever, expr)
	}
	for _, expr := range []string{
		"", "* * * *", "60 * * * *", "0 25 * * *", "0 0 * * 8", "TZ=UTC 0 9 * * *", "CRON_TZ=UTC 0 9 * * *",
		"@reboot", "@every 1s", "0 0 0 9 * * *", "H * * * *", "0 9 L * *", "0 0 9 * * 1",
	} {
		_, err := schedule.Open(schedule.Cron, expr, time.UTC)
		require.Error(t, err, expr)
		require.NotErrorIs(t, err, schedule.ErrNever, expr)
	}
	plan, err := schedule.Open(schedule.Cron, "0 0 29 2 *", time.UTC)
	require.NoError(t, err)
	require.Equal(t, 2028, plan.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Year())
}

func TestCron_CountsMissed(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	every, err := schedule.Open(schedule.Every, "30m", time.UTC)
	require.NoError(t, err)
	next, missed := every.Skip(noon, noon.Add(95*time.Minute))
	require.Equal(t, noon.Add(2*time.Hour), next)
	require.Equal(t, 3, missed)
	next, missed = every.Skip(noon, noon.Add(5*time.Second))
	require.Equal(t, noon.Add(30*time.Minute), next)
	require.Zero(t, missed)
	next, missed = every.Skip(noon, noon.Add(30*time.Minute))
	require.Equal(t, noon.Add(time.Hour), next)
	require.Equal(t, 1, missed)

	cron, err := schedule.Open(schedule.Cron, "0 * * * *", time.UTC)
	require.NoError(t, err)
	next, missed = cron.Skip(noon, noon.Add(200*time.Minute))
	require.Equal(t, noon.Add(4*time.Hour), next)
	require.Equal(t, 3, missed)
	next, missed = cron.Skip(noon, noon.AddDate(3, 0, 0))
	require.Equal(t, noon.AddDate(3, 0, 0).Add(time.Hour), next)
	require.Equal(t, 1000, missed)

	once, err := schedule.Open(schedule.At, "", time.UTC)
	require.NoError(t, err)
	next, _ = once.Skip(noon, noon)
	require.True(t, next.IsZero())
}

// changesOf returns the instants at which the clocks of a zone change, from January of one year to December of another.
func changesOf(loc *time.Location, from, to int) []time.Time {
	var changes []time.Time
	for t := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC); t.Year() <= to; {
		_, end := t.In(loc).ZoneBounds()
		if end.IsZero() {
			break
		}
		if end.Year() <= to {
			changes = append(changes, end)
		}
		t = end.UTC()
	}
	return changes
}

// timesBetween returns the times of a plan between two instants.
func timesBetween(plan schedule.Plan, from, to time.Time) []string {
	got := []string{}
	for t := plan.Next(from); t.Before(to); t = plan.Next(t) {
		got = append(got, t.UTC().Format(time.RFC3339))
	}
	return got
}

// expectedTimes is an independent implementation, with which the tested one is compared. It goes through a zone minute by
// minute. An hourly expression is due in every minute whose wall-clock time matches. Any other expression is due once for
// each matching wall-clock time: in the first minute that has it, or, if the clocks skip it, in the first minute after
// the gap.
func expectedTimes(expr string, loc *time.Location, from, to time.Time) []string {
	if written, ok := map[string]string{"@hourly": "0 * * * *", "@daily": "0 0 * * *"}[expr]; ok {
		expr = written
	}
	match := cronMatcher(expr)
	flows := strings.HasPrefix(strings.Fields(expr)[1], "*")
	found := map[int64]bool{}
	wallOf := func(t time.Time) time.Time {
		_, offset := t.In(loc).Zone()
		return t.UTC().Add(time.Duration(offset) * time.Second)
	}
	shown := map[time.Time]bool{}
	start := from.Truncate(time.Minute).Add(-4 * time.Hour)
	high := wallOf(start).Add(-time.Minute) // the latest wall clock so far
	for t := start; t.Before(to); t = t.Add(time.Minute) {
		wall := wallOf(t)
		if flows {
			found[t.Unix()] = found[t.Unix()] || match(wall)
			continue
		}
		for skipped := high.Add(time.Minute); skipped.Before(wall); skipped = skipped.Add(time.Minute) {
			found[t.Unix()] = found[t.Unix()] || match(skipped)
		}
		if !shown[wall] && match(wall) {
			found[t.Unix()] = true
		}
		shown[wall] = true
		if wall.After(high) {
			high = wall
		}
	}
	got := []string{}
	for _, at := range slices.Sorted(func(yield func(int64) bool) {
		for at, yes := range found {
			if yes && !yield(at) {
				return
			}
		}
	}) {
		if t := time.Unix(at, 0); t.After(from) && t.Before(to) {
			got = append(got, t.UTC().Format(time.RFC3339))
		}
	}
	return got
}

// cronMatcher returns a function that reports whether a wall-clock time matches a cron expression.
func cronMatcher(expr string) func(time.Time) bool {
	fields := strings.Fields(expr)
	read := func(field string, low, high int) map[int]bool {
		values := map[int]bool{}
		for part := range strings.SplitSeq(field, ",") {
			part, step, _ := strings.Cut(part, "/")
			by := 1
			if step != "" {
				by, _ = strconv.Atoi(step)
			}
			from, to := low, high
			if part != "*" {
				a, b, isRange := strings.Cut(part, "-")
				from, _ = strconv.Atoi(a)
				to = from
				if isRange {
					to, _ = strconv.Atoi(b)
				}
			}
			for v := from; v <= to; v += by {
				values[v] = true
			}
		}
		return values
	}
	minute := read(fields[0], 0, 59)
	hour := read(fields[1], 0, 23)
	dom := read(fields[2], 1, 31)
	month := read(fields[3], 1, 12)
	dow := read(fields[4], 0, 7)
	dow[0] = dow[0] || dow[7]
	either := fields[2] != "*" && fields[4] != "*"
	return func(t time.Time) bool {
		if !minute[t.Minute()] || !hour[t.Hour()] || !month[int(t.Month())] {
			return false
		}
		byDate, byDay := dom[t.Day()], dow[int(t.Weekday())]
		return (byDate && byDay) || (either && (byDate || byDay))
	}
}

func randomCron(rng *rand.Rand) string {
	hour := [...]string{"*", "*/3", strconv.Itoa(rng.IntN(24)), fmt.Sprintf("%d-%d", rng.IntN(5), 5+rng.IntN(18)), "0,1,2,3"}[rng.IntN(5)]
	minute := [...]string{"*/15", strconv.Itoa(rng.IntN(60)), fmt.Sprintf("%d,%d", rng.IntN(30), 30+rng.IntN(30))}[rng.IntN(3)]
	day := [...]string{"*", "*", strconv.Itoa(1 + rng.IntN(28))}[rng.IntN(3)]
	dow := [...]string{"*", "*", strconv.Itoa(rng.IntN(8))}[rng.IntN(3)]
	return strings.Join([]string{minute, hour, day, "*", dow}, " ")
}
