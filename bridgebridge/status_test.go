package bridgebridge

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"
)

func TestDeliveryStatus(t *testing.T) {
	t.Parallel()
	const ours = `"m.relates_to":{"rel_type":"m.reference","event_id":"$ours"}`
	const reply = `"m.relates_to":{"m.in_reply_to":{"event_id":"$ours"}}`
	tests := []struct {
		name, eventType, content string
		want                     Delivery
	}{
		{
			"success", "com.beeper.message_send_status", `{` + ours +
				`,"network":"whatsapp","status":"SUCCESS","delivered_to_users":[],"message":"odd"}`,
			Delivery{EventID: "$ours", State: Delivered},
		},
		{
			"still trying", "com.beeper.message_send_status", `{` + ours + `,"status":"PENDING"}`,
			Delivery{EventID: "$ours", State: Pending},
		},
		{
			"failed for now, in words", "com.beeper.message_send_status",
			`{` + ours +
				`,"status":"FAIL_RETRIABLE","reason":"m.event_not_handled","message":"You're not\nlogged in","internal_error":"not logged in"}`,
			Delivery{EventID: "$ours", State: Failed, Why: "You're not logged in"},
		},
		{
			"failed for good, with an inner error alone", "com.beeper.message_send_status",
			`{` + ours + `,"status":"FAIL_PERMANENT","reason":"com.beeper.unsupported_event","internal_error":"ignoring m.notice message"}`,
			Delivery{EventID: "$ours", State: Failed, Why: "ignoring m.notice message"},
		},
		{
			"failed with a code alone", "com.beeper.message_send_status", `{` + ours + `,"status":"FAIL_PERMANENT","reason":"m.no_permission"}`,
			Delivery{EventID: "$ours", State: Failed, Why: "m.no_permission"},
		},
		{
			"the notice of a failure", "m.room.message", `{"msgtype":"m.notice","body":"⚠️ Your message was not bridged: You're not logged in",` +
				reply + `,"m.mentions":{"user_ids":["@owner:example.org"]}}`,
			Delivery{EventID: "$ours", State: Failed, Why: "You're not logged in"},
		},
		{
			"the notice of a doubt", "m.room.message", `{"msgtype":"m.notice","body":"\u26a0 Your message may not have been bridged: timed out",` +
				reply + `}`,
			Delivery{EventID: "$ours", State: Failed, Why: "timed out"},
		},
		{
			"the notice in a thread", "m.room.message",
			`{"msgtype":"m.notice","body":"⚠️ Your reaction was not bridged: no","m.relates_to":{"rel_type":"m.thread","event_id":"$root","m.in_reply_to":{"event_id":"$ours"}}}`,
			Delivery{EventID: "$ours", State: Failed, Why: "no"},
		},
		{
			"the notice behind the quote of old clients", "m.room.message",
			`{"msgtype":"m.notice","body":"> <@owner:example.org> hello\n\n⚠️ Your message was not bridged: no",` + reply + `}`,
			Delivery{EventID: "$ours", State: Failed, Why: "no"},
		},
		{
			"an endless reason is cut", "com.beeper.message_send_status",
			`{` + ours + `,"status":"FAIL_PERMANENT","message":"` + strings.Repeat("x", 1000) + `"}`,
			Delivery{EventID: "$ours", State: Failed, Why: strings.Repeat("x", 299) + "…"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok := parse(t, timelineEvent(t, test.eventType, bridgeBot, test.content)).DeliveryBy(bridgeBot)
			require.True(t, ok)
			require.Equal(t, test.want, got)

			for _, other := range []id.UserID{ana, owner, mallory, ""} {
				got, ok := parse(t, timelineEvent(t, test.eventType, other, test.content)).DeliveryBy(bridgeBot)
				require.False(t, ok, "only the bridge's bot is believed")
				require.Equal(t, Delivery{}, got)
			}
			_, ok = parse(t, timelineEvent(t, test.eventType, "", test.content)).DeliveryBy("")
			require.False(t, ok, "a room without a bridge has no deliveries")
		})
	}
}

func TestDeliveryStatus_SkipsOthers(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"a status nobody knows":             `{"m.relates_to":{"rel_type":"m.reference","event_id":"$ours"},"status":"MAYBE"}`,
		"a status of nothing":               `{"status":"SUCCESS"}`,
		"a status related in another way":   `{"m.relates_to":{"rel_type":"m.replace","event_id":"$ours"},"status":"SUCCESS"}`,
		"a status without content":          `{}`,
		"a status whose fields are no text": `{"m.relates_to":7,"status":["SUCCESS"]}`,
	} {
		_, ok := parse(t, timelineEvent(t, "com.beeper.message_send_status", bridgeBot, content)).DeliveryBy(bridgeBot)
		require.False(t, ok, name)
	}
	for name, content := range map[string]string{
		"a text that looks like the notice": `{"msgtype":"m.text","body":"⚠️ Your message was not bridged: no","m.relates_to":{"m.in_reply_to":{"event_id":"$ours"}}}`,
		"a notice that replies to nothing":  `{"msgtype":"m.notice","body":"⚠️ Your message was not bridged: no"}`,
		"another notice":                    `{"msgtype":"m.notice","body":"You are now logged in","m.relates_to":{"m.in_reply_to":{"event_id":"$ours"}}}`,
		"a notice that quotes one":          `{"msgtype":"m.notice","body":"He said: Your message was not bridged: no","m.relates_to":{"m.in_reply_to":{"event_id":"$ours"}}}`,
	} {
		_, ok := parse(t, timelineEvent(t, "m.room.message", bridgeBot, content)).DeliveryBy(bridgeBot)
		require.False(t, ok, name)
	}
	_, ok := parse(t, stateEvent(t, "com.beeper.message_send_status", "", bridgeBot,
		`{"m.relates_to":{"rel_type":"m.reference","event_id":"$ours"},"status":"SUCCESS"}`)).DeliveryBy(bridgeBot)
	require.False(t, ok, "state is no delivery")
}
