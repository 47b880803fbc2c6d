package admin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/skills"
	"multis/policy"
	"multis/store"
)

func TestSavedTask_StartsByName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/run"), "There are no saved tasks.")
	var begun []string
	begin := func(_ context.Context, _ store.Tx, room store.Chat, m store.Message) (string, error) {
		require.Equal(t, r.room.ID, room.ID)
		begun = append(begun, m.Body)
		return "", nil
	}
	targetless := func(context.Context, store.Tx, store.Chat, store.Message) (string, error) {
		return "its target is no chat that I know", nil
	}
	r.saved = []skills.SavedTask{
		{Name: "week", Prompt: "What was promised\nthis week?", Agent: "shop"},
		{Name: "lost", Prompt: "x"},
		{Name: "broken", Problem: "line 2: prompts is none of its keys"},
	}
	r.beginSaved = map[string]func(context.Context, store.Tx, store.Chat, store.Message) (string, error){"week": begin, "lost": targetless}
	r.restart()
	require.Equal(t, text(
		"**3 saved tasks**",
		"`/run week` by `@shop` — “What was promised this week?”",
		"`/run lost` — “x”",
		"`/run broken` ⚠️ line 2: prompts is none of its keys",
	), r.asOwner("/run"))
	require.Equal(t, "[👀]", r.asOwner("/run Week"))
	require.Equal(t, []string{"/run Week"}, begun)
	require.Contains(t, r.asOwner("/run weak"), "Did you mean `/run week`?")
	require.Contains(t, r.asOwner("/run broken"), "cannot be begun: line 2")
	require.Contains(t, r.asOperator("/run week"), "Only the owner can use")
	require.Contains(t, r.asOwner("/run lost"), "⚠️ `lost` cannot be begun: its target is no chat that I know.")
	r.settings.Model = "none"
	r.restart()
	require.Equal(t, "[👀]", r.asOwner("/run week"), "its agent has a model of its own")
	require.Contains(t, r.asOwner("/run lost"), "needs a model")
	require.Len(t, begun, 2)
}

func TestIntent_OwnersWords(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stop, err := policy.NewShortcut("stop everything", "/pause all")
	require.NoError(t, err)
	r.settings.Shortcuts = []policy.Shortcut{stop}
	r.restart()
	require.Contains(t, r.asOwner("Do not stop everything"), "You asked **Do not stop everything**")
	require.Empty(t, r.asOperator("stop everything"), "operators talk in the room")
	paused := func() bool {
		is, err := store.PausedAll(r.ctx, r.st.DB())
		require.NoError(t, err)
		return is
	}
	r.handle(store.Message{Body: "stop everything", Code: policy.CodeTranscribed})
	require.False(t, paused(), "what is said aloud is a question")
	r.asOwner("Stop everything")
	require.True(t, paused())
}
