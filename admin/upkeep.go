package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/store"
)

// showUpkeep lists the upkeep, or starts one.
func (sc *scheduleCommands) showUpkeep(ctx context.Context, args string) (answer, error) {
	own, err := store.ListSchedules(ctx, sc.store.DB(), true, maxJobs)
	if err != nil {
		return answer{}, err
	}
	verb, name, _ := strings.Cut(strings.ToLower(args), " ")
	if verb == "run" {
		i := slices.IndexFunc(own, func(s store.Schedule) bool { return strings.EqualFold(systemScheduleName(s), strings.TrimSpace(name)) })
		if i < 0 {
			return answer{text: "There is no such upkeep. `/jobs upkeep` lists it."}, nil
		}
		return sc.runNow(own[i]), nil
	}
	if len(own) == 0 {
		return answer{text: "There is no upkeep yet."}, nil
	}
	lines := []string{"**Upkeep**, done automatically:"}
	for _, s := range own {
		lines = append(lines, sc.upkeepLine(ctx, s))
	}
	return answer{text: strings.Join(lines, "\n") + "\n`/jobs upkeep run " + systemScheduleName(own[0]) + "` does it now."}, nil
}

func (sc *scheduleCommands) upkeepLine(ctx context.Context, s store.Schedule) string {
	text := "**" + esc(systemScheduleName(s)) + "**"
	if s.Action == store.ActionHeartbeat {
		text += " — looks whether something needs you"
	} else if summary := sc.clock.UpkeepSummary(s.Body); summary != "" {
		text += " — " + summary
	}
	if runs, err := store.ExecutionsOf(ctx, sc.store.DB(), s.ID, 1); err == nil && len(runs) > 0 {
		text += " · last " + sc.executionLine(runs[0])
	}
	if s.PausedAt != nil {
		return text + fmt.Sprintf(" · ⚠️ stopped: `/jobs %d resume`", s.ID)
	}
	if s.NextAt != nil {
		text += " · next " + sc.room.fullTime(*s.NextAt)
	}
	return text
}
