package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/store"
)

// endOf returns the edit that writes on the card with an event what became of it.
func (r *rig) endOf(card sentEvent) string {
	r.t.Helper()
	body := ""
	for _, e := range r.homeserver.ended {
		if e.ReactedTo == card.Event {
			body = e.Body
		}
	}
	return body
}

// TestCards_EndAsWhatHappened: an old card does not look open.
func TestCards_EndAsWhatHappened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")

	r.asOwner("/send Ana hello")
	card := r.presentDrafts()[0]
	r.react(card.Event, "👍")
	require.Equal(t, "* ✅ **Sent to Ana · WhatsApp**, 18:00\n\n> hello", r.endOf(card))

	r.asOwner("/send Ana never")
	card = r.presentDrafts()[0]
	r.react(card.Event, "👎")
	require.Equal(t, "* 👎 **Dropped**, nothing was sent to Ana · WhatsApp\n\n> never", r.endOf(card))

	r.asOwner("/send Ana later")
	card = r.presentDrafts()[0]
	r.now = r.now.Add(5 * time.Hour)
	r.presentDrafts()
	require.Equal(t, "* ⌛ **Expired**, nothing was sent to Ana · WhatsApp\n\n> later", r.endOf(card))

	picker := r.handle(store.Message{Body: "/mode"})[0]
	r.asOwner("1")
	require.Contains(t, r.endOf(picker), "Reply with a number, or `/mode business` and a name. ✅ 23:00")
	asked := r.handle(store.Message{Body: "make Ana business"})[0]
	r.react(asked.Event, "👎")
	require.Equal(t, "* `/mode business Ana`? 👍 or `yes` does it. ❌ 23:00", r.endOf(asked))
	require.Nil(t, r.reload(ana).Mode)
}
