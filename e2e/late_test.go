//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/e2e/bridge/demonet"
	"multis/policy"
)

// tooOldLine returns a line that is far too old to be answered.
func tooOldLine(text string) demonet.Line {
	return demonet.Line{Text: text, Time: time.Now().Add(-24 * time.Hour)}
}

func TestDowntime_OldMessagesStayUnanswered(t *testing.T) {
	contacts := map[string]int{"late-ann": 25, "late-bea": 15, "late-cid": 10}
	a := start(t, setup{})
	a.learn()
	for contact := range contacts {
		a.switchToBusiness(contact)
	}
	a.awaitIdle()
	before := a.count("select count(*) from outbox")
	a.front.shut(true)
	require.NoError(t, a.process.Term())

	hourAgo := time.Now().Add(-time.Hour)
	for contact, n := range contacts {
		t.Run(contact, func(t *testing.T) {
			for i := range n {
				line := demonet.Line{Text: fmt.Sprintf("%s (%d)", question, i), Time: hourAgo.Add(time.Duration(i) * 90 * time.Second)}
				_, err := a.Network.Say(t.Context(), contact, line)
				require.NoError(t, err)
			}
		})
	}
	a.front.shut(false)
	a.run()

	a.await("50 late messages", func(context.Context) (bool, error) {
		return a.count("select count(*) from messages where code = $1", policy.CodeStale) == 50, nil
	})
	a.await("a word about them", func(context.Context) (bool, error) {
		return a.count("select count(*) from outbox") > before, nil
	})
	a.awaitIdle()
	for contact, n := range contacts {
		t.Run(contact, func(t *testing.T) {
			chat := a.chat(contact).ID
			require.Equal(t, n, a.count("select count(*) from messages where chat_id = $1 and code = $2 and answered_at is null", chat,
				policy.CodeStale))
			a.awaitDeliveries(contact, 0)
		})
	}
	require.Equal(t, 1, a.count("select count(*) from outbox")-before, "one message about all of it, to the admin room")
	notice := ""
	a.await("the owner to see it", func(context.Context) (bool, error) {
		notice = last(a.notices())
		return strings.Contains(notice, "50 messages in 3 chats"), nil
	})
	for contact, n := range contacts {
		t.Run(contact, func(t *testing.T) {
			require.Regexp(t, fmt.Sprintf(`%s.* — %d\b`, strings.ToUpper(contact[:1])+contact[1:], n), notice)
		})
	}
}

func TestBackfill_IsNotAnswered(t *testing.T) {
	a := start(t, setup{Profile: "business"})
	a.learn()
	lastYear := time.Now().AddDate(-1, 0, 0)
	lines := make([]demonet.Line, history)
	for i := range lines {
		lines[i] = demonet.Line{Text: fmt.Sprintf("%s (%d)", question, i), Time: lastYear.Add(time.Duration(i) * time.Minute), OnPhone: i%10 == 9}
	}
	for n := range chats {
		contact := fmt.Sprintf("history-%d", n)
		require.NoError(t, a.Network.Backfill(t.Context(), contact, lines))
		chat := a.chat(contact)
		a.await("the whole history", func(context.Context) (bool, error) {
			return a.count("select count(*) from messages where chat_id = $1", chat.ID) >= history, nil
		})
		a.awaitIdle()
		require.Equal(t, history, a.count("select count(*) from messages where chat_id = $1", chat.ID))
		require.Zero(t, a.count("select count(*) from river.river_job where kind = 'turn' and (args->>'chat')::bigint = $1", chat.ID))
		require.Empty(t, a.back.sentTo(*chat.RoomID))
	}
	require.Zero(t, a.count("select count(*) from outbox where send_as = 'owner'"))
	const byTheClock = "'check_bridges', 'embed', 'execution', 'find_captures', 'index_folders', 'index_messages', 'remind_commitments', 'tick'"
	const kindsSQL = "select string_agg(format('%s %s', count, kind), ', ') from (select kind, count(*) from river.river_job group by kind) k"
	var kinds string
	require.NoError(t, a.db.DB().QueryRow(t.Context(), kindsSQL).Scan(&kinds))
	require.Less(t, a.count("select count(*) from river.river_job where kind not in ("+byTheClock+")"), 50+10*chats,
		"the number of jobs grows with the chats, not with their history: %s", kinds)

	_, message := a.say("history-0", question)
	require.Equal(t, policy.CodeAnswer, message.Code, "what is said now is answered")
	require.Contains(t, a.awaitDeliveries("history-0", 1)[0].Text, "80 EUR")
}

func TestImport_ReadsEarlierMessages(t *testing.T) {
	const lines, contact = 130, "past-zoe"
	lastYear := time.Now().AddDate(-1, 0, 0)
	past := make([]demonet.Line, lines)
	for i := range past {
		past[i] = demonet.Line{Text: fmt.Sprintf("%s (%d)", question, i), Time: lastYear.Add(time.Duration(i) * time.Hour), OnPhone: i%10 == 9}
	}
	require.NoError(t, plainWorlds.claim(t).Network.Backfill(t.Context(), contact, past))
	a := start(t, setup{Profile: "business"})
	a.learn()
	chat := a.chat(contact)
	require.Zero(t, a.count("select count(*) from messages where chat_id = $1", chat.ID), "nothing is read unasked")

	require.Contains(t, a.command("/import "+chat.Name), "I read")
	said, _ := a.say(contact, question) // meanwhile
	a.await("a word that it is done", func(context.Context) (bool, error) {
		return a.countNotices(fmt.Sprintf("%d older messages", lines)) == 1, nil
	})
	require.Contains(t, a.awaitDeliveries(contact, 1)[0].Text, "80 EUR", "only what is asked now")
	require.NotNil(t, a.awaitMessage(said.Event).OutboxID)
	require.Equal(t, lines, a.count("select count(*) from messages where chat_id = $1 and outbox_id is null and author <> 'multis_owner'",
		chat.ID))
	require.Nil(t, a.chat(contact).OwnerWroteAt, "what the owner wrote then is no pause now")
	require.Contains(t, a.command("/import "+chat.Name), "I read")
	a.await("a word that there was nothing more", func(context.Context) (bool, error) {
		return a.countNotices(": 0 older messages") == 1, nil
	})
}
