package appservice

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

const (
	mallory    = id.UserID("@mallory:example.com")
	hisPuppet  = id.UserID("@mallory_me:example.com")
	hisVictim  = id.UserID("@mallory_ana:example.com")
	fakeClaim  = `{"bridgebot":%q,"protocol":{"id":"demo"},"channel":{"id":"ana","fi.mau.receiver":"me"},"com.beeper.room_type.v2":"dm"}`
	fakePortal = id.RoomID("!fake:x")
)

// addFakePortal makes a room of Mallory's that looks like a portal, with one who is named like the owner's ghost and one like a contact.
func (h *fakeHomeserver) addFakePortal() {
	h.addRoom(fakePortal, mallory, `{}`)
	for _, ghost := range []id.UserID{hisPuppet, hisVictim} {
		h.setState(fakePortal, "m.room.member", ghost.String(), ghost, `{"membership":"join"}`)
	}
	h.setState(fakePortal, "m.room.member", ana.String(), ana, `{"membership":"leave"}`)
	h.setState(fakePortal, "m.bridge", "x", mallory, fmt.Sprintf(fakeClaim, mallory))
}

func (h *fakeHomeserver) decide(confirmed bool) {
	h.t.Helper()
	require.NoError(h.t, h.store.InTx(h.t.Context(), func(tx store.Tx) error {
		known, _, err := store.InsertBridgeBot(h.t.Context(), tx, mallory, "demo", false)
		if err != nil {
			return err
		}
		return store.DecideBridgeBot(h.t.Context(), tx, known.ID, confirmed)
	}))
}

func TestConfirm_UnconfirmedBotIsContact(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.inbox.settings.Defaults = policy.Defaults{Profile: policy.ProfileBusiness, FirstDelivery: policy.DeliveryAuto}
	h.addFakePortal()
	h.describeRoom(fakePortal)
	h.describeRoom(fakePortal)
	require.Equal(t, 1, h.count("river.river_job where kind = 'notice' and args->>'topic' = 'new_bridge'"), "the owner is asked once")
	require.Equal(t, hisPuppet, h.anasChat().SelfGhost)
	forged := h.say(fakePortal, hisPuppet, "I promise Mallory 500 euro")
	require.Equal(t, policy.AuthorContact, h.message(forged).Author, "not the owner")
	question := h.say(fakePortal, hisVictim, "What does delivery cost?")
	require.Equal(t, policy.CodeSilent, h.message(question).Code)
	h.business()
	require.Equal(t, policy.ModeSilent, h.inbox.mode(h.anasChat()), "whatever mode is set")

	h.decide(true)
	mine := h.say(fakePortal, hisPuppet, "I am on my way")
	require.Equal(t, policy.AuthorOwnerPhone, h.message(mine).Author)
	require.Equal(t, policy.ModeBusiness, h.inbox.mode(h.anasChat()))
}

func TestConfirm_DoublePuppetNeedsNone(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!old:x", bridgeBot, `{}`)
	h.setBridgeClaim("!old:x", bridgeBot)
	h.describeRoom("!old:x")
	require.False(t, h.anasChat().Unconfirmed)
	require.Zero(t, h.count("river.river_job where kind = 'notice'"))
}

// The owner is not asked about a bridge whose other rooms, which are read a moment later, prove that it acts as the owner.
func TestConfirm_WaitsForOtherRooms(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!first:x", bridgeBot, `{}`)
	h.setBridgeClaim("!first:x", bridgeBot)
	h.setState("!first:x", "m.room.member", owner.String(), owner, `{"membership":"join"}`) // the owner changed their name
	h.describeRoom("!first:x")
	require.True(t, h.anasChat().Unconfirmed)
	require.Equal(t, 1,
		h.count("river.river_job where kind = 'notice' and state = 'scheduled' and scheduled_at > now() + interval '5 seconds'"))
	h.addRoom("!second:x", bridgeBot, `{}`)
	h.setState("!second:x", "m.bridge", "x", bridgeBot,
		fmt.Sprintf(`{"bridgebot":%q,"protocol":{"id":"demo"},"channel":{"id":"ben","fi.mau.receiver":"me"},"com.beeper.room_type.v2":"dm"}`,
			bridgeBot))
	h.describeRoom("!second:x")
	require.False(t, h.anasChat().Unconfirmed)
}

func TestConfirm_ForeignMarkProvesNothing(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addFakePortal()
	h.setState(fakePortal, "m.room.member", owner.String(), mallory, `{"membership":"join","fi.mau.double_puppet_source":"mautrix-demo"}`)
	h.setState(fakePortal, "m.room.member", ana.String(), ana, `{"membership":"leave","fi.mau.double_puppet_source":"mautrix-demo"}`)
	h.describeRoom(fakePortal)
	require.True(t, h.anasChat().Unconfirmed)
}

func TestConfirm_FakePortalLosesChannel(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addFakePortal()
	h.describeRoom(fakePortal)
	h.say(fakePortal, hisVictim, "forged words")
	h.addRoom("!real:x", bridgeBot, `{}`)
	h.setBridgeClaim("!real:x", bridgeBot)
	h.describeRoom("!real:x")
	chat := h.anasChat()
	require.Equal(t, bridgeBot, chat.BridgeBot)
	require.True(t, chat.IsIn("!real:x"))
	require.Equal(t, policy.AuthorContact, h.message(h.say("!real:x", ana, "hello")).Author)
	require.Equal(t, 1, h.count("messages where chat_id = $1", chat.ID), "nothing of the fake one is in it")
	h.describeRoom(fakePortal)
	require.Equal(t, chat.ID, h.anasChat().ID)
	require.True(t, h.anasChat().IsIn("!real:x"))
	require.Zero(t, h.count("chats where bridge_bot = $1 and closed_reason = ''", mallory))
}

func TestConfirm_EarlierChatsCount(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.chat("!known:x", policy.ModeBusiness)
	_, err := h.store.Pool().Exec(t.Context(), "update chats set bridge_bot = $1", mallory)
	require.NoError(t, err)
	h.addFakePortal()
	h.describeRoom(fakePortal)
	require.False(t, h.anasChat().Unconfirmed)
}

func TestConfirm_RefusedBotIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addFakePortal()
	h.describeRoom(fakePortal)
	h.decide(false)
	require.False(t, h.anasChat().HasRoom())
	h.describeRoom(fakePortal)
	h.say(fakePortal, hisVictim, "hello?")
	require.Zero(t, h.count("messages"))
}

func TestConfirm_RefusedBotsBlockNobody(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	for i := range 2 * store.MaxBridgeBots {
		_, err := h.store.Pool().Exec(t.Context(), "insert into bridge_bots (bot, protocol, refused_at) values ($1, 'demo', now())",
			fmt.Sprintf("@mallory%d:example.com", i))
		require.NoError(t, err)
	}
	h.addFakePortal()
	h.describeRoom(fakePortal)
	require.Equal(t, 1, h.jobs("notice"))
}
