package appservice

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

func TestMerge_TombstoneContinuesChat(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.inbox.settings.Defaults.Profile = policy.ProfileBusiness
	h.addPortal("!number:x", numberGhost)
	h.claim("!number:x", "4917@s.whatsapp.net", "4930", "dm")
	first := h.chatIn("!number:x")
	h.setMode(first, policy.ModeBusiness)
	waits := h.say("!number:x", numberGhost, "What does delivery cost?")
	h.setMode(first, policy.ModeSilent)
	h.addPortal("!lid:x", lidGhost)
	h.claim("!lid:x", "9988@lid", "4930", "dm")
	second := h.chatIn("!lid:x")
	require.NotEqual(t, first.ID, second.ID)

	h.replace("!number:x", "!lid:x", whatsAppBot)
	h.setState("!number:x", "m.room.member", owner.String(), whatsAppBot, `{"membership":"leave"}`) // the bridge deletes the room at once
	h.describeRoom("!number:x")
	h.describeRoom("!lid:x")
	now := h.chatIn("!lid:x")
	require.Equal(t, second.ID, now.ID)
	require.Equal(t, policy.ModeSilent, now.ModeIn(h.inbox.settings.Defaults), "the stricter of both")
	require.Equal(t, second.ID, h.message(waits).ChatID)
	linked, err := store.LinkedChats(t.Context(), h.store.DB(), now.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, []store.ChatID{first.ID, second.ID}, linked, "notes of both are read")
	require.Equal(t, 1, h.count("river.river_job where kind = 'notice' and args->>'topic' = 'mode_kept'"), "asked once")
	listed, err := store.ListChats(t.Context(), h.store.DB(), "", 10, 0)
	require.NoError(t, err)
	require.Len(t, listed, 1)
}

func TestMerge_SwappedChannelsStayApart(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addPortal("!a:x", "@whatsapp_1:example.com")
	h.addPortal("!b:x", "@whatsapp_2:example.com")
	h.claim("!a:x", "1@s.whatsapp.net", "4930", "dm")
	h.claim("!b:x", "2@s.whatsapp.net", "4930", "dm")
	a, b := h.chatIn("!a:x"), h.chatIn("!b:x")
	h.setClaim("!a:x", "2@s.whatsapp.net", "4930", "dm")
	h.setClaim("!b:x", "1@s.whatsapp.net", "4930", "dm")
	h.describeRoom("!a:x")
	h.describeRoom("!b:x")
	require.Equal(t, a.ID, h.chatIn("!a:x").ID)
	require.Equal(t, b.ID, h.chatIn("!b:x").ID)
	require.Equal(t, "2@s.whatsapp.net", h.chatIn("!a:x").ChannelID)
	require.Equal(t, "1@s.whatsapp.net", h.chatIn("!b:x").ChannelID)
}

func TestMerge_OtherBotIsAskedAbout(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addRoom("!ana:x", bridgeBot, `{}`)
	h.setBridgeClaim("!ana:x", bridgeBot)
	h.describeRoom("!ana:x")
	const eve = id.UserID("@evebot:example.com")
	h.addRoom("!eve:x", eve, `{}`)
	h.setState("!eve:x", "m.bridge", "x", eve,
		fmt.Sprintf(`{"bridgebot":%q,"protocol":{"id":"demo"},"channel":{"id":"eve","fi.mau.receiver":"me"},"com.beeper.room_type.v2":"dm"}`,
			eve))
	h.describeRoom("!eve:x")
	h.setBridgeClaim("!eve:x", eve)
	h.describeRoom("!eve:x")
	require.True(t, h.anasChat().IsIn("!ana:x"))
	require.Equal(t, 1, h.count("bridge_changes"))
}

func TestKeepMode_OtherLoginStaysOff(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.inbox.settings.Defaults.Profile = policy.ProfileBusiness
	h.addPortal("!a:x", numberGhost)
	h.claim("!a:x", "4917@s.whatsapp.net", "4930", "dm")
	h.setMode(h.chatIn("!a:x"), policy.ModeOff)
	h.addPortal("!again:x", numberGhost)
	h.claim("!again:x", "4917@s.whatsapp.net", "4931", "dm")
	require.Equal(t, policy.ModeOff, h.chatIn("!again:x").ModeIn(h.inbox.settings.Defaults))
	require.Equal(t, 1, h.count("river.river_job where kind = 'notice' and args->>'topic' = 'mode_kept'"))
	h.setMode(h.chatIn("!again:x"), policy.ModeBusiness)
	h.describeRoom("!again:x")
	require.Equal(t, policy.ModeBusiness, h.chatIn("!again:x").ModeIn(h.inbox.settings.Defaults), "the owner's word counts")
}

// The owner sets the mode between the look at a chat and the transaction that stores what its bridge claims.
func TestKeepMode_ChangeOfOwnerMeanwhile(t *testing.T) {
	t.Parallel()
	h := newFakeHomeserver(t)
	h.addPortal("!a:x", numberGhost)
	h.claim("!a:x", "4917@s.whatsapp.net", "4930", "dm")
	before := h.chatIn("!a:x")
	require.Equal(t, policy.ModeSilent, before.ModeIn(h.inbox.settings.Defaults))
	h.setMode(before, policy.ModeBusiness)
	require.NoError(t, h.store.InTx(t.Context(), func(tx store.Tx) error {
		_, err := h.d.storeClaim(t.Context(), tx, knownChat{before: before, isKnown: true}, before, store.BridgeBot{Bot: before.BridgeBot})
		return err
	}))
	require.Equal(t, policy.ModeBusiness, h.chatIn("!a:x").ModeIn(h.inbox.settings.Defaults))

	h.addPortal("!b:x", "@whatsapp_2:x")
	h.claim("!b:x", "4918@s.whatsapp.net", "4930", "dm")
	from := h.chatIn("!b:x")
	h.setMode(from, policy.ModeOff)
	_, err := h.d.continueChat(t.Context(), from, before)
	require.NoError(t, err)
	require.Equal(t, policy.ModeOff, h.chatIn("!a:x").ModeIn(h.inbox.settings.Defaults), "off survives a merge")
}

// life is the random story of the chats of one bridge.
type life struct {
	*fakeHomeserver

	rng    *rand.Rand
	story  int
	made   int
	people []*person
}

// person is somebody whom the owner writes with.
type person struct {
	mode     policy.Mode
	room     id.RoomID
	ghost    id.UserID
	channel  string
	receiver string
	note     string
}

// next returns a word that no other room, ghost or channel has.
func (l *life) next() string {
	l.made++
	return fmt.Sprintf("%d.%d", l.story, l.made)
}

func (l *life) newRoom(p *person) {
	p.room = id.RoomID("!" + l.next() + ":x")
	l.addPortal(p.room, p.ghost)
}

func (l *life) newGhost(p *person) {
	p.ghost = id.UserID("@whatsapp_" + l.next() + ":example.com")
	l.setState(p.room, "m.room.member", p.ghost.String(), p.ghost, `{"membership":"join"}`)
}

// look describes a room. Before, one description in three is killed at some point.
func (l *life) look(room id.RoomID) {
	if l.rng.IntN(3) == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(l.rng.IntN(12000))*time.Microsecond)
		_ = l.d.Describe(ctx, room)
		cancel()
	}
	l.describeRoom(room)
}

// happen lets something happen to a person's chat, as bridges do it.
func (l *life) happen(p *person) {
	old := p.room
	switch l.rng.IntN(9) {
	case 0: // the network gives the person another id
		left := p.ghost
		l.newGhost(p)
		l.setState(old, "m.room.member", left.String(), left, `{"membership":"leave"}`)
		p.channel = l.next()
	case 1:
		p.channel = l.next()
	case 2:
		l.newGhost(p)
	case 3:
		l.setState(old, "m.room.name", "", whatsAppBot, fmt.Sprintf(`{"name":%q}`, l.next()))
	case 4: // an upgrade, with another id at the same time
		p.room = id.RoomID("!" + l.next() + ":x")
		l.addPortal(p.room, p.ghost)
		l.setState(p.room, "m.room.create", "", whatsAppBot, fmt.Sprintf(`{"predecessor":{"room_id":%q}}`, old))
		if l.rng.IntN(2) == 0 {
			p.channel = l.next()
		}
		l.replace(old, p.room, whatsAppBot)
	case 5: // the bridge makes the room anew
		l.newRoom(p)
	case 6: // a second chat with the person, into which the first one is merged
		p.channel = l.next()
		l.newRoom(p)
		l.setClaim(p.room, p.channel, p.receiver, "dm")
		l.look(p.room)
		l.replace(old, p.room, whatsAppBot)
		l.look(old)
	case 7: // another login in the same room
		p.receiver = l.next()
	case 8: // the owner leaves and comes back
		l.setState(old, "m.room.member", owner.String(), whatsAppBot, `{"membership":"leave"}`)
		l.look(old)
		l.setState(old, "m.room.member", owner.String(), whatsAppBot, `{"membership":"join"}`)
	}
	l.setClaim(p.room, p.channel, p.receiver, "dm")
	l.look(p.room)
	if l.rng.IntN(2) == 0 && old != p.room {
		l.look(old)
	}
}

// TestLifeOfChats_ModeAndNotesSurvive tells random stories of chats: MULTIS_STORIES of them, or some.
func TestLifeOfChats_ModeAndNotesSurvive(t *testing.T) {
	t.Parallel()
	stories := 4
	if n, err := strconv.Atoi(os.Getenv("MULTIS_STORIES")); err == nil {
		stories = n
	}
	h := newFakeHomeserver(t)
	h.inbox.settings.Defaults.Profile = policy.ProfileBusiness
	for story := range stories {
		l := &life{fakeHomeserver: h, rng: rand.New(rand.NewPCG(uint64(story), 7)), story: story}
		l.begin()
		for range 10 {
			p := l.people[l.rng.IntN(len(l.people))]
			l.happen(p)
			l.check(p)
		}
	}
	require.Zero(t, h.count("chats c join chats o on o.room_id = c.room_id and o.id < c.id"))
}

// begin makes the people of a story.
func (l *life) begin() {
	for _, mode := range []policy.Mode{policy.ModeOff, policy.ModeSilent, policy.ModeBusiness} {
		p := &person{
			mode:     mode,
			ghost:    id.UserID("@whatsapp_" + l.next() + ":example.com"),
			channel:  l.next(),
			receiver: "me",
			note:     l.next(),
		}
		l.newRoom(p)
		l.claim(p.room, p.channel, p.receiver, "dm")
		chat := l.chatIn(p.room)
		l.setMode(chat, mode)
		_, err := l.store.Pool().Exec(l.t.Context(), `with scope as (select set_config('multis.scope', '*', false))
			insert into notes (role, chat_id, kind, body, valid_from) select 'user:' || $1::bigint, $1, 'fact', $2, now() from scope`,
			int64(chat.ID), p.note)
		require.NoError(l.t, err)
		l.people = append(l.people, p)
	}
}

// check compares a person's chat with the story.
func (l *life) check(p *person) {
	l.t.Helper()
	chat := l.chatIn(p.room)
	evt := l.say(p.room, p.ghost, "What does delivery cost?")
	require.Equal(l.t, p.mode, chat.ModeIn(l.inbox.settings.Defaults), "story %d", l.story)
	stored := l.count("messages where event_id = $1", evt.ID)
	require.Equal(l.t, p.mode != policy.ModeOff, stored == 1, "story %d", l.story)
	if stored == 1 {
		require.Equal(l.t, p.mode == policy.ModeBusiness, l.message(evt).Action == policy.ActionAnswer, "story %d", l.story)
	}
	linked, err := store.LinkedChats(l.t.Context(), l.store.DB(), chat.ID)
	require.NoError(l.t, err)
	var notes int
	require.NoError(l.t, l.store.InTx(l.t.Context(), func(tx store.Tx) error {
		if _, err := tx.Exec(l.t.Context(), "select set_config('multis.scope', '*', true)"); err != nil {
			return err
		}
		return tx.QueryRow(l.t.Context(), "select count(*) from notes where body = $1 and chat_id = any ($2)", p.note, linked).Scan(&notes)
	}))
	require.Equal(l.t, 1, notes, "story %d: the note is still known", l.story)
	require.Equal(l.t, len(l.people)*(l.story+1), l.count("chats where continued_in is null"), "story %d: no chat twice", l.story)
}
