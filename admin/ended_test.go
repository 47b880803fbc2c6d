package admin_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
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

	r.asOwner("/send Ana before")
	card = r.presentDrafts()[0]
	r.handle(store.Message{Body: "after", RelatesTo: card.Event})
	require.Equal(t, "* ✏️ **Changed**, the new text is below\n\n> before", r.endOf(card))

	picker := r.handle(store.Message{Body: "/mode"})[0]
	r.asOwner("1")
	require.Contains(t, r.endOf(picker), "Reply with a number, or `/mode business` and a name. ✅ 23:00")
	asked := r.handle(store.Message{Body: "make Ana business"})[0]
	r.react(asked.Event, "👎")
	require.Equal(t, "* `/mode business Ana`? 👍 or `yes` does it. ❌ 23:00", r.endOf(asked))
	require.Nil(t, r.reload(ana).Mode)
}

// runDueQuestions runs the jobs that end questions whose time is over.
func (r *rig) runDueQuestions() {
	r.t.Helper()
	rows, err := r.st.DB().Query(r.ctx, "select (args->>'dialog')::bigint from river.river_job where kind = 'end_question' and (args->>'at')::timestamptz <= $1", r.now)
	require.NoError(r.t, err)
	due, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(r.t, err)
	r.exec("delete from river.river_job where kind = 'end_question' and (args->>'at')::timestamptz <= $1", r.now)
	for _, dialog := range due {
		require.NoError(r.t, r.admin.EndQuestion(r.ctx, dialog, true))
	}
	r.sendQueued()
}

func TestQuestion_ExpiresOnItsMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	answered := r.handle(store.Message{Body: "/mode"})[0]
	r.asOwner("1")
	before := r.endOf(answered)
	asked := r.handle(store.Message{Body: "make Ana business"})[0]
	r.now = r.now.Add(20 * time.Minute)
	r.runDueQuestions()
	require.Equal(t, "* `/mode business Ana`? 👍 or `yes` does it. ⌛ expired 18:20", r.endOf(asked))
	require.Equal(t, before, r.endOf(answered), "it ended as what happened")
	require.Contains(t, r.react(asked.Event, "👍"), "That question was open until 18:15.")
}

func TestQuestion_OutdatedByStoppedTask(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	card := r.handle(store.Message{Body: "/mode"})[0]
	var dialog int64
	require.NoError(t, r.st.DB().QueryRow(r.ctx, "select max(id) from dialogs").Scan(&dialog))
	require.NoError(t, r.admin.EndQuestion(r.ctx, dialog, false))
	r.sendQueued()
	require.Contains(t, r.endOf(card), "⏹ outdated, its task was stopped 18:00")
	require.Contains(t, bodies(r.handle(store.Message{Body: "1", RelatesTo: card.Event})), "That question is closed.")
}
