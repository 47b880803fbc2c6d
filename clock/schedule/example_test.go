package schedule_test

import (
	"fmt"
	"time"

	"multis/clock/schedule"
)

// now is a Friday at noon.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func ExampleParseTime() {
	at, rest, err := schedule.ParseTime("tomorrow 9am call Ana", now, schedule.English())
	fmt.Println(at.Format(time.DateTime), rest, err)
	// Output: 2026-11-21 09:00:00 call Ana <nil>
}

func ExampleParseRecurrence() {
	kind, spec, rest, err := schedule.ParseRecurrence("every monday 9am plan the week", time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC),
		schedule.English())
	fmt.Println(kind, spec, rest, err)
	// Output: cron 0 9 * * 1 plan the week <nil>
}

func ExampleParsePast() {
	found, ok := schedule.ParsePast("what did Ana say since yesterday", now)
	fmt.Println(found.From.Format(time.DateTime), found.Until.IsZero(), found.Rest, ok)
	// Output: 2026-11-19 00:00:00 true what did Ana say true
}

func ExamplePlan_Upcoming() {
	plan, err := schedule.Open(schedule.Cron, "0 9 * * 1-5", time.UTC)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range plan.Upcoming(now, 2) {
		fmt.Println(schedule.FormatTime(t, now, time.UTC))
	}
	// Output:
	// Mon 23 Nov, 09:00
	// Tue 24 Nov, 09:00
}
