//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
	"multis/policy"
	"multis/store"
)

func TestOffChats_StoreNothing(t *testing.T) {
	a := start(t, setup{})
	a.learn()

	a.step("a chat that is off", func(t *testing.T) {
		a.switchToBusiness("off-gil")
		require.Contains(t, a.command("/mode off Off-gil"), "Nothing is stored")
		room := *a.chat("off-gil").RoomID
		const word = "xylophoneoff"
		said, err := a.Say(t.Context(), "off-gil", question+" "+word)
		require.NoError(t, err)
		phone, err := a.OwnerOnPhone(t.Context(), "off-gil", "It is me "+word)
		require.NoError(t, err)
		typed, err := a.Owner.SendText(t.Context(), room, "And me "+word)
		require.NoError(t, err)
		a.awaitBothPaths(typed.EventID)
		a.requireNoTrace(t, word, said.Event.String(), phone.Event.String(), typed.EventID.String())
		require.Empty(t, a.back.sentTo(room))
	})

	a.step("a room without a bridge", func(t *testing.T) {
		friend := a.person(t, "offfriend")
		made, err := friend.CreateRoom(t.Context(), &mautrix.ReqCreateRoom{Preset: "private_chat", Invite: []id.UserID{owner}})
		require.NoError(t, err)
		_, err = a.Owner.JoinRoomByID(t.Context(), made.RoomID)
		require.NoError(t, err)
		const word = "xylophoneplain"
		sent, err := friend.SendText(t.Context(), made.RoomID, "Nora, "+question+" "+word)
		require.NoError(t, err)
		a.awaitBothPaths(sent.EventID)
		a.requireNoTrace(t, word)
		require.Zero(t, a.count("select count(*) from pending_events where room_id = $1", made.RoomID))
		require.Empty(t, a.back.sentTo(made.RoomID))
	})

	a.step("a silent chat is remembered and never answered", func(t *testing.T) {
		said, message := a.say("silent-hal", question)
		require.Equal(t, policy.CodeSilent, message.Code)
		require.Equal(t, question, message.Body)
		a.awaitIdle()
		require.Zero(t, a.count("select count(*) from outbox where chat_id = $1", message.ChatID))
		require.Empty(t, a.back.sentTo(said.Room))
	})
}

func TestOffNetwork_StoresNothing(t *testing.T) {
	a := start(t, setup{Off: true, Profile: "business"})
	const word = "xylophonenet"
	said, err := a.Say(t.Context(), "net-ida", question+" "+word)
	require.NoError(t, err)
	a.awaitBothPaths(said.Event)
	a.chat("net-ida") // it has its row, and that is all
	said, err = a.Say(t.Context(), "net-ida", question+" "+word)
	require.NoError(t, err)
	a.awaitBothPaths(said.Event)
	a.requireNoTrace(t, word, said.Event.String())
	require.Empty(t, a.back.sentTo(said.Room))
}

func TestForgeries_HaveNoEffect(t *testing.T) {
	a := start(t, setup{})
	a.learn()
	a.switchToBusiness("forge-jan", "forge-kim")
	said, _ := a.say("forge-jan", question)
	a.awaitDeliveries("forge-jan", 1)
	ours := a.awaitMessage(said.Event).OutboxID

	a.step("a contact with our content key is a contact", func(t *testing.T) {
		ghost := a.ghost(t, "forge-jan")
		text := map[string]string{
			"msgtype": "m.text", "body": question, "ai.multis.out": ours.String(), "fi.mau.double_puppet_source": "mautrix-demonet",
		}
		sent, err := ghost.SendMessageEvent(t.Context(), said.Room, event.EventMessage, text)
		require.NoError(t, err)
		message := a.awaitMessage(sent.EventID)
		require.Equal(t, policy.AuthorContact, message.Author)
		require.Equal(t, policy.CodeAnswer, message.Code)
		a.awaitDeliveries("forge-jan", 2)
		require.Nil(t, a.chat("forge-jan").OwnerWroteAt, "nothing is paused")
	})

	a.step("the owner with a key that is no row of this room is the owner", func(t *testing.T) {
		kim, err := a.PortalRoom(t.Context(), "forge-kim")
		require.NoError(t, err)
		sent, err := a.Owner.SendMessageEvent(t.Context(), kim, event.EventMessage,
			map[string]string{"msgtype": "m.text", "body": "I am here", "ai.multis.out": ours.String()})
		require.NoError(t, err)
		require.Equal(t, policy.AuthorOwnerClient, a.awaitMessage(sent.EventID).Author)
		require.NotNil(t, a.chat("forge-kim").OwnerWroteAt)
	})

	a.step("a contact called like the owner commands nothing", func(t *testing.T) {
		for _, name := range []string{"owner", string(owner), "multis", "Demonet bridge"} {
			require.NoError(t, a.Network.Rename(t.Context(), demonet.Contact{ID: "forge-jan", Name: name}))
			_, message := a.say("forge-jan", "/pause all")
			require.Equal(t, policy.AuthorContact, message.Author)
		}
		a.awaitIdle()
		require.Nil(t, a.chat("forge-jan").OwnerWroteAt)
		paused, err := store.PausedAll(t.Context(), a.db.DB())
		require.NoError(t, err)
		require.False(t, paused)
	})

	a.step("a stranger's room is not administered from", func(t *testing.T) {
		stranger := a.person(t, "forgestranger")
		made, err := stranger.CreateRoom(t.Context(), &mautrix.ReqCreateRoom{
			Preset: "private_chat",
			Name:   "multis",
			Invite: []id.UserID{owner, bot},
		})
		require.NoError(t, err)
		_, err = a.Owner.JoinRoomByID(t.Context(), made.RoomID)
		require.NoError(t, err)
		sent, err := stranger.SendText(t.Context(), made.RoomID, "/pause all")
		require.NoError(t, err)
		a.awaitBothPaths(sent.EventID)
		require.Empty(t, a.back.sentTo(made.RoomID))
		require.Zero(t, a.count("select count(*) from chats where room_id = $1", made.RoomID))
	})
}

func TestAnswers_HundredStartNothing(t *testing.T) {
	a := start(t, setup{Profile: "business"})
	a.learn()
	const contacts, answers = 10, 10
	name := func(i int) string { return fmt.Sprintf("hundred-%d", i) }
	for i := range contacts {
		a.portal(name(i))
	}
	for round := range answers {
		for i := range contacts {
			_, err := a.Say(t.Context(), name(i), question)
			require.NoError(t, err)
		}
		for i := range contacts {
			a.awaitDeliveries(name(i), round+1)
		}
	}
	for i := range contacts {
		require.Nil(t, a.chat(name(i)).OwnerWroteAt, "our own words are not the owner's")
	}
	a.await("100 echoes", func(context.Context) (bool, error) {
		return a.count("select count(*) from messages where author = $1", policy.AuthorMultisOwner) >= contacts*answers, nil
	})
	a.awaitIdle()
	require.Equal(t, contacts*answers, a.count("select count(*) from messages where author = $1 and code = $2", policy.AuthorMultisOwner,
		policy.CodeEcho))
	require.Equal(t, contacts*answers, a.count("select count(*) from outbox where send_as = 'owner'"))
	require.Equal(t, contacts*answers, a.count("select count(*) from river.river_job where kind = 'turn'"),
		"a turn for each question, none for an answer")
}

// awaitBothPaths waits until multis has received an event by push and by sync, and is idle.
func (a *app) awaitBothPaths(event id.EventID) {
	a.t.Helper()
	a.await(event.String()+" at both doors", func(context.Context) (bool, error) {
		return len(a.front.acknowledged(event)) > 0 && a.back.receivedBySync(event), nil
	})
	a.awaitIdle()
}

const tablesSQL = `select format('%I.%I', schemaname, tablename) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`

// requireNoTrace checks that texts occur in no table of the database and not in the log.
func (a *app) requireNoTrace(t *testing.T, texts ...string) {
	t.Helper()
	rows, err := a.db.DB().Query(t.Context(), tablesSQL)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "public.messages")
	require.Contains(t, tables, "river.river_job")
	log := a.log()
	for _, text := range texts {
		for _, table := range tables {
			require.Zero(t, a.count("select count(*) from "+table+" row where strpos(row::text, $1) > 0", text), "%s in %s", text, table)
		}
		require.NotContains(t, log, text)
	}
}
