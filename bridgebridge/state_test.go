package bridgebridge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
)

func TestReadConnection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, raw string
		want      Connection
		ok        bool
	}{
		{
			"logged out",
			`{"type":"m.room.message","content":{"msgtype":"m.text","body":"x","fi.mau.bridge_state":{"state_event":"BAD_CREDENTIALS","remote_id":"me"}}}`,
			Connection{Login: "me", Why: LoggedOut},
			true,
		},
		{
			"connected", `{"type":"m.room.message","content":{"fi.mau.bridge_state":{"state_event":"CONNECTED","remote_id":"me"}}}`,
			Connection{Login: "me", Up: true},
			true,
		},
		{
			"an error", `{"type":"m.room.message","content":{"fi.mau.bridge_state":{"state_event":"UNKNOWN_ERROR","message":"the phone is\n off"}}}`,
			Connection{Why: "the phone is off"},
			true,
		},
		{"on the way", `{"type":"m.room.message","content":{"fi.mau.bridge_state":{"state_event":"CONNECTING"}}}`, Connection{}, false},
		{"a text about it", `{"type":"m.room.message","content":{"msgtype":"m.text","body":"BAD_CREDENTIALS"}}`, Connection{}, false},
		{"something else under the key", `{"type":"m.room.message","content":{"fi.mau.bridge_state":"BAD_CREDENTIALS"}}`, Connection{}, false},
		{"no message", `{"type":"m.reaction","content":{"fi.mau.bridge_state":{"state_event":"CONNECTED"}}}`, Connection{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var evt event.Event
			require.NoError(t, json.Unmarshal([]byte(test.raw), &evt))
			got := parse(t, &evt).Connection
			require.Equal(t, test.ok, got != nil)
			if test.ok {
				require.Equal(t, test.want, *got)
			}
		})
	}
	require.True(t, IsLoggedOut("You're not logged in"))
	require.True(t, IsLoggedOut("WhatsApp: Logged out"))
	require.False(t, IsLoggedOut("file too large"))
}
