package bridgebridge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
)

func TestEvent_OverlongIDIsRefused(t *testing.T) {
	t.Parallel()
	for _, place := range []string{
		`"event_id":%q`, `"room_id":%q`, `"sender":%q`, `"type":%q`, `"state_key":%q`, `"redacts":%q`, `"content":{"redacts":%q}`,
		`"content":{"session_id":%q}`, `"content":{"sender_key":%q}`,
		`"content":{"device_id":%q}`, `"content":{"m.relates_to":{"event_id":%q}}`,
		`"content":{"m.relates_to":{"m.in_reply_to":{"event_id":%q}}}`, `"content":{"replacement_room":%q}`,
		`"content":{"predecessor":{"room_id":%q}}`, `"content":{"fi.mau.bridge_state":{"remote_id":%q}}`,
		`"content":{"device_id":7,"session_id":%q}`,
	} {
		for length, refused := range map[int]bool{255: false, 256: true} {
			var evt event.Event
			require.NoError(t, json.Unmarshal(fmt.Appendf(nil, "{"+place+"}", strings.Repeat("x", length)), &evt))
			_, err := Parse(&evt)
			require.Equal(t, refused, err != nil, "%s with %d", place, length)
		}
	}
	var zero event.Event
	require.NoError(t, json.Unmarshal([]byte(`{"content":{"m.relates_to":{"event_id":"$a\u0000"}}}`), &zero))
	_, err := Parse(&zero)
	require.Error(t, err)
	var evt event.Event
	require.NoError(t, json.Unmarshal([]byte(`{"content":{"body":"`+strings.Repeat("x", 5000)+`","m.relates_to":7,"session_id":[]}}`), &evt))
	_, err = Parse(&evt)
	require.NoError(t, err, "a text may be long, and what has the wrong type names nothing")
}

// parse parses an event that is valid.
func parse(t testing.TB, evt *event.Event) Event {
	t.Helper()
	e, err := Parse(evt)
	require.NoError(t, err)
	return e
}
