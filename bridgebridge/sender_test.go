package bridgebridge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

const outboxRow = "018f5a4e-2b1c-7def-8a90-0123456789ab"

// timelineEvent makes an event of the timeline the way it comes from the homeserver, as JSON.
func timelineEvent(t testing.TB, eventType string, sender id.UserID, content string) *event.Event {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"type": eventType, "sender": sender, "event_id": "$e", "room_id": "!r:example.org", "origin_server_ts": 1795000000000,
		"content": json.RawMessage(content),
	})
	require.NoError(t, err)
	var evt event.Event
	require.NoError(t, json.Unmarshal(raw, &evt))
	return &evt
}

func TestClassify(t *testing.T) {
	t.Parallel()
	const (
		plain   = `{"msgtype":"m.text","body":"hello"}`
		notice  = `{"msgtype":"m.notice","body":"hello"}`
		phone   = `{"msgtype":"m.text","body":"hello","fi.mau.double_puppet_source":"mautrix-whatsapp","fi.mau.double_puppet_ts":1795000000000}`
		withKey = `{"msgtype":"m.text","body":"hello","ai.multis.out":"` + outboxRow + `"}`
		asOwner = `{"msgtype":"m.text","body":"hello","displayname":"Olga","fi.mau.double_puppet_source":"mautrix-whatsapp","ai.multis.out":"` +
			outboxRow + `"}`
	)
	tests := []struct {
		name    string
		sender  id.UserID
		content string
		ours    bool
		want    policy.Author
	}{
		{"a ghost is a contact", ana, plain, false, policy.AuthorContact},
		{"another Matrix user is a contact", mallory, plain, false, policy.AuthorContact},
		{"a ghost with our key and the owner's marks is a contact", ana, asOwner, true, policy.AuthorContact},
		{"a ghost with an event id we know is a contact", ana, plain, true, policy.AuthorContact},
		{"the owner in a client", owner, plain, false, policy.AuthorOwnerClient},
		{"the owner on the phone", owner, phone, false, policy.AuthorOwnerPhone},
		{"the owner on the phone, by his own ghost", ownGhost, plain, false, policy.AuthorOwnerPhone},
		{"a notice of the owner's own ghost is a bot's", ownGhost, notice, false, policy.AuthorOtherBot},
		{"what we sent as the owner", owner, withKey, true, policy.AuthorMultisOwner},
		{"what we sent, known by its event id alone", owner, plain, true, policy.AuthorMultisOwner},
		{"our key without an outbox row is the owner typing", owner, withKey, false, policy.AuthorOwnerClient},
		{"a double puppet mark that is empty is none", owner, `{"body":"x","fi.mau.double_puppet_source":""}`, false, policy.AuthorOwnerClient},
		{
			"a double puppet mark of the wrong type is none", owner, `{"body":"x","fi.mau.double_puppet_source":true}`, false,
			policy.AuthorOwnerClient,
		},
		{"a notice under the owner's id is a bot's", owner, notice, false, policy.AuthorOtherBot},
		{"our bot", bot, plain, false, policy.AuthorMultisBot},
		{"the bridge's bot", bridgeBot, notice, false, policy.AuthorBridgeBot},
		{"the bridge's bot with our key", bridgeBot, withKey, true, policy.AuthorBridgeBot},
		{"an operator", "@otto:example.org", plain, false, policy.AuthorOperator},
		{"somebody's notice is a bot's", ana, notice, false, policy.AuthorOtherBot},
		{
			"an edit to a notice is a bot's", ana, `{"msgtype":"m.notice","body":"* x","m.new_content":{"msgtype":"m.text","body":"x"}}`, false,
			policy.AuthorOtherBot,
		},
		{"nobody is a bot", "", plain, false, policy.AuthorOtherBot},
		{"content that is no message", ana, `{"body":{},"msgtype":[]}`, false, policy.AuthorContact},
		{"a user whose id only looks like the owner's", "@Owner:example.org", plain, false, policy.AuthorContact},
		{"the owner's name on another server", "@owner:evil.example", plain, true, policy.AuthorContact},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			who := Senders{
				Owner:     owner,
				Bot:       bot,
				Operators: []id.UserID{"@otto:example.org"},
				BridgeBot: bridgeBot,
				SelfGhost: ownGhost,
				SentByUs:  test.ours,
			}
			require.Equal(t, test.want, parse(t, timelineEvent(t, "m.room.message", test.sender, test.content)).Author(who))
		})
	}
}

func TestClassify_KnowsNobody(t *testing.T) {
	t.Parallel()
	require.Equal(t, policy.AuthorOtherBot, parse(t, timelineEvent(t, "m.room.message", "", `{}`)).Author(Senders{SentByUs: true}))
	require.Equal(t, policy.AuthorContact, parse(t, timelineEvent(t, "m.room.message", ana, `{}`)).Author(Senders{SentByUs: true}))
}

func TestOutboxKey(t *testing.T) {
	t.Parallel()
	require.Equal(t, outboxRow, parse(t, timelineEvent(t, "m.room.message", owner, `{"`+ContentKey+`":"`+outboxRow+`"}`)).OutboxKey)
	for _, content := range []string{
		`{}`, `{"ai.multis.out":""}`, `{"ai.multis.out":7}`, `{"ai.multis.out":null}`, `{"ai.multis.out":["` + outboxRow + `"]}`,
		`{"ai.multis.out":"018F5A4E-2B1C-7DEF-8A90-0123456789AB"}`, `{"ai.multis.out":"` + outboxRow + `\n"}`, `{"ai.multis.out":"' or 1=1"}`,
		`{"m.new_content":{"ai.multis.out":"` + outboxRow + `"}}`,
	} {
		require.Empty(t, parse(t, timelineEvent(t, "m.room.message", owner, content)).OutboxKey, content)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("@whatsapp_1:example.org", `{"msgtype":"m.text","body":"hi","ai.multis.out":"`+outboxRow+`"}`, true)
	f.Add("@owner:example.org", `{"fi.mau.double_puppet_source":"mautrix-whatsapp"}`, false)
	f.Add("@x:y", `{"m.new_content":{"m.new_content":{"m.relates_to":{"m.in_reply_to":{}}}}}`, true)
	f.Add("", `[]`, true)
	f.Fuzz(func(t *testing.T, sender, content string, ours bool) {
		evt := &event.Event{Type: event.EventMessage, Sender: id.UserID(sender), Content: event.Content{VeryRaw: json.RawMessage(content)}}
		e, err := Parse(evt)
		if err != nil {
			require.Empty(t, e)
			return
		}
		author := e.Author(Senders{
			Owner:     owner,
			Bot:       bot,
			BridgeBot: bridgeBot,
			SelfGhost: ownGhost,
			SentByUs:  ours,
		})
		switch evt.Sender {
		case owner:
			require.Equal(t, ours, author == policy.AuthorMultisOwner)
			require.Equal(t, !ours, author.IsOwner())
		case ownGhost:
			require.Equal(t, policy.AuthorOwnerPhone, author)
		case bot:
			require.Equal(t, policy.AuthorMultisBot, author)
		case bridgeBot:
			require.Equal(t, policy.AuthorBridgeBot, author)
		default:
			require.Contains(t, []policy.Author{policy.AuthorContact, policy.AuthorOtherBot}, author)
		}
		msg := e.Message
		require.NotEmpty(t, msg.Kind)
		if msg.Words() != "" {
			require.Contains(t, msg.Text, msg.Words())
		}
		delivery, ok := e.DeliveryBy(bridgeBot)
		require.Equal(t, ok, delivery.EventID != "")
		require.True(t, !ok || evt.Sender == bridgeBot)
	})
}
