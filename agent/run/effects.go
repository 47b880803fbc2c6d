package run

import (
	"cmp"
	"context"
	"strings"

	"github.com/rs/zerolog"

	"multis/store"
)

// EffectsText returns a line about the side effects of a task that did not complete; empty if there are none. Without it,
// the owner might ask again and cause them twice.
func EffectsText(ctx context.Context, st *store.Store, task store.TaskID) string {
	effects, err := store.Effects(context.WithoutCancel(ctx), st.DB(), task)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Int64("task_id", int64(task)).Msg("Cannot tell what a task changed")
		return "⚠️ What was done before that I cannot tell."
	}
	var done, open, parts []string
	for _, e := range effects {
		switch {
		case e.Unknown:
			open = append(open, e.Name)
		case e.Done:
			done = append(done, cmp.Or(e.ForUser, e.Name))
		}
	}
	if len(done) > 0 {
		parts = append(parts, "Done before that: "+strings.Join(done, "; ")+".")
	}
	if len(open) > 0 {
		parts = append(parts, "⚠️ "+strings.Join(open, ", ")+
			" was under way: whether it was done I don't know. Look before you ask for it again.")
	}
	return strings.Join(parts, " ")
}
