package desk_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"maunium.net/go/mautrix/id"

	"multis/admin"
	"multis/business/answers"
	"multis/business/desk"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// proposed looks for answers of people a minute later, and returns the last question whether to learn one, or "" if none was asked.
func (r *rig) proposed() string {
	r.t.Helper()
	r.now = time.Now().Add(time.Minute)
	book := &answers.Keeper{Store: r.st, Search: search.New(r.st)}
	room := admin.New(admin.Options{
		Store:    r.st,
		Box:      r.box,
		Desk:     r.desk,
		Answers:  book,
		Now:      func() time.Time { return r.now },
		Settings: admin.Settings{Name: "Nora", Zone: time.UTC},
	})
	before := len(r.sender.sent)
	require.NoError(r.t, room.Answers.FindAnswers(r.ctx))
	r.runAllJobs()
	asked := ""
	for _, e := range r.sender.sent[before:] {
		if strings.Contains(e.body, "Save this answer?") {
			asked = e.body
		}
	}
	return asked
}

func TestLearn_FollowsEditsAndDeletions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you sell vouchers?")
	r.tx(func(tx store.Tx) error {
		_, err := store.SetEscalationCause(r.ctx, tx, ana.ID, policy.CauseNoAnswer)
		return err
	})
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

func TestEdit_RefusedIsLearnedAndShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		noEdits       bool
		edited        string
		learned, note string
	}{
		"the network has no edits": {
			true, "Yes, from 15 EUR.", "> Yes, from 15 EUR.",
			"The edit did not reach the customer, who has got: “Yes, from 10 EUR.”",
		},
		"too long for an edit": {false, strings.Repeat("Yes, from 15 EUR. ", 70), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana := r.chat("Ana", anasRoom, policy.KindDM)
			if c.noEdits {
				_, err := r.st.Writer().Exec(r.ctx, `update chats set features = '{"known": true, "no_edits": true}' where id = $1`, ana.ID)
				require.NoError(t, err)
			}
			card := r.escalate(anasRoom, "Do you sell vouchers?")
			r.tx(func(tx store.Tx) error {
				_, err := store.SetEscalationCause(r.ctx, tx, ana.ID, policy.CauseNoAnswer)
				return err
			})
			reply := r.reply(card, eva, "Yes, from 10 EUR.")
			r.runAllJobs()
			require.Contains(t, r.proposed(), "> Yes, from 10 EUR.")
			r.edit(deskRoom, eva, reply, c.edited)
			r.runAllJobs()
			require.Equal(t, []string{"Yes, from 10 EUR."}, r.sender.view(anasRoom, anyEvent))
			asked := r.proposed()
			require.NotContains(t, asked, "> Yes, from 10 EUR.", "he does not say that any more")
			require.Contains(t, asked, c.learned)
			require.Contains(t, asked, c.note)
			require.Equal(t, c.learned == "", asked == "")
		})
	}
}

func TestSilence_ReasonNamesWriter(t *testing.T) {
	t.Parallel()
	for who, want := range map[id.UserID]string{eva: "eva wrote here", owner: "You wrote here"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.chat("Ana", anasRoom, policy.KindDM)
			card := r.escalate(anasRoom, "My parcel arrived broken")
			r.reply(card, who, "Please wait.")
			r.runAllJobs()
			asked := r.say(anasRoom, contactOf(anasRoom), "How long?")
			require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from messages where event_id = $1 and reason like $2 || '%'", asked, want))
		})
	}
}

// pickedQuotes are answers that record for which quotes the words of a question were kept.
type pickedQuotes struct{ quotes []string }

func (p *pickedQuotes) ByNumber(context.Context, int64, string) (string, error) {
	return "", store.ErrNotFound
}

func (p *pickedQuotes) LearnWords(_ context.Context, _ store.Tx, _ store.MessageID, picked store.Citation) error {
	p.quotes = append(p.quotes, picked.Quote)
	return nil
}

func TestPick_OfOwnerTeaches(t *testing.T) {
	t.Parallel()
	offered := []store.Proposal{
		{Text: "Parking is free.", Citations: []store.Citation{{Source: "[hotel.md]", Quote: "Parking is free."}}},
		{Text: "We ship to Italy.", Citations: []store.Citation{{Source: "[hotel.md]", Quote: "We ship to Italy."}}},
	}
	for name, c := range map[string]struct {
		by     id.UserID
		typed  string
		learns []string
	}{
		"the owner picks a number": {owner, "2", []string{"We ship to Italy."}},
		"an operator picks one":    {eva, "2", nil},
		"the owner writes himself": {owner, "We ship to Italy.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			taught := &pickedQuotes{}
			r.desk.Answers = taught
			r.chat("Ana", anasRoom, policy.KindDM)
			card := r.escalate(anasRoom, "Do you ship to Rome?", func(c *desk.Case) { c.Proposals = offered })
			r.reply(card, c.by, c.typed)
			r.runAllJobs()
			require.Equal(t, []string{"We ship to Italy."}, r.sender.view(anasRoom, anyEvent))
			require.Equal(t, c.learns, taught.quotes)
		})
	}
}
