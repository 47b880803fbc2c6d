package hours

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// parseHours returns hours in Berlin from pairs of weekdays and periods, and holidays that begin with "-".
func parseHours(t *testing.T, lines ...string) Hours {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	h := Hours{Zone: zone}
	for _, line := range lines {
		if date, isHoliday := strings.CutPrefix(line, "-"); isHoliday {
			d, err := ParseDays(date)
			require.NoError(t, err)
			h.Holidays = append(h.Holidays, d)
			continue
		}
		require.NoError(t, h.Set(line))
	}
	return h
}

func TestHolidays_WithoutClosingAreSilent(t *testing.T) {
	t.Parallel()
	h := parseHours(t, "mon-fri: 9-18", "-2026-12-24..2026-12-28", "-2027-01-01", "-2027-01-15")
	var told []string
	for _, day := range h.ClosedDays(time.Date(2026, 12, 23, 23, 30, 0, 0, time.UTC), 14, 3) { // the 24th in Berlin
		told = append(told, day.Format("Mon 2.1."))
	}
	require.Equal(t, []string{"Thu 24.12.", "Fri 25.12.", "Mon 28.12."}, told, "no weekend, and no more than three")
	require.Empty(t, Hours{Holidays: h.Holidays}.ClosedDays(time.Date(2026, 12, 24, 0, 0, 0, 0, time.UTC), 14, 3),
		"a business that is always open")
}

func TestState_HoldsUntilChange(t *testing.T) {
	t.Parallel()
	shop := []string{"mon-fri: 9-12:30, 13:30-18", "sat: 10-14", "-2026-12-24..2026-12-26"}
	bar := []string{"daily: 20-02:30"}
	for _, c := range []struct {
		name         string
		hours        []string
		at           string
		open         bool
		since, until string // empty: the zero time
	}{
		{"in the morning", shop, "2026-11-23 09:00", true, "2026-11-23 09:00 +0100", "2026-11-23 12:30 +0100"},
		{"at noon", shop, "2026-11-23 12:30", false, "2026-11-23 12:30 +0100", "2026-11-23 13:30 +0100"},
		{"over the weekend", shop, "2026-11-21 14:00", false, "2026-11-21 14:00 +0100", "2026-11-23 09:00 +0100"},
		{"over the holidays and a Sunday", shop, "2026-12-25 11:00", false, "2026-12-23 18:00 +0100", "2026-12-28 09:00 +0100"},
		{"over midnight", bar, "2026-11-24 01:00", true, "2026-11-23 20:00 +0100", "2026-11-24 02:30 +0100"},
		{"the clocks skip the end", bar, "2026-03-29 01:30", true, "2026-03-28 20:00 +0100", "2026-03-29 03:00 +0200"},
		{"after the skipped end", bar, "2026-03-29 03:00", false, "2026-03-29 03:00 +0200", "2026-03-29 20:00 +0200"},
		{"the clocks show the end twice", bar, "2026-10-25 01:30", true, "2026-10-24 20:00 +0200", "2026-10-25 02:30 +0200"},
		{"a skipped beginning", []string{"sun: 2:30-4"}, "2026-03-29 01:59", false, "2026-03-22 04:00 +0100", "2026-03-29 03:00 +0200"},
		{
			"a period that the clocks skip",
			[]string{"sun: 2:10-2:50"},
			"2026-03-29 01:00", false, "2026-03-22 02:50 +0100",
			"2026-04-05 02:10 +0200",
		},
		{"around the clock", []string{"daily: 24h"}, "2026-11-23 12:00", true, "", ""},
		{
			"around the clock but for a day",
			[]string{"daily: 24h", "-2026-12-25"},
			"2026-12-25 12:00", false, "2026-12-25 00:00 +0100",
			"2026-12-26 00:00 +0100",
		},
		{"no hours at all", nil, "2026-11-23 12:00", true, "", ""},
		{
			"closed for years",
			[]string{"mon: 9-17", "-2026-01-01..2026-12-31", "-2027-01-01..2027-12-31", "-2028-01-01..2028-12-30"},
			"2027-06-01 12:00", false, "", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := parseHours(t, c.hours...)
			at, err := time.ParseInLocation("2006-01-02 15:04", c.at, h.Zone)
			require.NoError(t, err)
			got := h.At(at)
			require.Equal(t, c.open, got.Open)
			require.Equal(t, c.since, shown(h, got.Since), "since")
			require.Equal(t, c.until, shown(h, got.Until), "until")
		})
	}
}

func shown(h Hours, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(h.Zone).Format("2006-01-02 15:04 -0700")
}

// Random hours are compared with the definition: open in the minutes of a period, judged by the clock on the wall.
func TestHours_RandomOpenInPeriods(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 20))
		h := parseHours(t)
		for d := range h.Week {
			for range r.IntN(3) {
				from := time.Duration(r.IntN(48)) * 30 * time.Minute
				h.Week[d] = append(h.Week[d], Period{from, from + time.Duration(1+r.IntN(40))*30*time.Minute})
			}
		}
		if h.IsZero() {
			continue
		}
		// A week around the change of the clocks in autumn, in which no instant is skipped.
		start := time.Date(2026, 10, 22, 0, 0, 0, 0, h.Zone)
		last := h.At(start)
		for minute := range 7 * 24 * 60 / 15 {
			at := start.Add(time.Duration(minute) * 15 * time.Minute)
			got := h.At(at)
			// Where the clocks show a time twice, they do not tell whether a period has ended.
			if changes := at.Month() == time.October && (at.Day() == 25 || at.Day() == 26); !changes {
				require.Equal(t, containsClockTime(h, at), got.Open, fmt.Sprint(seed, at, h.Week))
			}
			require.True(t, got.Since.IsZero() || !got.Since.After(at), "it began before")
			require.True(t, got.Until.IsZero() || got.Until.After(at), "it ends later")
			if at.Before(last.Until) {
				require.Equal(t, last, got, "it holds until its end")
			} else if !last.Until.IsZero() {
				require.NotEqual(t, last.Open, h.At(last.Until).Open, "then it is the other one")
			}
			last = got
		}
	}
}

// containsClockTime reports whether a period of the day or of the one before has the time that the clock shows.
func containsClockTime(h Hours, at time.Time) bool {
	clock := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	for _, p := range h.Week[at.Weekday()] {
		if clock >= p.From && clock < p.Until {
			return true
		}
	}
	for _, p := range h.Week[(at.Weekday()+6)%7] {
		if clock+day < p.Until {
			return true
		}
	}
	return false
}

func TestHours_NameMistakes(t *testing.T) {
	t.Parallel()
	var h Hours
	for days, want := range map[string]string{
		"monday": "not a weekday", "": "not a weekday", "mon-": "not a weekday",
		"mon;tue": "not a weekday",
	} {
		require.ErrorContains(t, h.SetDays(days, "9-17"), want, days)
	}
	for periods, want := range map[string]string{
		"": "not a period", "9": "not a period", "9-25": "no time 25:00", "9:60-10": "no time 9:60", "9-9": "is empty", "24-3": "is empty",
		"9-12, 11-13": "overlap",
		"9-17; 18-19": "not a period", strings.Repeat("9-10,", 2000): "not a period", "０9-17": "not a period",
		"0-1,1-2,2-3,3-4,4-5,5-6,6-7,7-8,8-9,9-10,10-11": "10 are possible",
	} {
		err := h.SetDays("mon", periods)
		require.ErrorContains(t, err, want, periods)
		require.Less(t, len(err.Error()), 200)
	}
	for holiday, want := range map[string]string{
		"25.12.2026": "write it like", "": "write it like", "2026-02-30": "write it like", "2026-12-26..2026-12-24": "before it begins",
		"2026-01-01..2028-01-01": "longer than a year",
	} {
		_, err := ParseDays(holiday)
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, h.Set("mon-fri"), "has no times")
	require.ErrorContains(t, h.Set("9-17"), "not a weekday")
	require.NoError(t, h.SetDays("fri-mon", "22-2, 9–12.30"))
	require.NoError(t, h.Set("mon, tue closed"))
	require.Empty(t, h.Week[time.Monday])
	require.Equal(t, []Period{{9 * time.Hour, 12*time.Hour + 30*time.Minute}, {22 * time.Hour, 26 * time.Hour}}, h.Week[time.Sunday])
	require.Empty(t, h.Week[time.Tuesday])
}

const calendarFrame = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n%sEND:VCALENDAR\r\n"

func calendarOf(events ...string) string {
	var all strings.Builder
	for i, e := range events {
		if !strings.HasPrefix(e, "UID:") {
			e = fmt.Sprintf("UID:%d\n%s", i, e)
		}
		fmt.Fprintf(&all, "BEGIN:VEVENT\r\nDTSTAMP:20260101T000000Z\r\n%s\r\nEND:VEVENT\r\n", strings.ReplaceAll(e, "\n", "\r\n"))
	}
	return fmt.Sprintf(calendarFrame, all.String())
}

func TestCalendar_ReadsHolidays(t *testing.T) {
	t.Parallel()
	days, err := ParseCalendar(strings.NewReader(calendarOf(
		"DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261227\nSUMMARY:Christmas",
		"DTSTART;VALUE=DATE:20270101\nRRULE:FREQ=YEARLY\nSUMMARY:New Year",
		"DTSTART;VALUE=DATE:20260501\nSTATUS:CANCELLED",
		"DTSTART;VALUE=DATE:20260502\nSTATUS:cancelled",
		"DTSTART;VALUE=DATE:20260504\nDTEND;VALUE=DATE:20260504",
	)))
	require.NoError(t, err)
	h := parseHours(t, "daily: 9-17")
	h.Holidays = days
	for date, open := range map[string]bool{
		"2026-12-24": true, "2026-12-25": false, "2026-12-26": false, "2026-12-27": true,
		"2027-01-01": false, "2031-01-01": false, "2026-05-01": true, "2026-05-02": true, "2026-05-04": false, "2026-05-05": true,
	} {
		at, err := time.ParseInLocation("2006-01-02 15", date+" 12", h.Zone)
		require.NoError(t, err)
		require.Equal(t, open, h.At(at).Open, date)
	}
}

// The forms that calendars of others have and that were read wrongly at first.
func TestCalendar_ReadsFormsOfOthers(t *testing.T) {
	t.Parallel()
	moved := "UID:c\nDTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;COUNT=3"
	for name, c := range map[string]struct {
		events []string
		want   []string
	}{
		"a day that is moved": {
			[]string{moved, "UID:c\nRECURRENCE-ID;VALUE=DATE:20271225\nDTSTART;VALUE=DATE:20271227"},
			[]string{"2026-12-25", "2028-12-25", "2027-12-27"},
		},
		"a day that is cancelled": {
			[]string{moved, "UID:c\nRECURRENCE-ID;VALUE=DATE:20271225\nDTSTART;VALUE=DATE:20271225\nSTATUS:CANCELLED"},
			[]string{"2026-12-25", "2028-12-25"},
		},
		"a new version of an event": {
			[]string{moved + "\nSEQUENCE:1", moved + "\nSEQUENCE:2\nEXDATE;VALUE=DATE:20261225"},
			[]string{"2027-12-25", "2028-12-25"},
		},
		"small letters, and a semicolon at the end": {
			[]string{"DTSTART;VALUE=DATE:20261225\nRRULE:freq=yearly;count=2;"},
			[]string{"2026-12-25", "2027-12-25"},
		},
		"a day of a far year": {
			[]string{"DTSTART;VALUE=DATE:20261225\nRDATE;VALUE=DATE:22000101"},
			[]string{"2026-12-25", "2200-01-01"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days, err := ParseCalendar(strings.NewReader(calendarOf(c.events...)))
			require.NoError(t, err)
			var got []string
			for _, d := range days {
				got = append(got, d.String())
			}
			require.Equal(t, c.want, got)
		})
	}
	days, err := ParseCalendar(strings.NewReader(calendarOf("DTSTART;VALUE=DATE:19201225\nRRULE:FREQ=YEARLY")))
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(days, func(d Days) bool { return d.String() == "2026-12-25" }), "one that began long ago")
	days, err = ParseCalendar(strings.NewReader(strings.ReplaceAll(calendarOf("DTSTART;VALUE=DATE:20261225"), "\r\n", "\r")))
	require.NoError(t, err)
	require.Len(t, days, 1, "lines that end as on an old Mac")
}

func TestCalendar_NamesMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ calendar, want string }{
		{"hello", "not a calendar"},
		{calendarOf("DTSTART:20261225T090000Z\nSUMMARY:Party"), `event 1 ("Party"): it does not begin with a date`},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nDTEND:20261226T090000Z"), "does not end with a date"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20291225"), "longer than a year"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261220"), "ends before it begins"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nDURATION:P1W"), "write DTEND"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY\nEXDATE:20271225T120000Z"), "its EXDATE has"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRDATE;VALUE=PERIOD:20271226T000000Z/P1D"), "its RDATE has"},
		{"", "it is empty"},
		{"\ufeff\r\n", "it is empty"},
		{fmt.Sprintf(calendarFrame, strings.Repeat("BEGIN:VEVENT\r\n", MaxCalendarBytes/20)), "not a calendar"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=HOURLY"), "holidays are whole days"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=SOMETIMES"), "I cannot read it"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=DAILY"), "more than 20000 times"},
		{
			calendarOf(slices.Repeat([]string{"DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=YEARLY"}, maxEvents)...),
			"the rules of the calendar go too far",
		},
		{calendarOf("SUMMARY:" + strings.Repeat("x", 10_000)), "it does not begin"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=MONTHLY;INTERVAL=9223372036854775807"), "its INTERVAL is"},
		{calendarOf(slices.Repeat([]string{"DTSTART;VALUE=DATE:20260101\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30"}, 20)...), "go too far"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;BYHOUR=12"), "holidays are whole days"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;COUNT=2\nRRULE:FREQ=MONTHLY;COUNT=2"), "several rules"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;COUNT=3\nEXRULE:FREQ=YEARLY;INTERVAL=2;COUNT=2"), "write EXDATE"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=WEEKLY;BYDAY=0MO"), "has the number 0"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;INTERVAL=0"), "its INTERVAL is"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;FREQ=DAILY"), "twice"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=DAILY;COUNT=0"), "its COUNT is"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:"), "I cannot read it"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRRULE:FREQ=YEARLY;UNTIL=00010101"), "its UNTIL is"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nDTSTART;VALUE=DATE:20261226"), "begins twice"},
		{calendarOf("DTSTART;VALUE=DATE:20261225\nRECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20261224"), "only a single day"},
		{"BEGIN:VCALENDAR\r\n", "does not end"},
		{calendarOf(strings.Repeat("COMMENT:x\n", MaxCalendarBytes/8) + "SUMMARY:x"), "bigger than 1 MB"},
	} {
		_, err := ParseCalendar(strings.NewReader(c.calendar))
		require.ErrorContains(t, err, c.want)
		require.Less(t, len(err.Error()), 300)
	}
}

// The rules are those of the examples of RFC 5545, section 3.8.5.3, as all-day events.
func TestParseCalendar_RepeatsByRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ event, want string }{
		"every other week":        {"19970902\nRRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=3;WKST=SU", "1997-09-02 1997-09-16 1997-09-30"},
		"tuesday and thursday":    {"19970902\nRRULE:FREQ=WEEKLY;COUNT=4;BYDAY=TU,TH", "1997-09-02 1997-09-04 1997-09-09 1997-09-11"},
		"weekly until":            {"19970902\nRRULE:FREQ=WEEKLY;UNTIL=19970916", "1997-09-02 1997-09-09 1997-09-16"},
		"first friday":            {"19970905\nRRULE:FREQ=MONTHLY;COUNT=3;BYDAY=1FR", "1997-09-05 1997-10-03 1997-11-07"},
		"last monday of the year": {"19971229\nRRULE:FREQ=YEARLY;COUNT=2;BYMONTH=12;BYDAY=-1MO", "1997-12-29 1998-12-28"},
		"without days":            {"19970902\nRRULE:FREQ=DAILY;COUNT=4\nEXDATE;VALUE=DATE:19970903,19970904", "1997-09-02 1997-09-05"},
		"with days":               {"19970902\nRDATE;VALUE=DATE:19970907\nRDATE;VALUE=DATE:19970905", "1997-09-02 1997-09-05 1997-09-07"},
		"no match":                {"19970902\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "1997-09-02"},
		"not itself":              {"19970902\nRDATE;VALUE=DATE:19970905\nEXDATE;VALUE=DATE:19970902", "1997-09-05"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days, err := ParseCalendar(strings.NewReader(calendarOf("DTSTART;VALUE=DATE:" + c.event)))
			require.NoError(t, err)
			var got []string
			for _, d := range days {
				require.Equal(t, d.First, d.Last)
				got = append(got, d.First.Format(time.DateOnly))
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("mon-fri", "9-12:30, 22-2", "2026-12-24..2027-01-02", calendarOf("DTSTART;VALUE=DATE:20261225"))
	f.Fuzz(func(t *testing.T, days, periods, holiday, calendar string) {
		var h Hours
		_ = h.SetDays(days, periods)
		if d, err := ParseDays(holiday); err == nil {
			h.Holidays = append(h.Holidays, d)
		}
		if list, err := ParseCalendar(strings.NewReader(calendar)); err == nil && len(list) < 1000 {
			h.Holidays = append(h.Holidays, list...)
		}
		at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
		if s := h.At(at); !s.Until.IsZero() && !s.Until.After(at) || s.Since.After(at) {
			t.Fatalf("%v at %v: %+v", h, at, s)
		}
	})
}

func ExampleHours_At() {
	h := Hours{Zone: time.UTC}
	if err := h.Set("mon-fri 9-12:30, 13:30-18"); err != nil {
		panic(err)
	}
	state := h.At(time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)) // a Saturday
	fmt.Println(state.Open, state.Until.Format("Mon 15:04"))
	// Output: false Mon 09:00
}

func TestDays_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, days := range []string{"2026-12-25", "2026-12-27..2027-01-02"} {
		d, err := ParseDays(days)
		require.NoError(t, err)
		require.Equal(t, days, d.String())
	}
}

func TestParseCalendar_DateHasNoZone(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{
		"W. Europe Standard Time", "Europe/Berlin", "/freeassociation.sourceforge.net/Europe/Vienna",
		"Customized Time Zone",
	} {
		days, err := ParseCalendar(strings.NewReader("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Christmas\r\n" +
			"DTSTART;TZID=" + zone + ";VALUE=DATE:20261225\r\nDTEND;TZID=" + zone + ";VALUE=DATE:20261226\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"))
		require.NoError(t, err, zone)
		require.Len(t, days, 1)
		require.Equal(t, "2026-12-25", days[0].String())
	}
}
