//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/llm/llmtest"
)

var stepAsked = regexp.MustCompile(`Your step: (\w+)`)

func TestPlan_SurvivesKillAtEachStep(t *testing.T) {
	var mu sync.Mutex
	var a *app
	killed, dead := map[string]bool{}, make(chan string, 1)
	kill := func(at string) bool { // once each
		mu.Lock()
		defer mu.Unlock()
		if killed[at] {
			return false
		}
		killed[at] = true
		if err := a.process.Kill(); err != nil {
			panic(err) // a child of ours that cannot be killed
		}
		dead <- at
		return true
	}
	model := llmtest.Start(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
		at := "plan"
		if found := stepAsked.FindStringSubmatch(r.Last()); found != nil {
			at = found[1]
		}
		if kill(at) {
			<-ctx.Done()
		}
		if at == "plan" {
			return llmtest.Reply{Text: `{"steps": [{"text": "first"}, {"text": "second"}, {"text": "third"}]}`}
		}
		return llmtest.Reply{Text: fmt.Sprintf(`{"sentences": [{"text": "The %s is done.", "source": 0, "quote": ""}]}`, at)}
	})
	a = start(t, setup{Model: model.URL})
	revived := func(at string) {
		t.Helper()
		require.Equal(t, at, <-dead)
		a.run()
	}
	a.write("/plan count to three")
	revived("plan")
	var shown id.EventID
	a.await("the plan", func(ctx context.Context) (bool, error) {
		err := a.db.DB().QueryRow(ctx,
			"select coalesce(max(o.event_id), '') from dialogs d join outbox o on o.id = d.outbox_id where d.kind = 'allow-call'").Scan(&shown)
		return shown != "", err
	})
	_, err := a.Owner.SendReaction(t.Context(), a.adminRoom(), shown, "👍")
	require.NoError(t, err)
	for _, at := range []string{"first", "second", "third"} {
		revived(at)
	}
	said := 0
	a.await("what the plan came to", func(context.Context) (bool, error) {
		said = 0
		over := false
		for _, text := range a.notices() {
			if strings.HasPrefix(text, "* ") { // an edit, which shows the progress of a step
				continue
			}
			said += strings.Count(text, "The first is done.")
			over = over || strings.Contains(text, "The third is done.")
		}
		return over, nil
	})
	require.Equal(t, 1, said, "what it came to is said once")
	require.Equal(t, 4, a.count("select count(*) from tasks where state = 'completed'"))
}

func TestAgents_HandoffAndSpaceChooseAgent(t *testing.T) {
	model := llmtest.Start(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		switch {
		case strings.Contains(r.System, "You are Sam"):
			return llmtest.Reply{Text: draft}
		case len(r.Messages) == 1:
			return llmtest.Reply{Calls: []llmtest.Call{{Name: "handoff", Args: `{"agent": "shop", "summary": "It is about a price."}`}}}
		default:
			return llmtest.Reply{Text: `{"sentences": []}`}
		}
	})
	space, err := plainWorlds.claim(t).Owner.CreateRoom(t.Context(),
		&mautrix.ReqCreateRoom{Name: "Shop", CreationContent: map[string]any{"type": event.RoomTypeSpace}})
	require.NoError(t, err)
	a := start(t, setup{
		Profile: "business", Model: model.URL,
		Agents: fmt.Sprintf(`{main: {default: true, delegates: [shop]}, shop: {name: Sam, spaces: [%q]}}`, space.RoomID),
	})
	a.learn()
	require.Contains(t, a.command(question), "@shop continues here: It is about a price.")
	a.await("the other one's answer", func(context.Context) (bool, error) {
		return strings.Contains(last(a.notices()), "It costs 80 EUR."), nil
	})
	require.Contains(t, a.command("/agents"), "@shop Sam (answers here)")

	room := a.portal("space-ina")
	inSpace := func(content string, want int) {
		t.Helper()
		_, err := a.Owner.SendStateEvent(t.Context(), space.RoomID, event.StateSpaceChild, room.String(),
			map[string]any{"via": strings.Fields(content)})
		require.NoError(t, err)
		a.await("the chat's spaces", func(ctx context.Context) (bool, error) {
			return a.exists(ctx, "select cardinality(spaces) = $2 from chats where room_id = $1", room, want)
		})
	}
	inSpace(devstack.Domain, 1)
	_, err = a.Say(t.Context(), "space-ina", question)
	require.NoError(t, err)
	require.Contains(t, a.awaitDeliveries("space-ina", 1)[0].Text, "[Sam] It costs 80 EUR.")
	require.Contains(t, a.command("/why"), "@shop answers there, by the space that the room is in.")
	inSpace("", 0)
	require.Contains(t, a.command("/why"), "@main answers there, by default.")
}
