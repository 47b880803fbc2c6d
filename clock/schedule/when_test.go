package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

// saturday is when the corpus is read: Saturday, 21 November 2026, 10:00 in Berlin.
const saturday = "2026-11-21 10:00"

// corpus lists texts with the time that they mean; an empty time means that the text is refused. rest is the rest of the
// text; empty means "x".
var corpus = []struct{ text, want, rest string }{
	// Lengths of time.
	{"2h x", "2026-11-21 12:00", ""},
	{"in 2h x", "2026-11-21 12:00", ""},
	{"1h30m x", "2026-11-21 11:30", ""},
	{"1h 30m x", "2026-11-21 11:30", ""},
	{"1h30 x", "2026-11-21 11:30", ""},
	{"1h75 x", "", ""},
	{"90m x", "2026-11-21 11:30", ""},
	{"90 min x", "2026-11-21 11:30", ""},
	{"in 45 min x", "2026-11-21 10:45", ""},
	{"in 45 minutes x", "2026-11-21 10:45", ""},
	{"45min x", "2026-11-21 10:45", ""},
	{"30s x", "2026-11-21 10:00:30", ""},
	{"half an hour x", "2026-11-21 10:30", ""},
	{"in half an hour x", "2026-11-21 10:30", ""},
	{"half hour x", "2026-11-21 10:30", ""},
	{"in an hour x", "2026-11-21 11:00", ""},
	{"in a minute x", "2026-11-21 10:01", ""},
	{"in a day x", "2026-11-22 10:00", ""},
	{"in a week x", "2026-11-28 10:00", ""},
	{"1d x", "2026-11-22 10:00", ""},
	{"2 days x", "2026-11-23 10:00", ""},
	{"in 3 weeks x", "2026-12-12 10:00", ""},
	{"1w2d x", "2026-11-30 10:00", ""},
	{"in 2 hours and 15 minutes x", "2026-11-21 12:15", ""},
	{"in 2 hours, 15 minutes x", "2026-11-21 12:15", ""},
	{"2 hours later x", "2026-11-21 12:00", ""},
	{"2 hours from now x", "2026-11-21 12:00", ""},
	{"in 2 months x", "2027-01-21 10:00", ""},
	{"in 1 month x", "2026-12-21 10:00", ""},
	{"2H X", "2026-11-21 12:00", "X"},
	{"IN 10 MIN x", "2026-11-21 10:10", ""},
	{"in 127 days x", "2027-03-28 10:00", ""}, // past the change of the clocks: the same time of day
	{"2h to call Ana", "2026-11-21 12:00", "call Ana"},
	{"2h - call Ana", "2026-11-21 12:00", "call Ana"},
	{"2h and call", "2026-11-21 12:00", "and call"},
	{"10m  tea\nand cake ", "2026-11-21 10:10", "tea\nand cake"},
	{"2h", "2026-11-21 12:00", "-"},
	{"0m x", "", ""},
	{"0h0m x", "", ""},
	{"30m1h x", "", ""},
	{"1h1h x", "", ""},
	{"2h ago x", "", ""},
	{"2 hours before lunch", "", ""},
	{"2 hours after lunch", "", ""},
	{"2 days from tomorrow x", "", ""},
	{"2h 15 x", "", ""},
	{"2h or 3h x", "", ""},
	{"1.5h x", "", ""},
	{"1,5h x", "", ""},
	{"-2h x", "", ""},
	{"an hour x", "", ""},
	{"in an hour and a half x", "", ""},
	{"in a bit x", "", ""},
	{"in 5 x", "", ""},
	{"in x", "", ""},
	{"5 apples", "", ""},
	{"99999h x", "", ""},
	{"9999 weeks x", "", ""},
	{"2 years x", "", ""},
	{"half past nine x", "", ""},
	{"quarter past 9 x", "", ""},
	{"2h at 9 x", "", ""},
	{"2h tomorrow x", "", ""},
	{"7 days a week x", "", ""},
	{"2h a call", "2026-11-21 12:00", "a call"},
	{"monday week x", "", ""},
	{"tomorrow week x", "", ""},
	{"monday 9am week 48", "2026-11-23 09:00", "week 48"},
	{"in 2h in 3h x", "", ""},

	// Days and times.
	{"tomorrow 9am x", "2026-11-22 09:00", ""},
	{"tomorrow 9 x", "2026-11-22 09:00", ""},
	{"tomorrow at 9 x", "2026-11-22 09:00", ""},
	{"tomorrow at 9:30 x", "2026-11-22 09:30", ""},
	{"tomorrow 9:30pm x", "2026-11-22 21:30", ""},
	{"tomorrow 9:30 pm x", "2026-11-22 21:30", ""},
	{"tomorrow at 9 p.m. x", "2026-11-22 21:00", ""},
	{"tomorrow at 9 o'clock x", "2026-11-22 09:00", ""},
	{"tomorrow 18:00 x", "2026-11-22 18:00", ""},
	{"tomorrow 18 x", "2026-11-22 18:00", ""},
	{"tomorrow x", "2026-11-22 09:00", ""},
	{"tomorrow, x", "2026-11-22 09:00", ""},
	{"tmrw 8am x", "2026-11-22 08:00", ""},
	{"Tomorrow 9AM x", "2026-11-22 09:00", ""},
	{"tomorrow morning x", "2026-11-22 09:00", ""},
	{"tomorrow noon x", "2026-11-22 12:00", ""},
	{"tomorrow at noon x", "2026-11-22 12:00", ""},
	{"tomorrow afternoon x", "2026-11-22 15:00", ""},
	{"tomorrow evening x", "2026-11-22 18:00", ""},
	{"tomorrow evening at 8 x", "2026-11-22 20:00", ""},
	{"tomorrow morning at 8 x", "2026-11-22 08:00", ""},
	{"tomorrow at 3 in the afternoon x", "2026-11-22 15:00", ""},
	{"tomorrow at 9 in the evening x", "2026-11-22 21:00", ""},
	{"tomorrow 12am x", "2026-11-22 00:00", ""},
	{"tomorrow 12pm x", "2026-11-22 12:00", ""},
	{"tomorrow 00:30 x", "2026-11-22 00:30", ""},
	{"today 18:00 x", "2026-11-21 18:00", ""},
	{"today at 6pm x", "2026-11-21 18:00", ""},
	{"today evening x", "2026-11-21 18:00", ""},
	{"this evening x", "2026-11-21 18:00", ""},
	{"tonight x", "2026-11-21 20:00", ""},
	{"tonight at 9 x", "2026-11-21 21:00", ""},
	{"tonight 22:30 x", "2026-11-21 22:30", ""},
	{"day after tomorrow x", "2026-11-23 09:00", ""},
	{"the day after tomorrow at 14:00 x", "2026-11-23 14:00", ""},
	{"9pm x", "2026-11-21 21:00", ""},
	{"9am x", "2026-11-22 09:00", ""},
	{"14:30 x", "2026-11-21 14:30", ""},
	{"at 14:30 x", "2026-11-21 14:30", ""},
	{"at 14 x", "2026-11-21 14:00", ""},
	{"at noon x", "2026-11-21 12:00", ""},
	{"noon x", "2026-11-21 12:00", ""},
	{"@ 15:00 x", "2026-11-21 15:00", ""},
	{"9:59 x", "2026-11-22 09:59", ""},
	{"9am tomorrow x", "2026-11-22 09:00", ""},
	{"9am on friday x", "2026-11-27 09:00", ""},
	{"at 9 tomorrow x", "2026-11-22 09:00", ""},
	{"14:30 on Dec 24 x", "2026-12-24 14:30", ""},
	{"9am sun cream", "", ""},
	{"tomorrow 9am friday report", "2026-11-22 09:00", "friday report"},
	{"tomorrow 9am to call 2 people", "2026-11-22 09:00", "call 2 people"},
	{"tomorrow 3 x", "", ""},
	{"tomorrow at 3 x", "", ""},
	{"tomorrow 25 x", "", ""},
	{"tomorrow 24:00 x", "", ""},
	{"tomorrow 9:75 x", "", ""},
	{"tomorrow 13pm x", "", ""},
	{"tomorrow 0am x", "", ""},
	{"tomorrow 9:3 x", "", ""},
	{"tomorrow 9.30 x", "", ""},
	{"tomorrow 0930 x", "", ""},
	{"tomorrow 18h x", "", ""},
	{"tomorrow 9-17 x", "", ""},
	{"tomorrow 9 - 17 x", "", ""},
	{"tomorrow 9 to 5 x", "", ""},
	{"tomorrow 9am or 10am x", "", ""},
	{"tomorrow 9am and 5pm x", "", ""},
	{"tomorrow 9am UTC x", "", ""},
	{"tomorrow 9am EST x", "", ""},
	{"tomorrow 9ish x", "", ""},
	{"tomorrow at noonish x", "", ""},
	{"at noonish x", "", ""},
	{"tomorrow at the office", "", ""},
	{"tomorrow midnight x", "", ""},
	{"midnight x", "", ""},
	{"tomorrow evening at 9am x", "", ""},
	{"tomorrow morning at 14:00 x", "", ""},
	{"today x", "", ""},
	{"today 9am x", "", ""},
	{"today at 10:00 x", "", ""},
	{"at 9 x", "", ""},
	{"9 x", "", ""},
	{"14 x", "", ""},
	{"9am friday", "2026-11-27 09:00", "-"},
	{"2pm 3pm x", "", ""},
	{"yesterday x", "", ""},
	{"soon x", "", ""},
	{"later x", "", ""},
	{"now x", "", ""},
	{"noonish x", "", ""},
	{"every day at 9 x", "", ""},
	{"tomorrow 9am every day x", "", ""},
	{"the plumber", "", ""},
	{"", "", ""},
	{"   ", "", ""},

	// Names of days.
	{"fri 14:30 x", "2026-11-27 14:30", ""},
	{"friday 9am x", "2026-11-27 09:00", ""},
	{"on friday x", "2026-11-27 09:00", ""},
	{"friday x", "2026-11-27 09:00", ""},
	{"on fri at 9 x", "2026-11-27 09:00", ""},
	{"this friday 9 x", "2026-11-27 09:00", ""},
	{"Monday, 8:15 x", "2026-11-23 08:15", ""},
	{"monday morning x", "2026-11-23 09:00", ""},
	{"sat 14:00 x", "2026-11-21 14:00", ""}, // today, still to come
	{"sat 9:00 x", "2026-11-28 09:00", ""},  // today, but over
	{"sunday evening x", "2026-11-22 18:00", ""},
	{"next week x", "2026-11-23 09:00", ""},
	{"next monday 10:00 x", "2026-11-23 10:00", ""},
	{"next fri x", "2026-11-27 09:00", ""},
	{"next sunday x", "", ""}, // tomorrow, or in eight days?
	{"next month x", "", ""},
	{"next x", "", ""},
	{"sun cream", "", ""},
	{"sat down with Ana", "", ""},
	{"wed the couple", "", ""},
	{"friday the 13th x", "", ""},
	{"fri 27 nov 14:00 x", "2026-11-27 14:00", ""},
	{"Friday, 27 November 2026 at 14:00 x", "2026-11-27 14:00", ""},
	{"fri 28 nov 14:00 x", "", ""},
	{"friday 28 november 2026 x", "", ""},

	// Number words, abbreviations, slips, "me".
	{"in two hours x", "2026-11-21 12:00", ""},
	{"in twenty minutes x", "2026-11-21 10:20", ""},
	{"two hours x", "2026-11-21 12:00", ""},
	{"tomorrow at nine x", "2026-11-22 09:00", ""},
	{"tomorrow nine o'clock x", "2026-11-22 09:00", ""},
	{"tomorrow at five x", "", ""},
	{"in 10 min. x", "2026-11-21 10:10", ""},
	{"in 10min. x", "2026-11-21 10:10", ""},
	{"tommorow x", "2026-11-22 09:00", ""},
	{"wensday 8am x", "2026-11-25 08:00", ""},
	{"me tomorrow 9am x", "2026-11-22 09:00", ""},
	{"me in 2 hours to call Ana", "2026-11-21 12:00", "call Ana"},
	{"in 3 days at 5pm x", "2026-11-24 17:00", ""},

	// "weekly" as a word of the text.
	{"tomorrow 9am weekly review", "2026-11-22 09:00", "weekly review"},
	{"tomorrow 9am daily", "", ""},
	{"tomorrow daily at 9am x", "", ""},
	{"tomorrow 9am every employee gets a mail", "2026-11-22 09:00", "every employee gets a mail"},

	// A second time in the text.
	{"tomorrow call Bob at 5pm", "2026-11-22 17:00", "call Bob"},
	{"tomorrow call Bob at 5pm.", "2026-11-22 17:00", "call Bob"},
	{"tomorrow call Bob at 10", "2026-11-22 10:00", "call Bob"},
	{"tomorrow call Bob at noon", "2026-11-22 12:00", "call Bob"},
	{"tomorrow call Bob in the evening", "2026-11-22 18:00", "call Bob"},
	{"tomorrow in the evening x", "2026-11-22 18:00", ""},
	{"tomorrow evening call Bob at 8pm", "2026-11-22 20:00", "call Bob"},
	{"today call Bob at 5pm", "2026-11-21 17:00", "call Bob"},
	{"friday dentist 14:30", "2026-11-27 14:30", "dentist"},
	{"in 3 days call Bob at 5pm", "2026-11-24 17:00", "call Bob"},
	{"next week tuesday dentist", "2026-11-24 09:00", "dentist"},
	{"next week on tue 14:30 x", "2026-11-24 14:30", ""},
	{"next week dentist tuesday", "2026-11-24 09:00", "dentist"},
	{"next week dentist on tuesday 14:30", "2026-11-24 14:30", "dentist"},
	{"tuesday next week dentist", "2026-11-24 09:00", "dentist"},
	{"9am call Bob on friday", "2026-11-27 09:00", "call Bob"},
	{"9am call Bob tomorrow", "2026-11-22 09:00", "call Bob"},
	{"call Ana tomorrow", "2026-11-22 09:00", "call Ana"},
	{"me to call Bob tomorrow at 5pm", "2026-11-22 17:00", "call Bob"},
	{"call Bob at 5pm tomorrow", "2026-11-22 17:00", "call Bob"},
	{"call Ana in two hours", "2026-11-21 12:00", "call Ana"},
	{"tomorrow 9am prepare the 5pm meeting", "2026-11-22 09:00", "prepare the 5pm meeting"},
	{"tomorrow buy gifts for friday", "2026-11-22 09:00", "buy gifts for friday"},
	{"2h prepare the 5pm meeting", "2026-11-21 12:00", "prepare the 5pm meeting"},
	{"9am deploy 1.2.3", "2026-11-22 09:00", "deploy 1.2.3"},
	{"9am plan next steps", "2026-11-22 09:00", "plan next steps"},
	{"tomorrow buy 3x milk", "2026-11-22 09:00", "buy 3x milk"},
	{"tomorrow look at 5 houses", "2026-11-22 09:00", "look at 5 houses"},
	{"tomorrow call Bob at 5", "", ""},
	{"tomorrow prepare the 5pm meeting", "", ""},
	{"tomorrow call Bob at 5pm or at 6pm", "", ""},
	{"tomorrow dentist friday 14:30", "", ""},
	{"tomorrow read John 3:16", "", ""},
	{"9am buy the sunday paper", "", ""},
	{"9am dentist tomorrow 14:30", "", ""},
	{"next week dentist tuesday or wednesday", "", ""},
	{"monday next month x", "", ""},
	{"call Bob 5pm tomorrow", "2026-11-22 17:00", "call Bob"},
	{"call between monday and friday 9am", "", ""},

	// Dates.
	{"2026-12-24 18:00 x", "2026-12-24 18:00", ""},
	{"2026-12-24T18:00 x", "2026-12-24 18:00", ""},
	{"2026-12-24T18:00:00 x", "2026-12-24 18:00", ""},
	{"2026-12-24T18:00:00Z x", "2026-12-24 19:00", ""},
	{"2026-12-24T18:00:00+01:00 x", "2026-12-24 18:00", ""},
	{"2026-12-24 x", "2026-12-24 09:00", ""},
	{"2026-12-24 at 6pm x", "2026-12-24 18:00", ""},
	{"on 2026-12-24 x", "2026-12-24 09:00", ""},
	{"24.12. 18:00 x", "2026-12-24 18:00", ""},
	{"24.12.2026 18:00 x", "2026-12-24 18:00", ""},
	{"1.2. x", "2027-02-01 09:00", ""},
	{"Dec 24 6pm x", "2026-12-24 18:00", ""},
	{"24 Dec 6pm x", "2026-12-24 18:00", ""},
	{"December 24th at 18:00 x", "2026-12-24 18:00", ""},
	{"24th of December 18:00 x", "2026-12-24 18:00", ""},
	{"on the 24th of December x", "2026-12-24 09:00", ""},
	{"Dec 24, 6pm x", "2026-12-24 18:00", ""},
	{"Dec 24 2026 18:00 x", "2026-12-24 18:00", ""},
	{"24 December 2027 x", "2027-12-24 09:00", ""},
	{"1 March x", "2027-03-01 09:00", ""},
	{"21 Nov 18:00 x", "2026-11-21 18:00", ""},
	{"21 Nov 9:00 x", "2027-11-21 09:00", ""}, // over this year
	{"Feb 29 x", "2028-02-29 09:00", ""},
	{"2027-03-28 02:30 x", "2027-03-28 03:00", ""}, // skipped by daylight saving time
	{"2027-10-31 02:30 x", "2027-10-31 02:30", ""}, // occurs twice
	{"May the force be with you", "", ""},
	{"may x", "", ""},
	{"march on", "", ""},
	{"12/24 x", "", ""},
	{"24/12/2026 x", "", ""},
	{"31.11. x", "", ""},
	{"30.2. x", "", ""},
	{"Feb 30 x", "", ""},
	{"2026-02-30 x", "", ""},
	{"2026-13-01 x", "", ""},
	{"2026-11-20 x", "", ""},
	{"2025-12-24 18:00 x", "", ""},
	{"2126-12-24 x", "", ""},
	{"24.12 18:00 x", "", ""},
	{"24.12.26 18:00 x", "", ""},
	{"2026-12-24 18 x", "2026-12-24 18:00", ""},
	{"2026-12-24 25:00 x", "", ""},
	{"2026-12-24T25:00 x", "", ""},
	{"2026-12-24 18:00 2026-12-25 x", "", ""},
	{"24 x", "", ""},
	{"24th x", "", ""},
}

func TestParseTime_Words(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(corpus), 150)
	berlin := zone(t, "Europe/Berlin")
	now := wallTime(t, saturday, berlin)
	for _, c := range corpus {
		at, rest, err := schedule.ParseTime(c.text, now, schedule.English())
		if c.want == "" {
			var refusal *schedule.RefusedError
			require.ErrorAs(t, err, &refusal, "%q was read as %s", c.text, at)
			require.Contains(t, err.Error(), "Try `2h`, `tomorrow 9am`, `fri 14:30`, `2026-12-24 18:00`.")
			continue
		}
		require.NoError(t, err, "%q", c.text)
		require.Equal(t, wallTime(t, c.want, berlin).UTC(), at.UTC(), "%q", c.text)
		want := c.rest
		switch want {
		case "":
			want = "x"
		case "-":
			continue
		}
		require.Equal(t, want, rest, "%q", c.text)
	}
}

func TestParseTime_RefusalQuotesWord(t *testing.T) {
	t.Parallel()
	now := wallTime(t, saturday, zone(t, "Europe/Berlin"))
	for text, want := range map[string]string{
		"at noonish call":      "I don't know *noonish*.",
		"tomorrow at 3 call":   "Is 3 at night or in the afternoon? Write `03:00` or `3pm`.",
		"today 9am call":       "Sat 21 Nov, 09:00 has passed.",
		"tomorrow 9am EST x":   "I go by Europe/Berlin time; *EST* I leave alone.",
		"12/24 x":              "Is *12/24* day/month or month/day?",
		"next sunday x":        "Is *next sunday* 22 Nov or 29 Nov? Leave *next* out, or write the date.",
		"in 5":                 "I don't know *5*.",
		"tomorrow at":          "I miss something after *at*.",
		"every day 9am":        "For recurring reminders: `/cron every monday 9am bins`.",
		"tomorrow 9am or 10am": "I'm not sure what *or* after the time means.",
		"*_`[<b>":              "I don't know *\\*\\_\\`\\[\\<b\\>*.",
	} {
		_, _, err := schedule.ParseTime(text, now, schedule.English())
		require.Error(t, err, text)
		why, _, _ := strings.Cut(err.Error(), " Try")
		require.Equal(t, want, why, text)
	}
}

// The times that multis shows can be used as input.
func TestFormat_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, name := range testZones {
		loc := zone(t, name)
		now := wallTime(t, saturday, loc)
		for i := range 300 {
			at := now.Add(time.Duration(i*i) * 53 * time.Minute).Truncate(time.Minute).Add(time.Minute)
			if at = schedule.InZone(at, loc); !at.After(now) {
				continue
			}
			got, _, err := schedule.ParseTime(schedule.FormatTime(at, now, loc), now, schedule.English())
			require.NoError(t, err, "%s in %s", schedule.FormatTime(at, now, loc), name)
			require.Equal(t, at.UTC(), got.UTC(), "%s in %s", schedule.FormatTime(at, now, loc), name)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, c := range corpus {
		f.Add(c.text, int64(0))
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string, shift int64) {
		now := wallTime(t, saturday, berlin).Add(time.Duration(shift % int64(20*365*24*time.Hour)))
		at, rest, err := schedule.ParseTime(text, now, schedule.English())
		if err != nil {
			var refusal *schedule.RefusedError
			require.ErrorAs(t, err, &refusal)
			require.True(t, at.IsZero())
			return
		}
		require.True(t, at.After(now.Truncate(time.Second)), "%q is at %s", text, at)
		require.LessOrEqual(t, at.Sub(now), schedule.MaxAhead+time.Second)
		require.Contains(t, text, rest)
		again, rest2, err := schedule.ParseTime(text, now, schedule.English())
		require.NoError(t, err)
		require.Equal(t, at, again)
		require.Equal(t, rest, rest2)
	})
}

// For any text between a day and a time of day at the end, that time is used or the whole text is refused.
func FuzzSecondTime(f *testing.F) {
	for _, c := range corpus {
		f.Add(c.text)
	}
	berlin := zone(f, "Europe/Berlin")
	now := wallTime(f, saturday, berlin)
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []struct{ text, want string }{
			{"tomorrow dentist " + text + " at 17:05", "2026-11-22 17:05"},
			{"in 3 days dentist " + text + " at 17:05", "2026-11-24 17:05"},
			{"17:05 dentist " + text + " on thursday", "2026-11-26 17:05"},
		} {
			at, _, err := schedule.ParseTime(c.text, now, schedule.English())
			if err == nil {
				require.Equal(t, wallTime(t, c.want, berlin).UTC(), at.UTC(), "%q", c.text)
			}
		}
	})
}

func FuzzCron(f *testing.F) {
	for _, expr := range []string{
		"0 9 * * 1-5", "*/5 * * * *", "@daily", "0 0 29 2 *", "0 0 30 2 *", "TZ=UTC 1 1 1 1 1",
		"1-5/2,7 */3 1,15 * sun",
	} {
		f.Add(expr)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, expr string) {
		plan, err := schedule.Open(schedule.Cron, expr, berlin)
		if err != nil {
			return
		}
		now := wallTime(t, saturday, berlin)
		for range 5 {
			next := plan.Next(now)
			require.True(t, next.After(now) || next.IsZero())
			if next.IsZero() {
				return
			}
			now = next
		}
	})
}

func wallTime(t testing.TB, s string, loc *time.Location) time.Time {
	t.Helper()
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05"} {
		if wall, err := time.Parse(layout, s); err == nil {
			return schedule.InZone(wall, loc).In(loc)
		}
	}
	require.NoError(t, errors.New("no time: "+s))
	return time.Time{}
}

// "17h30" is half past five in French and Portuguese, and 17 hours and a half for who counts. A length as 1h30 stays one.
func TestParseTime_AsksForHoursWithH(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	now := wallTime(t, "2026-11-21 10:00", berlin)
	for _, said := range []string{"17h30 call", "14h15 call", "18h call", "13h call", "23h call", "8h30 call", "12h15 call"} {
		_, _, err := schedule.ParseTime(said, now, schedule.English())
		require.ErrorContains(t, err, "a time of day or a length?", said)
	}
	for said, want := range map[string]string{
		"1h30 call": "2026-11-21 11:30", "2h call": "2026-11-21 12:00", "36h call": "2026-11-22 22:00", "in 17h30 call": "2026-11-22 03:30",
		"call Bob at 17h30": "2026-11-21 17:30", "at 18h call": "2026-11-21 18:00", "tomorrow 17h30 call": "2026-11-22 17:30",
		"fri at 9h call": "2026-11-27 09:00",
	} {
		at, rest, err := schedule.ParseTime(said, now, schedule.English())
		require.NoError(t, err, said)
		require.Equal(t, want, at.In(berlin).Format("2006-01-02 15:04"), said)
		require.Contains(t, []string{"call", "call Bob"}, rest, said)
	}
}
