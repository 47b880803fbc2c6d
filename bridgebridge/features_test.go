package bridgebridge

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

func TestLimits_ReadFromBridge(t *testing.T) {
	t.Parallel()
	const said = `{"id":"fi.mau.whatsapp.1","max_text_length":65536,"edit":2,"edit_max_age":900,"reaction":1,
		"file":{"m.file":{"mime_types":{"*/*":2,"video/mp4":-2},"caption":2,"max_caption_length":1024,"max_size":2000000},"m.sticker":{"mime_types":{"image/webp":2}},"m.audio":null}}`
	features := func(changes ...string) policy.Features {
		state := dmWithout(t, "com.beeper.room_features")
		for i, content := range changes {
			sender := bridgeBot
			if i > 0 {
				sender = mallory
			}
			state = append(state, stateEvent(t, "com.beeper.room_features", []string{"example.org/whatsapp", ""}[i], sender, content))
		}
		portal, ok := Describe(state, owner, bot)
		require.True(t, ok)
		return portal.Features
	}
	want := policy.Features{
		Known: true, MaxText: 65536,
		Files: map[string]policy.FileRule{
			"m.file":    {Types: []string{"*/*"}, Captions: true, MaxCaption: 1024, MaxSize: 2000000},
			"m.sticker": {Types: []string{"image/webp"}},
		},
	}
	require.Equal(t, want, features(said))
	require.Equal(t, want, features(said, `{"max_text_length":1}`), "only the bridge's own bot is believed")
	require.Equal(t, policy.Features{}, features(), "a bridge that says nothing")
	require.Equal(t, policy.Features{Known: true, NoEdits: true, NoReactions: true}, features(`{}`), "what is not named is not taken")
	require.Equal(t, policy.Features{
		Known:       true,
		NoEdits:     true,
		NoReactions: true,
	}, features(`{"max_text_length":-5,"edit":-2,"reaction":"yes"}`))
}
