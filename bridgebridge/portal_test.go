package bridgebridge

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

//go:embed testdata/dm.json
var dmState []byte

const (
	owner     id.UserID = "@owner:example.org"
	bot       id.UserID = "@multis:example.org"
	bridgeBot id.UserID = "@whatsappbot:example.org"
	ana       id.UserID = "@whatsapp_4915112345678:example.org"
	ownGhost  id.UserID = "@whatsapp_491701111111:example.org"
	mallory   id.UserID = "@mallory:example.org"
)

// stateEvent makes a state event the way it comes from the homeserver, as JSON.
func stateEvent(t testing.TB, eventType, stateKey string, sender id.UserID, content string) *event.Event {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"type": eventType, "state_key": stateKey, "sender": sender, "content": json.RawMessage(content)})
	require.NoError(t, err)
	var evt event.Event
	require.NoError(t, json.Unmarshal(raw, &evt))
	return &evt
}

func member(t testing.TB, user id.UserID, membership, name string) *event.Event {
	t.Helper()
	return stateEvent(t, "m.room.member", user.String(), user, `{"membership":"`+membership+`","displayname":"`+name+`"}`)
}

// dmWith is the state of Ana's WhatsApp chat, with events put in place of those with the same type and state key.
func dmWith(t testing.TB, changes ...*event.Event) []*event.Event {
	t.Helper()
	var state []*event.Event
	require.NoError(t, json.Unmarshal(dmState, &state))
	return append(state, changes...)
}

// dmWithout is the state of Ana's chat without the events of some types.
func dmWithout(t testing.TB, types ...string) []*event.Event {
	t.Helper()
	var kept []*event.Event
	for _, evt := range dmWith(t) {
		if !strings.Contains(" "+strings.Join(types, " ")+" ", " "+evt.Type.Type+" ") {
			kept = append(kept, evt)
		}
	}
	return kept
}

// claim puts another bridge claim in place of the one of Ana's chat; the older claim type goes.
func claim(t testing.TB, sender id.UserID, content string) []*event.Event {
	t.Helper()
	return append(dmWithout(t, "uk.half-shot.bridge"), stateEvent(t, "m.bridge", "example.org/whatsapp", sender, content))
}

// levelsOf makes power levels: what it takes to send a message, and what the owner has.
func levelsOf(t testing.TB) func(needs, owns int) *event.Event {
	return func(needs, owns int) *event.Event {
		return stateEvent(t, "m.room.power_levels", "", bridgeBot,
			fmt.Sprintf(`{"users":{"@whatsappbot:example.org":100,%q:%d},"events_default":%d}`, owner, owns, needs))
	}
}

// groupOf is the state of a portal that the bridge gives no type.
func groupOf(t testing.TB, channel string) []*event.Event {
	t.Helper()
	return claim(t, bridgeBot, fmt.Sprintf(`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"telegram"},"channel":{"id":%q}}`,
		channel))
}

func TestDescribe_ReadsDirectChat(t *testing.T) {
	t.Parallel()
	portal, ok := Describe(dmWith(t), owner, bot)
	require.True(t, ok)
	require.Equal(t, Portal{
		Protocol:   "whatsapp",
		Network:    "WhatsApp",
		ChannelID:  "4915112345678@s.whatsapp.net",
		Login:      "491701111111",
		Kind:       policy.KindDM,
		Name:       "Ana Müller (WA)",
		OwnerName:  "Olga",
		BridgeBot:  bridgeBot,
		Contact:    ana,
		Members:    []Member{{ID: ana, Name: "Ana Müller (WA)"}},
		Encryption: policy.EncryptionNo,
		ClaimedAt:  portal.ClaimedAt,
	}, portal)
	require.False(t, portal.ClaimedAt.IsZero())
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	levels := levelsOf(t)
	const ids = `"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"1@g.us"}`
	tests := []struct {
		name  string
		state []*event.Event
		check func(*testing.T, Portal)
	}{
		{"without a room type it is a group", claim(t, bridgeBot, `{`+ids+`}`), func(t *testing.T, p Portal) {
			require.Equal(t, policy.KindGroup, p.Kind)
			require.Empty(t, p.Contact)
		}},
		{
			"a room type nobody knows is a group", claim(t, bridgeBot, `{`+ids+`,"com.beeper.room_type.v2":"hologram"}`),
			func(t *testing.T, p Portal) {
				require.Equal(t, policy.KindGroup, p.Kind)
			},
		},
		{
			"the newer room type comes first", claim(t, bridgeBot, `{`+ids+`,"com.beeper.room_type":"dm","com.beeper.room_type.v2":"group_dm"}`),
			func(t *testing.T, p Portal) {
				require.Equal(t, policy.KindGroup, p.Kind)
			},
		},
		{"the older room type alone tells a dm", claim(t, bridgeBot, `{`+ids+`,"com.beeper.room_type":"dm"}`), func(t *testing.T, p Portal) {
			require.Equal(t, policy.KindDM, p.Kind)
		}},
		{
			"a field of the wrong type does not hide the others",
			claim(t, bridgeBot,
				`{"protocol":{"id":"whatsapp","displayname":7},"channel":{"id":"1@g.us","displayname":[]},"com.beeper.room_type":false,"com.beeper.room_type.v2":"dm","bridgebot":"@whatsappbot:example.org"}`), func(t *testing.T, p Portal) {
				require.Equal(t, policy.KindDM, p.Kind)
			},
		},
		{"the older claim type is read alone", dmWithout(t, "m.bridge"), func(t *testing.T, p Portal) {
			require.Equal(t, policy.KindDM, p.Kind)
			require.Empty(t, p.Login)
		}},
		{
			"an encrypted room", dmWith(t, stateEvent(t, "m.room.encryption", "", bridgeBot, `{"algorithm":"m.megolm.v1.aes-sha2"}`)),
			func(t *testing.T, p Portal) {
				require.Equal(t, policy.EncryptionYes, p.Encryption)
			},
		},
		{
			"encryption whose content is broken is encryption", dmWith(t, stateEvent(t, "m.room.encryption", "", bridgeBot, `{}`)),
			func(t *testing.T, p Portal) {
				require.Equal(t, policy.EncryptionYes, p.Encryption)
			},
		},
		{"a state that is not whole leaves encryption unknown", dmWithout(t, "m.room.create"), func(t *testing.T, p Portal) {
			require.Equal(t, policy.EncryptionUnknown, p.Encryption)
		}},
		{
			"a room that was replaced", dmWith(t, stateEvent(t, "m.room.tombstone", "", bridgeBot, `{"replacement_room":"!new:example.org"}`)),
			func(t *testing.T, p Portal) {
				require.True(t, p.Tombstoned)
			},
		},
		{"the owner's own ghost is no contact", dmWith(t, member(t, ownGhost, "join", "Olga (WA)")), func(t *testing.T, p Portal) {
			require.Equal(t, ownGhost, p.SelfGhost)
			require.Equal(t, ana, p.Contact)
			require.Len(t, p.Members, 1)
		}},
		{
			"a Matrix user named like the owner's ghost is not the owner", dmWith(t, member(t, "@evil_491701111111:example.org", "join", "Olga")),
			func(t *testing.T, p Portal) {
				require.Empty(t, p.SelfGhost)
				require.Equal(t, ana, p.Contact)
			},
		},
		{
			"a user of another server named like the owner's ghost is not the owner",
			dmWith(t, member(t, "@whatsapp_491701111111:evil.example", "join", "Olga")), func(t *testing.T, p Portal) {
				require.Empty(t, p.SelfGhost)
			},
		},
		{
			"a contact whose id ends like the owner's is still the contact",
			claim(t, bridgeBot,
				`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"x_5","fi.mau.receiver":"4915112345678"},"com.beeper.room_type.v2":"dm"}`), func(t *testing.T, p Portal) {
				require.Equal(t, ana, p.Contact)
				require.Empty(t, p.SelfGhost)
			},
		},
		{"a note to oneself", claim(t, bridgeBot,
			`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"4915112345678@s.whatsapp.net","fi.mau.receiver":"4915112345678"},"com.beeper.room_type.v2":"dm"}`), func(t *testing.T, p Portal) {
			require.Equal(t, policy.KindSelf, p.Kind)
			require.Equal(t, ana, p.SelfGhost)
			require.Empty(t, p.Contact)
			require.Empty(t, p.Members)
		}},
		{
			"a note to oneself on a network with typed ids",
			claim(t, bridgeBot,
				`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"telegram"},"channel":{"id":"user:77","fi.mau.receiver":"77"},"com.beeper.room_type.v2":"dm"}`), func(t *testing.T, p Portal) {
				require.Equal(t, policy.KindSelf, p.Kind)
				require.Equal(t, "Telegram", p.Network)
			},
		},
		{"an invited ghost counts until it has joined", dmWith(t, member(t, ana, "invite", "Ana")), func(t *testing.T, p Portal) {
			require.Equal(t, ana, p.Contact)
		}},
		{"a contact who left is no contact", dmWith(t, member(t, ana, "leave", "Ana")), func(t *testing.T, p Portal) {
			require.Empty(t, p.Contact)
			require.Empty(t, p.Members)
		}},
		{
			"of two strangers none is the contact by chance",
			dmWith(t, member(t, ana, "leave", ""), member(t, "@a:example.org", "join", ""), member(t, "@b:example.org", "join", "")),
			func(t *testing.T, p Portal) {
				require.Empty(t, p.Contact)
				require.Len(t, p.Members, 2)
			},
		},
		{
			"our own bot and the room's service members are no people",
			dmWith(t, member(t, bot, "join", "multis"), member(t, "@helper:example.org", "join", "Helper"),
				stateEvent(t, "io.element.functional_members", "", bridgeBot, `{"service_members":["@helper:example.org"]}`)),
			func(t *testing.T, p Portal) {
				require.Equal(t, []Member{{ID: ana, Name: "Ana Müller (WA)"}}, p.Members)
			},
		},
		{"a room without a name is called like its contact", dmWithout(t, "m.room.name"), func(t *testing.T, p Portal) {
			require.Equal(t, "Ana Müller (WA)", p.Name)
		}},
		{
			"a group without any name is called like its channel",
			append(dmWithout(t, "m.room.name", "uk.half-shot.bridge"), stateEvent(t, "m.bridge", "example.org/whatsapp", bridgeBot, `{`+ids+`}`)),
			func(t *testing.T, p Portal) {
				require.Equal(t, "1@g.us", p.Name)
			},
		},
		{"a name cannot hide what it is", dmWith(t, stateEvent(t, "m.room.name", "", bridgeBot,
			`{"name":" An\u0000a\n\u202e gro.live\u200b `+strings.Repeat("x", 300)+`"}`)), func(t *testing.T, p Portal) {
			require.True(t, strings.HasPrefix(p.Name, "Ana gro.live xxx"), p.Name)
			require.Len(t, []rune(p.Name), 100)
		}},
		{
			"power levels written as text are read", dmWith(t,
				stateEvent(t, "m.room.power_levels", "", bridgeBot, `{"users":{"@whatsappbot:example.org":"100"},"state_default":"50"}`)),
			func(t *testing.T, p Portal) {
				require.Equal(t, bridgeBot, p.BridgeBot)
			},
		},
		{
			"a bot with just enough power and an id of just the longest length",
			append(claim(t, bridgeBot, `{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"`+
				strings.Repeat("1", 255)+`"}}`),
				stateEvent(t, "m.room.power_levels", "", bridgeBot, `{"users":{"@whatsappbot:example.org":50}}`)), func(t *testing.T, p Portal) {
				require.Len(t, p.ChannelID, 255)
			},
		},
		{"the maker of a room of version 12 has power without being listed", append(dmWithout(t, "m.room.create", "m.room.power_levels"),
			stateEvent(t, "m.room.create", "", bridgeBot, `{"room_version":"12"}`),
			stateEvent(t, "m.room.power_levels", "", bridgeBot, `{"users":{},"state_default":100}`)), func(t *testing.T, p Portal) {
			require.Equal(t, bridgeBot, p.BridgeBot)
		}},
		{"a second maker of a room of version 12 has power, too", append(dmWithout(t, "m.room.create", "m.room.power_levels"),
			stateEvent(t, "m.room.create", "", owner, `{"room_version":"12","additional_creators":["@whatsappbot:example.org"]}`),
			stateEvent(t, "m.room.power_levels", "", owner, `{}`)), func(t *testing.T, p Portal) {
			require.Equal(t, bridgeBot, p.BridgeBot)
		}},
		{"the maker of a room without power levels has power", dmWithout(t, "m.room.power_levels"), func(t *testing.T, p Portal) {
			require.Equal(t, bridgeBot, p.BridgeBot)
		}},
		{"the claim of a contact who may set state does not outdo the bridge's", dmWith(t,
			stateEvent(t, "m.room.power_levels", "", bridgeBot, `{"users":{"@whatsappbot:example.org":100,"@mallory:example.org":50}}`),
			stateEvent(t, "m.bridge", "aaa", mallory,
				`{"bridgebot":"@mallory:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"victim@s.whatsapp.net"},"com.beeper.room_type.v2":"dm"}`)), func(t *testing.T, p Portal) {
			require.Equal(t, bridgeBot, p.BridgeBot)
			require.Equal(t, "4915112345678@s.whatsapp.net", p.ChannelID)
		}},
		{"a group in which the owner may write is no channel", append(groupOf(t, "channel:1234"), levels(0, 0)), func(t *testing.T, p Portal) {
			require.Equal(t, policy.KindGroup, p.Kind)
		}},
		{"the owner's own channel is a group", append(groupOf(t, "channel:1234"), levels(42, 95)), func(t *testing.T, p Portal) {
			require.Equal(t, policy.KindGroup, p.Kind)
		}},
		{"a direct chat with somebody whom the owner blocked stays one", append(dmWith(t), levels(75, 0)), func(t *testing.T, p Portal) {
			require.Equal(t, policy.KindDM, p.Kind)
		}},
		{"a claim in the bot's name by somebody else is passed over", dmWith(t,
			stateEvent(t, "m.bridge", "zzz", mallory,
				`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"victim@s.whatsapp.net"},"com.beeper.room_type.v2":"dm"}`)), func(t *testing.T, p Portal) {
			require.Equal(t, "4915112345678@s.whatsapp.net", p.ChannelID)
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			portal, ok := Describe(test.state, owner, bot)
			require.True(t, ok)
			require.NotEmpty(t, portal.Name)
			test.check(t, portal)
		})
	}
}

func TestDescribe_RefusesOtherRooms(t *testing.T) {
	t.Parallel()
	levels := levelsOf(t)
	claimOf := func(channel, roomType string) []*event.Event {
		return claim(t, bridgeBot, `{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"`+channel+
			`"},"com.beeper.room_type.v2":"`+roomType+`"}`)
	}
	forged := `{"bridgebot":"@mallory:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"1@s.whatsapp.net"},"com.beeper.room_type.v2":"dm"}`
	tests := map[string][]*event.Event{
		"nothing":                            nil,
		"a nil event":                        {nil},
		"a room without a bridge":            dmWithout(t, "m.bridge", "uk.half-shot.bridge"),
		"the room of the owner and a bridge": dmWithout(t, "m.bridge", "uk.half-shot.bridge", "io.element.functional_members"),
		"a space by its make": append(dmWithout(t, "m.room.create"),
			stateEvent(t, "m.room.create", "", bridgeBot, `{"room_version":"11","type":"m.space"}`)),
		"a space by the bridge's word":     claimOf("community@g.us", "space"),
		"the bridge's space of all rooms":  claimOf("__personal_filtering_space__", "personal_filtering_space"),
		"the status broadcast":             claimOf("status@broadcast", ""),
		"a broadcast list":                 claimOf("1234@broadcast", ""),
		"a newsletter":                     claimOf("123@NEWSLETTER", ""),
		"a channel that the owner reads":   append(claimOf("channel:1234", ""), levels(42, 0)),
		"a channel that a bridge names so": claimOf("channel:1234", "channel"),
		"a community":                      claimOf("1234@g.us", "space"),
		"a claim without a channel":        claim(t, bridgeBot, `{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"}}`),
		"a claim without a protocol":       claim(t, bridgeBot, `{"bridgebot":"@whatsappbot:example.org","channel":{"id":"1"}}`),
		"a claim without a bot":            claim(t, bridgeBot, `{"protocol":{"id":"whatsapp"},"channel":{"id":"1"}}`),
		"an emptied claim":                 claim(t, bridgeBot, `{}`),
		"a claim that is no object": claim(t, bridgeBot,
			`{"bridgebot":["@whatsappbot:example.org"],"protocol":"whatsapp","channel":null}`),
		"a channel with a NUL":                   claimOf(`1\u0000`, "dm"),
		"a channel with broken UTF-8":            claimOf("1\xff", "dm"),
		"an endless channel":                     claimOf(strings.Repeat("1", 256), "dm"),
		"a claim by a contact":                   claim(t, ana, forged),
		"a contact naming himself without power": claim(t, mallory, forged),
		"a bot whose power was taken": append(dmWith(t),
			stateEvent(t, "m.room.power_levels", "", owner, `{"users":{"@owner:example.org":100},"state_default":50}`)),
		"a room where everybody may set state": append(claim(t, mallory, forged),
			stateEvent(t, "m.room.power_levels", "", owner, `{"state_default":0}`)),
		"a guest in a room without power levels": append(dmWithout(t, "m.bridge", "uk.half-shot.bridge", "m.room.power_levels"),
			stateEvent(t, "m.bridge", "", mallory, forged)),
		"the owner as his own bridge": append(claim(t, owner,
			`{"bridgebot":"@owner:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"1"}}`),
			stateEvent(t, "m.room.power_levels", "", owner, `{"users":{"@owner:example.org":100}}`)),
		"a room the owner left":          dmWith(t, member(t, owner, "leave", "")),
		"a room the owner is invited to": dmWith(t, member(t, owner, "invite", "")),
	}
	for name, state := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			portal, ok := Describe(state, owner, bot)
			require.False(t, ok)
			require.Equal(t, Portal{}, portal)
		})
	}
}

func TestDescribe_ReadsParsedState(t *testing.T) {
	t.Parallel()
	state := dmWith(t)
	for _, evt := range state {
		require.NoError(t, evt.Content.ParseRaw(evt.Type))
	}
	fromClient, ok := Describe(state, owner, bot)
	require.True(t, ok)
	for _, evt := range state {
		evt.Content.VeryRaw = nil
	}
	madeInMemory, ok := Describe(state, owner, bot)
	require.True(t, ok)
	require.Equal(t, fromClient, madeInMemory)
}

func TestDescribe_IgnoresOrder(t *testing.T) {
	t.Parallel()
	state := dmWith(t, stateEvent(t, "m.bridge", "other", bridgeBot,
		`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"signal"},"channel":{"id":"2"}}`))
	want, ok := Describe(state, owner, bot)
	require.True(t, ok)
	require.Equal(t, "whatsapp", want.Protocol, "the newer claim")
	for range state {
		state = append(state[1:], state[0])
		got, _ := Describe(state, owner, bot)
		require.Equal(t, want, got)
	}
}

func TestNetworkName(t *testing.T) {
	t.Parallel()
	for protocol, want := range map[string]string{
		"": "Matrix", "whatsapp": "WhatsApp", "WhatsApp": "WhatsApp", "signal": "Signal", "telegram": "Telegram", "facebookgo": "Messenger",
		"instagramgo": "Instagram", "gmessages": "Google Messages", "gvoice": "Google Voice", "googlechat": "Google Chat",
		"imessagego": "iMessage",
		"slackgo":    "Slack", "discordgo": "Discord", "linkedin": "LinkedIn", "twitter": "X", "irc": "IRC", "bluesky": "Bluesky", "ünet": "Ünet",
	} {
		require.Equal(t, want, NetworkName(protocol))
	}
}

// FuzzDescribe puts arbitrary contents into the events of Ana's chat.
func FuzzDescribe(f *testing.F) {
	f.Add(`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"1","fi.mau.receiver":"1"},"com.beeper.room_type.v2":"dm"}`,
		`{"users":{"@whatsappbot:example.org":"100"},"state_default":5e1}`, ana.String(), `{"membership":"join","displayname":"A\u0000\u202e"}`)
	f.Add(`{"bridgebot":"@whatsappbot:example.org","protocol":{"id":"whatsapp"},"channel":{"id":"4915112345678@s.whatsapp.net","fi.mau.receiver":"491701111111"},"com.beeper.room_type":"dm"}`,
		`{"users":{"@whatsappbot:example.org":1e400,"":null},"state_default":"NaN"}`, ownGhost.String(), `{"membership":"invite"}`)
	f.Add(`[]`, `null`, "", `{"membership":{}}`)
	f.Add(`{"channel":{"id":"a"},"channel":{"displayname":"\ud800"}}`, `{"users":[]}`, "@:", `{`)
	f.Fuzz(func(t *testing.T, claim, power, user, membership string) {
		state := dmWith(t)
		for eventType, content := range map[string]string{"m.bridge": claim, "m.room.power_levels": power} {
			for _, evt := range state {
				if evt.Type.Type == eventType {
					evt.Content.VeryRaw = []byte(content)
				}
			}
		}
		state = append(state, &event.Event{Type: event.StateMember, StateKey: &user, Content: event.Content{VeryRaw: []byte(membership)}})
		portal, ok := Describe(state, owner, bot)
		if !ok {
			require.Equal(t, Portal{}, portal)
			return
		}
		require.NotEmpty(t, portal.Protocol)
		require.NotEmpty(t, portal.ChannelID)
		require.NotEmpty(t, portal.Name)
		require.True(t, portal.Kind == policy.KindDM || portal.Kind == policy.KindGroup || portal.Kind == policy.KindSelf)
		require.Equal(t, bridgeBot, portal.BridgeBot)
		require.NotContains(t, []id.UserID{owner, bot, bridgeBot}, portal.Contact)
		require.False(t, portal.Contact != "" && portal.Contact == portal.SelfGhost)
		require.NotContains(t, portal.Name+portal.ChannelID+portal.Login+portal.Protocol, "\x00")
	})
}
