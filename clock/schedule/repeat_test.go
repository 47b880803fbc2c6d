package schedule_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

func TestParseRecurrence_Words(t *testing.T) {
	t.Parallel()
	berlin := zone(t, "Europe/Berlin")
	for _, c := range []struct {
		text string
		kind schedule.Kind // empty: a refusal
		spec string
	}{
		{"0 9 * * 1-5 x", schedule.Cron, "0 9 * * 1-5"},
		{"*/15 * * * * x", schedule.Cron, "*/15 * * * *"},
		{"0 9 * * mon-fri x", schedule.Cron, "0 9 * * mon-fri"},
		{"0 9,18 1 jan,jul * x", schedule.Cron, "0 9,18 1 jan,jul *"},
		{"30 8 * * 7 x", schedule.Cron, "30 8 * * 7"},
		{"@daily x", schedule.Cron, "@daily"},
		{"@weekly x", schedule.Cron, "@weekly"},
		{"every 2h x", schedule.Every, "2h0m0s"},
		{"every 30 min x", schedule.Every, "30m0s"},
		{"every 1h30m x", schedule.Every, "1h30m0s"},
		{"every hour x", schedule.Every, "1h0m0s"},
		{"every minute x", schedule.Every, "1m0s"},
		{"every half hour x", schedule.Every, "30m0s"},
		{"every day at 9 x", schedule.Cron, "0 9 * * *"},
		{"every day 18:15 x", schedule.Cron, "15 18 * * *"},
		{"every weekday 8:30 x", schedule.Cron, "30 8 * * 1-5"},
		{"Every Monday at 9am x", schedule.Cron, "0 9 * * 1"},
		{"every mon and thu at 9pm x", schedule.Cron, "0 21 * * 1,4"},
		{"daily 9am x", schedule.Cron, "0 9 * * *"},
		{"hourly x", schedule.Every, "1h0m0s"},
		{"weekly monday 9am x", schedule.Cron, "0 9 * * 1"},
		{"every two hours x", schedule.Every, "2h0m0s"},
		{"every sunday noon x", schedule.Cron, "0 12 * * 0"},

		{"", "", ""},
		{"0 9 * * x", "", ""},
		{"0 9 * * * * x", "", ""},
		{"0 0 9 * * 1 x", "", ""},
		{"0 0 9 ? * 1 x", "", ""},
		{"0 9 * * 1 2027 x", "", ""},
		{"0 9 * * 1-5 - x", schedule.Cron, "0 9 * * 1-5"},
		{"0 9 x", "", ""},
		{"0 9 30 2 * x", "", ""},
		{"61 9 * * * x", "", ""},
		{"0 9 * * 8 x", "", ""},
		{"@reboot x", "", ""},
		{"@daily report at 5pm", "", ""},
		{"weekly x", "", ""},
		{"daily x", "", ""},
		{"@every 5s x", "", ""},
		{"every 30s x", "", ""},
		{"every 2 days x", "", ""},
		{"every month x", "", ""},
		{"every week x", "", ""},
		{"every day x", "", ""},
		{"every day at 3 x", "", ""},
		{"every day at noonish x", "", ""},
		{"every monday at midnight x", "", ""},
		{"every day 9am and 5pm x", "", ""},
		{"every 2h or 3h x", "", ""},
		{"every x", "", ""},
		{"every", "", ""},
		{"tomorrow 9am x", "", ""},
		{"mon 9am x", "", ""},
		{"x", "", ""},
	} {
		kind, spec, rest, err := schedule.ParseRecurrence(c.text, time.Date(2026, 11, 25, 10, 0, 0, 0, berlin), schedule.English())
		if c.kind == "" {
			var refused *schedule.RefusedError
			require.ErrorAs(t, err, &refused, "%q was read as %s %s", c.text, kind, spec)
			require.Contains(t, err.Error(), "Try `0 9 * * 1-5`")
			continue
		}
		require.NoError(t, err, "%q", c.text)
		require.Equal(t, c.kind, kind, "%q", c.text)
		require.Equal(t, c.spec, spec, "%q", c.text)
		require.Equal(t, "x", rest, "%q", c.text)
	}
}

func FuzzParseRecurrence(f *testing.F) {
	for _, text := range []string{
		"0 9 * * 1-5 x", "daily 9am x", "weekly monday 9am x", "every two hours x", "@daily report at 5pm",
		"every mon and thu at 9pm x",
	} {
		f.Add(text)
	}
	berlin := zone(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string) {
		kind, spec, rest, err := schedule.ParseRecurrence(text, time.Date(2026, 11, 25, 10, 0, 0, 0, berlin), schedule.English())
		if err != nil {
			var refused *schedule.RefusedError
			require.ErrorAs(t, err, &refused)
			return
		}
		_, err = schedule.Open(kind, spec, berlin)
		require.NoError(t, err, "%q", text)
		require.Contains(t, text, rest)
	})
}
