package desk_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent"
	"multis/agent/persona"
	"multis/business/catalog"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
)

// points is at how many points of a model call a person writes.
const points = 20

// pausingModel is a model whose answer comes in pieces. At one point of the call it runs a function.
type pausingModel struct {
	at  int
	run func()
}

func (*pausingModel) Name() string { return "test/interrupted" }

func (m *pausingModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	answer := `{"sentences":[{"text":"Delivery is 5 euro.","source":1,"quote":"Delivery costs 5 euro within the city."}]}`
	return func(yield func(llm.Delta, error) bool) {
		for i := range points {
			if i == m.at {
				m.run()
			}
			from, to := len(answer)*i/(points-1), len(answer)*(i+1)/(points-1)
			if i == points-1 {
				return // the last point is after the whole answer
			}
			if !yield(llm.Delta{Text: answer[from:to]}, nil) {
				return
			}
		}
	}
}

func TestOperator_WritingDuringCallTakesOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := knowledge.New(r.st).Index(r.ctx, knowledge.File{
		Name: "prices.md",
		Data: []byte("# Delivery\n\nDelivery costs 5 euro within the city.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	model := &pausingModel{at: -1}
	a := agent.New(agent.Options{
		Store:    r.st,
		Box:      r.box,
		Desk:     r.desk,
		Search:   search.New(r.st),
		Personas: persona.Set{Model: model},
		Name:     "Nora",
		Language: catalog.English,
		Zone:     time.UTC,
		Defaults: policy.Defaults{Profile: policy.ProfileBusiness, FirstDelivery: policy.DeliveryAuto},
	})
	replies := func(e sentEvent) bool { return e.purpose == policy.PurposeReply }
	for at := -1; at < points; at++ {
		room := id.RoomID(fmt.Sprintf("!p%d:example.com", at+1))
		chat := r.chat("Ana", room, policy.KindDM)
		card := r.escalate(room, "A person, please")
		_, err := r.st.Pool().Exec(r.ctx, "update messages set answered_at = now() where chat_id = $1", chat.ID)
		require.NoError(t, err)
		r.say(room, contactOf(room), "What does delivery cost within the city?")
		model.at, model.run = at, func() {
			switch at % 3 {
			case 0:
				r.writeOnPhone(room, "I am here")
			case 1:
				r.reply(card, eva, "I am here")
			default:
				r.react(bob, card, "✋")
			}
		}
		require.NoError(t, a.Turns.Turn(r.ctx, chat.ID, fmt.Sprint(at), false))
		r.runAllJobs()
		if at < 0 {
			require.Len(t, r.sender.view(room, replies), 1, "nobody wrote")
			continue
		}
		require.Empty(t, r.sender.view(room, replies), "a person wrote at point %d", at)
	}
}
