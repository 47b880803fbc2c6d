package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
	"multis/config"
)

func TestHeartbeatCron_Times(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for _, c := range []struct {
		every       time.Duration
		from, until int
		want        string
		beats       int // in a day
	}{
		{30 * time.Minute, 7, 23, "*/30 7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22 * * *", 32},
		{2 * time.Hour, 9, 18, "0 9,11,13,15,17 * * *", 5},
		{20 * time.Minute, 22, 2, "*/20 22,23,0,1 * * *", 12},
		{12 * time.Hour, 0, 24, "0 0,12 * * *", 2},
	} {
		h := config.Heartbeat{Every: c.every, ActiveFrom: c.from, ActiveUntil: c.until}
		require.Equal(t, c.want, heartbeatCron(h))
		plan, err := schedule.Open(schedule.Cron, heartbeatCron(h), zone)
		require.NoError(t, err)
		from := time.Date(2026, 11, 20, 0, 0, 0, 0, zone).Add(-time.Second)
		n := 0
		for at := plan.Next(from); at.Before(from.AddDate(0, 0, 1)); at = plan.Next(at) {
			n++
		}
		require.Equal(t, c.beats, n)
	}
}
