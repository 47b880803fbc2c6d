package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

func TestParseTime_RefusesWhatComesAgain(t *testing.T) {
	t.Parallel()
	now := wallTime(t, "2026-11-21 10:00", zone(t, "Europe/Berlin"))
	for _, said := range []string{
		"call Bob every monday 9am", "tomorrow 9am call Bob every monday", "9am each day call Bob", "monday 9am call Bob weekly",
		"every other week call Bob",
		"tomorrow 9am water the plants daily", "call Bob every second friday 9am",
	} {
		_, _, err := schedule.ParseTime(said, now, schedule.English())
		require.ErrorContains(t, err, "/cron", said)
	}
	for _, said := range []string{"tomorrow 9am prepare the weekly review", "tomorrow 9am ask every guest", "tomorrow 9am buy the daily"} {
		_, _, err := schedule.ParseTime(said, now, schedule.English())
		require.NoError(t, err, said)
	}
}

func TestParseTime_RefusesWordsThatChangeIt(t *testing.T) {
	t.Parallel()
	now := wallTime(t, "2026-11-21 10:00", zone(t, "Europe/Berlin"))
	for _, said := range []string{
		"end of tomorrow", "previous wednesday", "last wednesday", "following friday", "coming thursday", "tuesday of next week",
		"tuesday of last week",
		"july 4th of 1995", "february twenty second", "monday the twenty seventh at six pm", "tonight around 7", "tomorrow at seven twenty-seven",
		"october 14 for 8:00:31am", "this friday (jun-15)", "five-thirty tomorrow evening", "friday march fifteenth nine a m",
		"thursday, two years from now",
		"sunday late evening at 10:00",
		"call Bob two days from tomorrow", "call Bob 3 weeks after easter on friday", "call Bob end of the sunday", "end of day friday",
		"call Bob a quarter to seven tomorrow", "call Bob twenty minutes past five tomorrow", "call Bob seven thirty tomorrow",
		"call Bob 12/24/2026, 8:00pm", "call Bob 24-Dec-26 8pm", "call Bob 8.30pm today", "call Bob Dec 24 2026 at 8pm",
		"call Bob on 15 at 8:00", "call Bob on the 15th, 8pm", "8pm on the 15", "call Bob 18 and 19 june", "call Bob 2 tomorrow",
		"call Bob +1 day 2 hours", "call Bob last week sunday", "call Bob last week's sunday", "monday last week", "call Bob next month at 6pm",
		"call Bob black friday", "call Bob on palm sunday", "call Bob christmas at 6pm", "monday of the holy week", "call Bob fifth sunday",
		"call Bob tuesdays at 9am", "9am on sundays", "friday mornings call Bob", "call Bob mornings at 9am",
		"call Bob everyday 6am", "6am everyday call", "3:30 p m call", "7:00 evening call", "call Bob afternoon 7:00", "9 am (BST) call",
		"monday 8:00 gmt call", "dec 18, mon call Bob", "tuesday early-evening call", "call Bob in the late-night tuesday",
		"monday in the early hours", "pills after dinner tomorrow", "tomorrow at lunch", "2 weeks starting may 20th", "call Bob 4 til 5pm",
		"call Bob feb 30 2027 17:20", "Zahnarzt Mittwoch 14:30", "julio 5, 2027 en 1:04 pm", "sastanak 24.03.2027. u 22:22",
		"14:30 Mittwoch Zahnarzt", "dentista jueves 14:30",
		"dec 2 to dec 22", "dec 2 - dec 22 call Bob", "20 minutes to five", "tomorrow three", "next tuesday +10 days", "6:30pm 2 days ago",
		"call Bob in less than 2 hours", "stay in bed for 3 hours", "call Bob the twenty second", "call Bob > 6pm today",
		"tuesday 24 call Bob",
	} {
		at, rest, err := schedule.ParseTime(said, now, schedule.English())
		require.Error(t, err, "%s: %s, %q", said, at, rest)
	}
	for said, want := range map[string]string{
		"10 tonight call": "2026-11-21 22:00", "tomorrow 9am about the party": "2026-11-22 09:00",
		"tomorrow 18:00 table for 8":   "2026-11-22 18:00",
		"fri 9am last day of the sale": "2026-11-27 09:00", "cancel lunch tomorrow": "2026-11-22 09:00",
		"call Domingo today 14:30": "2026-11-21 14:30", "call Domingo tomorrow": "2026-11-22 09:00",
		"call 555-1234 tomorrow at 5pm": "2026-11-22 17:00",
		"pay invoice 2019 at 17:20":     "2026-11-21 17:20", "plan the week tomorrow 9am": "2026-11-22 09:00",
		"3:15 in the afternoon call": "2026-11-21 15:15", "tomorrow night call": "2026-11-22 20:00",
		"tomorrow evening 8:30 call": "2026-11-22 20:30", "submit the form by friday": "2026-11-27 09:00",
		"order cake for tomorrow 9am": "2026-11-22 09:00", "tuesday 14 call": "2026-11-24 14:00",
	} {
		at, _, err := schedule.ParseTime(said, now, schedule.English())
		require.NoError(t, err, said)
		require.Equal(t, want, at.Format("2006-01-02 15:04"), said)
	}
}
