package appservice

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// The ids that mautrix-whatsapp gives people: of a telephone number, and of a LID, which has replaced it.
const (
	whatsAppBot = id.UserID("@whatsappbot:example.com")
	numberGhost = id.UserID("@whatsapp_4917:example.com")
	lidGhost    = id.UserID("@whatsapp_lid-9988:example.com")
	ownLIDGhost = id.UserID("@whatsapp_lid-7766:example.com")
)

// addPortal makes a portal of WhatsApp's bridge with people in it.
func (h *fakeHomeserver) addPortal(room id.RoomID, people ...id.UserID) {
	h.setState(room, "m.room.create", "", whatsAppBot, `{}`)
	h.setState(room, "m.room.power_levels", "", whatsAppBot, fmt.Sprintf(`{"users":{%q:100}}`, whatsAppBot))
	for _, member := range append([]id.UserID{whatsAppBot, owner}, people...) {
		puppet := ""
		if member == owner {
			puppet = `,"fi.mau.double_puppet_source":"mautrix-whatsapp"`
		}
		h.setState(room, "m.room.member", member.String(), member,
			fmt.Sprintf(`{"membership":"join","displayname":%q%s}`, member.Localpart(), puppet))
	}
}

// claim has WhatsApp's bridge say which channel a room is, and describes the room.
func (h *fakeHomeserver) claim(room id.RoomID, channel, receiver, kind string) {
	h.t.Helper()
	h.setClaim(room, channel, receiver, kind)
	h.describeRoom(room)
}

// setClaim has WhatsApp's bridge say which channel a room is.
func (h *fakeHomeserver) setClaim(room id.RoomID, channel, receiver, kind string) {
	h.setState(room, "m.bridge", "fi.mau.whatsapp://x", whatsAppBot, fmt.Sprintf(
		`{"bridgebot":%q,"protocol":{"id":"whatsapp"},"channel":{"id":%q,"fi.mau.receiver":%q},"com.beeper.room_type.v2":%q}`, whatsAppBot,
		channel, receiver, kind))
}

// moveToLIDs has the bridge give a direct chat with a number the ids of a LID.
func (h *fakeHomeserver) moveToLIDs(room id.RoomID) {
	h.t.Helper()
	h.setState(room, "m.room.member", numberGhost.String(), numberGhost, `{"membership":"leave"}`)
	h.setState(room, "m.room.member", lidGhost.String(), lidGhost, `{"membership":"join","displayname":"Ana"}`)
	h.claim(room, "9988@lid", "4930", "dm")
}

// chatIn returns the chat of a room.
func (h *fakeHomeserver) chatIn(room id.RoomID) store.Chat {
	h.t.Helper()
	chats, err := store.ChatsByRoom(h.t.Context(), h.store.DB(), []id.RoomID{room})
	require.NoError(h.t, err)
	require.Contains(h.t, chats, room)
	return chats[room]
}

func (h *fakeHomeserver) setMode(chat store.Chat, mode policy.Mode) {
	h.t.Helper()
	require.NoError(h.t, h.store.InTx(h.t.Context(), func(tx store.Tx) error { return store.SetMode(h.t.Context(), tx, chat.ID, mode) }))
}

func TestClaim_OtherChannelKeepsChat(t *testing.T) {
	t.Parallel()
	for _, profile := range []policy.Profile{policy.ProfilePersonal, policy.ProfileBusiness} {
		t.Run(string(profile), func(t *testing.T) {
			t.Parallel()
			h := newFakeHomeserver(t)
			h.inbox.settings.Defaults.Profile = profile
			h.addPortal("!a:x", numberGhost)
			h.claim("!a:x", "4917@s.whatsapp.net", "4930", "dm")
			before := h.chatIn("!a:x")
			h.setMode(before, policy.ModeOff)

			h.moveToLIDs("!a:x")
			h.say("!a:x", lidGhost, "What does delivery cost?")
			now := h.chatIn("!a:x")
			require.Equal(t, before.ID, now.ID, "one and the same chat")
			require.Equal(t, "9988@lid", now.ChannelID)
			require.Equal(t, lidGhost, now.Contact)
			require.Equal(t, policy.ModeOff, now.ModeIn(h.inbox.settings.Defaults))
			require.Equal(t, 1, h.count("chats"))
			require.Zero(t, h.count("messages"), "nothing of a chat that is off is stored")
			require.Zero(t, h.jobs("turn"), "and nobody is answered there")
			require.Equal(t, 1, h.count("audit_entries where kind = 'chat' and outcome = 'channel' and chat_id = $1", before.ID))
			require.Equal(t, 1, h.count("chat_claims where chat_id = $1 and channel_id = '4917@s.whatsapp.net' and contact = $2", before.ID,
				numberGhost))

			h.claim("!a:x", "4917@s.whatsapp.net", "4930", "dm")
			require.Equal(t, before.ID, h.chatIn("!a:x").ID, "a bridge that was set back")
		})
	}
}

func TestClaim_ManyChatsMove(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	const n = 40
	ids := map[id.RoomID]store.ChatID{}
	for i := range n {
		room := id.RoomID(fmt.Sprintf("!%d:x", i))
		h.addPortal(room, id.UserID(fmt.Sprintf("@whatsapp_49%d:example.com", i)))
		h.claim(room, fmt.Sprintf("49%d@s.whatsapp.net", i), "4930", "dm")
		ids[room] = h.chatIn(room).ID
	}
	for room := range ids {
		h.claim(room, room.String()[1:3]+"00@lid", "4930", "dm")
	}
	for room, chat := range ids {
		require.Equal(t, chat, h.chatIn(room).ID)
	}
	require.Equal(t, n, h.count("chats"))
}

func TestContact_AmongLIDs(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addPortal("!a:x", lidGhost, ownLIDGhost)
	h.claim("!a:x", "9988@lid", "4930", "dm")
	chat := h.chatIn("!a:x")
	require.Equal(t, lidGhost, chat.Contact)
	require.Equal(t, ownLIDGhost, chat.SelfGhost, "the owner's own ghost is no customer")
	h.setMode(chat, policy.ModeBusiness)
	require.Equal(t, policy.AuthorOwnerPhone, h.message(h.say("!a:x", ownLIDGhost, "What do you think?")).Author)
}

// The contact's old ghost leaves only after the new one has joined. It is not the owner's.
func TestContact_KeepsFormerGhost(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addPortal("!a:x", numberGhost)
	h.claim("!a:x", "4917@s.whatsapp.net", "4930", "dm")
	h.setState("!a:x", "m.room.member", lidGhost.String(), lidGhost, `{"membership":"join","displayname":"Ana"}`)
	h.claim("!a:x", "9988@lid", "4930", "dm")
	chat := h.chatIn("!a:x")
	require.Equal(t, lidGhost, chat.Contact)
	require.Empty(t, chat.SelfGhost)
}

func TestSelfChat_IsNeverAnswered(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.inbox.settings.Defaults.Profile = policy.ProfileBusiness
	h.addPortal("!me:x", ownLIDGhost)
	h.claim("!me:x", "4930@s.whatsapp.net", "4930", "dm")
	require.Equal(t, policy.KindSelf, h.chatIn("!me:x").Kind)
	h.claim("!me:x", "7766@lid", "4930", "dm")
	require.Equal(t, policy.KindSelf, h.chatIn("!me:x").Kind, "it was one before")
	h.say("!me:x", ownLIDGhost, "Where did I put the key?")
	require.Zero(t, h.count("messages")+h.jobs("turn"))

	for room, other := range map[id.RoomID]string{"!a:x": "9988", "!b:x": "5544"} {
		h.addPortal(room, id.UserID("@whatsapp_lid-"+other+":example.com"), ownLIDGhost)
		h.claim(room, other+"@lid", "4930", "dm")
	}
	h.addPortal("!notes:x", ownLIDGhost)
	h.claim("!notes:x", "7766@lid", "4930-2", "dm")
	require.Equal(t, policy.KindDM, h.chatIn("!notes:x").Kind, "another login: nothing is known of it")
	h.addPortal("!again:x", ownLIDGhost)
	h.setState("!me:x", "m.room.tombstone", "", whatsAppBot, `{}`)
	h.claim("!again:x", "7766@lid", "4930", "dm")
	require.Equal(t, policy.KindSelf, h.chatIn("!again:x").Kind, "known from the other chats of the login")
}
