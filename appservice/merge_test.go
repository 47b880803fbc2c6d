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
	"maunium.net/go/mautrix/event"
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
	took   time.Duration // by the last description that was not killed
	chats  int           // how many there should be
	people []*person
}

// person is somebody whom the owner writes with, or a group.
type person struct {
	mode     policy.Mode
	kind     string
	room     id.RoomID
	past     []id.RoomID
	ghost    id.UserID
	channel  string
	receiver string
	note     string
	isAnew   bool // written with from another account since, which is another chat
	isUnsure bool // a new chat, which is as strict as any that it may continue
}

// next returns a word that no other room, ghost or channel has.
func (l *life) next() string {
	l.made++
	return fmt.Sprintf("%d.%d", l.story, l.made)
}

func (l *life) newRoom(p *person) {
	if p.room != "" {
		p.past = append(p.past, p.room)
	}
	p.room = id.RoomID("!" + l.next() + ":x")
	l.addPortal(p.room, p.ghost)
}

func (l *life) newGhost(p *person) {
	p.ghost = id.UserID("@whatsapp_" + l.next() + ":example.com")
	l.setState(p.room, "m.room.member", p.ghost.String(), p.ghost, `{"membership":"join"}`)
}

func (l *life) claimRoom(p *person) { l.setClaim(p.room, p.channel, p.receiver, p.kind) }

// killed does something that is killed at some point in one case of three. A new process starts then, which remembers nothing.
func (l *life) killed(after time.Duration, do func(ctx context.Context)) {
	if l.rng.IntN(3) != 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(l.rng.Int64N(int64(after)+1)))
	do(ctx)
	cancel()
	l.inbox = NewInbox(l.store, l.inbox.settings)
	l.d = NewDescriber(l.inbox, l.d.hs)
}

// look describes a room.
func (l *life) look(room id.RoomID) {
	l.killed(l.took, func(ctx context.Context) { _ = l.d.Describe(ctx, room) })
	start := time.Now()
	l.describeRoom(room)
	l.took = time.Since(start)
}

// say has a person write into a room. The homeserver repeats what a killed process did not accept.
func (l *life) say(room id.RoomID, sender id.UserID) *event.Event {
	evt := l.text(room, sender, "What does delivery cost?")
	l.mu.Lock()
	l.events[evt.ID] = evt
	l.mu.Unlock()
	l.killed(l.took, func(ctx context.Context) { _ = l.inbox.Receive(ctx, []*event.Event{evt}, "") })
	l.receive(evt)
	return evt
}

// happen lets something happen to a person's chat, as bridges do it.
func (l *life) happen(p *person) {
	old := p.room
	switch l.rng.IntN(14) {
	case 0: // the network gives the person another id
		left := p.ghost
		l.newGhost(p)
		l.setState(old, "m.room.member", left.String(), left, `{"membership":"leave"}`)
		p.channel = l.next()
	case 1: // so does a group when it becomes a supergroup
		p.channel = l.next()
	case 2:
		l.newGhost(p)
	case 3:
		l.setState(old, "m.room.name", "", whatsAppBot, fmt.Sprintf(`{"name":%q}`, l.next()))
	case 4: // an upgrade, with another id at the same time
		l.newRoom(p)
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
		l.claimRoom(p)
		l.look(p.room)
		l.replace(old, p.room, whatsAppBot)
		l.look(old)
	case 7: // another login in the same room
		p.receiver = l.next()
	case 8: // the owner leaves and comes back
		l.setState(old, "m.room.member", owner.String(), whatsAppBot, `{"membership":"leave"}`)
		l.look(old)
		l.setState(old, "m.room.member", owner.String(), whatsAppBot, `{"membership":"join"}`)
	case 9: // the owner has a new number
		receiver := l.next()
		for _, other := range l.people {
			other.receiver = receiver
			l.claimRoom(other)
			l.look(other.room)
		}
	case 10: // the owner logs in as another account, and the bridge deletes the room of the one before
		p.receiver = l.next()
		l.setState(old, "m.room.member", whatsAppBot.String(), whatsAppBot, `{"membership":"leave"}`)
		l.look(old)
		l.newRoom(p)
		p.past = nil // they are of the other account's chat, which has a mode of its own
		p.isAnew = true
		p.isUnsure = true
		l.chats++
	case 11: // somebody else comes in and goes
		stranger := "@whatsapp_" + l.next() + ":example.com"
		l.setState(old, "m.room.member", stranger, id.UserID(stranger), `{"membership":"join"}`)
		l.look(old)
		l.setState(old, "m.room.member", stranger, id.UserID(stranger), `{"membership":"leave"}`)
	case 12: // two chats swap their channels
		other := l.people[l.rng.IntN(len(l.people))]
		p.channel, other.channel = other.channel, p.channel
		p.receiver, other.receiver = other.receiver, p.receiver
		l.claimRoom(p)
		l.claimRoom(other)
		l.look(p.room)
		l.look(other.room)
	case 13: // the owner wants it otherwise
		p.mode = p.anyMode(l.rng)
		l.setMode(l.chatIn(p.room), p.mode)
	}
	l.claimRoom(p)
	l.look(p.room)
	if l.rng.IntN(2) == 0 && old != p.room {
		l.look(old)
	}
}

// anyMode returns a mode that the owner may set.
func (p *person) anyMode(rng *rand.Rand) policy.Mode {
	modes := []policy.Mode{policy.ModeOff, policy.ModeSilent, policy.ModeBusiness}
	if p.kind != "dm" { // in a group it depends on the words whether a question is answered
		modes = modes[:2]
	}
	return modes[rng.IntN(len(modes))]
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
	h.inbox.settings.StoreCap = policy.Rate{Minute: 1 << 40, Day: 1 << 40}
	for story := range stories {
		l := &life{
			fakeHomeserver: h,
			rng:            rand.New(rand.NewPCG(uint64(story), 7)),
			story:          story,
			chats:          h.count("chats where continued_in is null"),
		}
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
		l.meet("dm", mode)
	}
	l.meet("", policy.ModeOff)
	l.meet("", policy.ModeSilent)
}

// meet makes a person or a group whose chat has a mode, a delivery, a label and a note.
func (l *life) meet(kind string, mode policy.Mode) {
	p := &person{
		mode:     mode,
		kind:     kind,
		ghost:    id.UserID("@whatsapp_" + l.next() + ":example.com"),
		channel:  l.next(),
		receiver: "me",
		note:     l.next(),
	}
	l.newRoom(p)
	l.claimRoom(p)
	l.look(p.room)
	chat := l.chatIn(p.room)
	ctx := l.t.Context()
	l.setMode(chat, mode)
	require.NoError(l.t, l.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.SetDelivery(ctx, tx, chat.ID, policy.DeliveryDraft); err != nil {
			return err
		}
		return store.AddLabels(ctx, tx, chat.ID, p.note)
	}))
	_, err := l.store.Pool().Exec(ctx, `with scope as (select set_config('multis.scope', '*', false))
		insert into notes (role, chat_id, kind, body, valid_from) select 'user:' || $1::bigint, $1, 'fact', $2, now() from scope`,
		int64(chat.ID), p.note)
	require.NoError(l.t, err)
	l.people = append(l.people, p)
	l.chats++
}

// check compares a person's chat with the story.
func (l *life) check(p *person) {
	l.t.Helper()
	chat := l.chatIn(p.room)
	if mode := chat.ModeIn(l.inbox.settings.Defaults); p.isUnsure && mode.IsStricterThan(p.mode) {
		p.mode = mode
	}
	p.isUnsure = false
	evt := l.say(p.room, p.ghost)
	require.Equal(l.t, p.mode, chat.ModeIn(l.inbox.settings.Defaults), "story %d", l.story)
	stored := l.count("messages where event_id = $1", evt.ID)
	require.Equal(l.t, p.mode != policy.ModeOff, stored == 1, "story %d", l.story)
	if stored == 1 {
		require.Equal(l.t, p.mode == policy.ModeBusiness, l.message(evt).Action == policy.ActionAnswer, "story %d", l.story)
	}
	l.checkPast(p)
	linked, err := store.LinkedChats(l.t.Context(), l.store.DB(), chat.ID)
	require.NoError(l.t, err)
	if p.isAnew { // the other account's chat keeps what it had
		linked = nil
	} else {
		require.Equal(l.t, policy.DeliveryDraft, *chat.Delivery, "story %d", l.story)
		require.Equal(l.t, []string{p.note}, chat.Labels, "story %d", l.story)
	}
	var notes int
	require.NoError(l.t, l.store.InTx(l.t.Context(), func(tx store.Tx) error {
		if _, err := tx.Exec(l.t.Context(), "select set_config('multis.scope', '*', true)"); err != nil {
			return err
		}
		return tx.QueryRow(l.t.Context(), "select count(*) from notes where body = $1 and (chat_id = any ($2) or $2 is null)", p.note,
			linked).Scan(&notes)
	}))
	require.Equal(l.t, 1, notes, "story %d: the note is still known", l.story)
	require.Equal(l.t, l.chats, l.count("chats where continued_in is null"), "story %d: no chat twice", l.story)
}

// checkPast has somebody write into a room that was the chat's before.
func (l *life) checkPast(p *person) {
	l.t.Helper()
	if len(p.past) == 0 || p.mode == policy.ModeBusiness {
		return
	}
	evt := l.say(p.past[l.rng.IntN(len(p.past))], p.ghost)
	stored := l.count("messages where event_id = $1", evt.ID)
	if p.mode == policy.ModeOff {
		require.Zero(l.t, stored, "story %d: written in a former room", l.story)
	}
	if stored == 1 {
		require.NotEqual(l.t, policy.ActionAnswer, l.message(evt).Action, "story %d: written in a former room", l.story)
	}
}
