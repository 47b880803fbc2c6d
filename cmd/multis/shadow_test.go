package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/knowledge"
	"multis/policy"
	"multis/store/storetest"
)

const (
	shadowRooms = 10
	// shadowTurns is how many questions are asked; MULTIS_TEST_SHADOW_TURNS sets another number.
	shadowTurns = 20
)

// TestShadow_YesNeverSends asks questions in chats on shadow and gives each card of an answer a yes, as a reaction and as
// a reply. All is real but the homeserver, which sees every request.
func TestShadow_YesNeverSends(t *testing.T) {
	t.Parallel()
	turns := shadowTurns
	if n, err := strconv.Atoi(os.Getenv("MULTIS_TEST_SHADOW_TURNS")); err == nil {
		turns = n
	}
	r := startServeOn(t, 1, storetest.DSN(t), strings.Replace(serveConfig, "first_delivery: auto", "first_delivery: shadow", 1))
	_, err := knowledge.New(r.db).Index(t.Context(), knowledge.File{
		Name: "prices.md",
		Data: []byte("# Prices\n\nA consultation costs 80 EUR.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	r.hs.mu.Lock()
	r.hs.fail = func() failure { return noFailure } // each would hold up the admin room
	r.hs.mu.Unlock()
	for n := range shadowRooms {
		room := &testRoom{
			hsRoom:     &hsRoom{ID: id.RoomID(fmt.Sprintf("!shadow%d:x", n))},
			kind:       roomDM,
			encryption: "no",
			contact:    id.UserID(fmt.Sprintf("@demo_s%d:x", n)),
		}
		room.Members = map[id.UserID]bool{testOwner: true, testBridgeBot: true, room.contact: true}
		room.State = room.initialState(n)
		r.rooms = append(r.rooms, room)
		r.hs.add(room.hsRoom)
	}
	answered := map[id.EventID]bool{} // the cards
	for asked := 0; asked < turns; {
		var questions []*event.Event
		for n := 0; n < shadowRooms && asked < turns; n++ {
			asked++
			questions = append(questions, r.hs.appendEvent(textEvent(r.rooms[n].ID, r.rooms[n].contact,
				fmt.Sprintf("What does a consultation cost, please? (%d)", asked))))
		}
		require.True(t, r.pushTransaction(questions))
		r.awaitIdle()
		var yeses []*event.Event
		for _, card := range r.newShadowCards(answered) {
			yeses = append(yeses, r.hs.appendEvent(card.react("👍")), r.hs.appendEvent(card.reply("yes")))
		}
		require.True(t, r.pushTransaction(yeses))
		r.awaitIdle()
	}
	require.Len(t, answered, turns, "each answer is shown")
	require.Equal(t, turns, r.count("select count(*) from outbox where state = 'shadow' and mark = 'good'"), "each yes is taken as a mark")
	require.Zero(t, r.count("select count(*) from outbox o join chats c on c.id = o.chat_id where c.kind = 'dm' and o.state <> 'shadow'"))
	r.hs.mu.Lock()
	defer r.hs.mu.Unlock()
	for _, sent := range r.hs.puts {
		require.Nil(t, r.room(sent.Room), "a send by %s", sent.Sender)
	}
}

// textEvent is a message with a text.
func textEvent(room id.RoomID, sender id.UserID, body string) *event.Event {
	return &event.Event{
		Type: event.EventMessage, RoomID: room, Sender: sender, Timestamp: time.Now().UnixMilli(),
		Content: event.Content{Parsed: &event.MessageEventContent{MsgType: event.MsgText, Body: body}},
	}
}

// shadowCard is a card of a shadow answer in the admin room.
type shadowCard struct {
	room  id.RoomID
	event id.EventID
}

// newShadowCards returns the cards that were sent since the last time.
func (r *run) newShadowCards(known map[id.EventID]bool) (cards []shadowCard) {
	r.hs.mu.Lock()
	defer r.hs.mu.Unlock()
	for _, sent := range r.hs.puts {
		card := r.hs.taken[string(sent.Room)+" "+sent.Txn]
		body, _ := sent.Event.Content.Raw["body"].(string)
		if card == "" || known[card] || !strings.Contains(body, "Shadow answer for") {
			continue
		}
		known[card] = true
		cards = append(cards, shadowCard{sent.Room, card})
	}
	return cards
}

func (c shadowCard) react(key string) *event.Event {
	return &event.Event{
		Type: event.EventReaction, RoomID: c.room, Sender: testOwner, Timestamp: time.Now().UnixMilli(),
		Content: event.Content{Parsed: &event.ReactionEventContent{RelatesTo: event.RelatesTo{
			Type: event.RelAnnotation, EventID: c.event,
			Key: key,
		}}},
	}
}

func (c shadowCard) reply(body string) *event.Event {
	evt := textEvent(c.room, testOwner, body)
	evt.Content.AsMessage().RelatesTo = &event.RelatesTo{InReplyTo: &event.InReplyTo{EventID: c.event}}
	return evt
}
