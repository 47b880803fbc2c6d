package desk_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/answers"
	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/store/storetest"
)

// proposed looks for answers of people a minute later, and returns the last question whether to learn one, or "" if none was asked.
func (r *rig) proposed() string {
	r.t.Helper()
	r.now = time.Now().Add(time.Minute)
	book := &answers.Keeper{Store: r.st, Search: search.New(r.st)}
	room := admin.New(admin.Options{Store: r.st, Box: r.box, Desk: r.desk, Answers: book, Now: func() time.Time { return r.now }, Settings: admin.Settings{Name: "Nora", Zone: time.UTC}})
	before := len(r.sender.sent)
	require.NoError(r.t, room.Answers.FindAnswers(r.ctx))
	r.runAllJobs()
	asked := ""
	for _, e := range r.sender.sent[before:] {
		if strings.Contains(e.body, "Shall I learn this?") {
			asked = e.body
		}
	}
	return asked
}

func TestWhatIsLearnedFollowsEditsAndDeletionsInTheThread(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you sell vouchers?")
	r.tx(func(tx store.Tx) error { return store.SetEscalationCause(r.ctx, tx, ana.ID, policy.CauseNoAnswer) })
	first := r.reply(card, eva, "Yes, from 10 EUR.")
	second := r.reply(card, eva, "Ask Carla in the shop.")
	r.runAllJobs()
	asked := r.proposed()
	require.Contains(t, asked, "> Yes, from 10 EUR.\n> Ask Carla in the shop.")
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from unanswered_questions where person = $1", eva))
	require.Empty(t, r.proposed(), "it is asked once")

	r.edit(deskRoom, eva, first, "Yes, from 15 EUR.")
	r.runAllJobs()
	require.Contains(t, r.proposed(), "> Yes, from 15 EUR.\n> Ask Carla in the shop.", "as the contact reads it now")

	r.redact(deskRoom, eva, second)
	r.runAllJobs()
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from unanswered_questions where answer like '%Carla%'"))
	again := r.proposed()
	require.Contains(t, again, "> Yes, from 15 EUR.")
	require.NotContains(t, again, "Carla")

	r.react(eva, first, policy.NoteMarker)
	r.runAllJobs()
	require.Empty(t, r.proposed(), "the contact has nothing of it any more")
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from unanswered_questions"))
}
