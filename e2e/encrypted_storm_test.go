//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/rig"
)

// stormSteps is how many things happen in the encrypted storm.
const stormSteps = 60

// storm is what the encrypted storm has done so far.
type storm struct {
	*app
	element  *rig.Element
	contacts []string
	said     map[id.EventID]string
}

func TestEncryptedStorm_LeaksNothing(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Log("seed", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	a := start(t, setup{Locked: true, Profile: "business"})
	a.learn()
	s := &storm{app: a, element: a.element(t), contacts: []string{"gale-0", "gale-1", "gale-2"}, said: map[id.EventID]string{}}
	for _, contact := range s.contacts {
		a.say(contact, "hi")
	}
	for step := range stormSteps {
		require.NoError(t, s.doSomething(t.Context(), chance, step), "step %d", step)
	}

	for said, text := range s.said {
		require.Equal(t, text, a.awaitMessage(said).Body)
	}
	a.awaitIdle()
	a.await("every message to be read", func(ctx context.Context) (bool, error) {
		return a.exists(ctx, "select not exists (select from messages where parked is not null)")
	})
	sent := 0
	for _, contact := range s.contacts {
		room := *a.chat(contact).RoomID
		a.requireOnlyEncrypted(t, room)
		sent += len(a.back.sentTo(room))
		for _, evt := range s.timeline(t, room) {
			require.NotEqual(t, event.EventMessage.Type, evt.Type.Type, "plain text in %s", room)
		}
	}
	require.Positive(t, sent, "somebody was answered")
	require.Zero(t, a.count("select count(*) from messages where author = 'owner_client' and event_id in (select event_id from outbox)"),
		"our own words taken for the owner's")
}

// doSomething makes one random event happen, mostly a message.
func (s *storm) doSomething(ctx context.Context, chance *rand.Rand, step int) error {
	contact := s.contacts[chance.IntN(len(s.contacts))]
	text := fmt.Sprintf("%s (%d)", question, step)
	switch dice := chance.IntN(20); {
	case dice < 10:
		said, err := s.Say(ctx, contact, text)
		s.said[said.Event] = text
		return err
	case dice < 13:
		said, err := s.OwnerOnPhone(ctx, contact, text)
		s.said[said.Event] = text
		return err
	case dice < 15:
		said, err := s.element.Say(ctx, *s.chat(contact).RoomID, text)
		s.said[said] = text
		return err
	case dice < 17:
		s.command("/resume " + s.chat(contact).Name)
		return nil
	case dice < 18:
		s.contacts = append(s.contacts, fmt.Sprintf("gale-%d", len(s.contacts)))
		said, err := s.Say(ctx, s.contacts[len(s.contacts)-1], text)
		s.said[said.Event] = text
		return err
	default:
		if err := s.process.Kill(); err != nil {
			return err
		}
		s.run()
		return nil
	}
}

// timeline is a room as the homeserver has it.
func (s *storm) timeline(t *testing.T, room id.RoomID) []*event.Event {
	t.Helper()
	events, err := s.Timeline(t.Context(), room)
	require.NoError(t, err)
	return events
}
