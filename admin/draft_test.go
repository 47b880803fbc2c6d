package admin_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// show carries out the jobs of drafts, and returns what was said.
func (r *rig) show() []heard {
	r.t.Helper()
	for r.count("select count(*) from river.river_job where kind = 'draft' and (args->>'at' is null or (args->>'at')::timestamptz <= $1)", r.now) > 0 {
		var job int64
		var out uuid.UUID
		require.NoError(r.t, r.st.DB().QueryRow(r.ctx, `select id, (args->>'out')::uuid from river.river_job
			where kind = 'draft' and (args->>'at' is null or (args->>'at')::timestamptz <= $1) limit 1`, r.now).Scan(&job, &out))
		r.restart()
		require.NoError(r.t, r.admin.Drafts.PresentDraft(r.ctx, out))
		if err := r.admin.Drafts.PresentDraft(r.ctx, out); !jobs.IsLater(err) {
			require.NoError(r.t, err, "again, after a crash")
		}
		r.exec("delete from river.river_job where id = $1", job)
	}
	return r.flush()
}

// to is what went to a chat.
func (r *rig) to(c store.Chat) (said []string) {
	for _, h := range r.hs.heard {
		if h.Room == *c.RoomID {
			said = append(said, h.Body)
		}
	}
	return said
}

// drafted is a chat whose scheduled message was just shown as a draft.
func (r *rig) drafted() (store.Chat, heard) {
	r.t.Helper()
	ana := r.chat("Ana", "whatsapp")
	require.Equal(r.t, "**Ana · WhatsApp**: I show you here what I want to say there, and send it once you say yes.", r.owner("/delivery draft ana"))
	r.owner("/remind 1h --to Ana see you at seven. *Bring* cake")
	r.pass(2 * time.Hour)
	require.Empty(r.t, r.to(ana), "it waits for a yes")
	shown := r.show()
	require.Len(r.t, shown, 1, "shown once")
	return ana, shown[0]
}

func TestAScheduledMessageToAChatOfDraftsIsSentAfterAYes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.drafted()
	require.Equal(t, text("✏️ **Draft for Ana · WhatsApp**", "", "> see you at seven. *Bring* cake", "", "👍 send · reply to change it · 👎 drop · Open until Sat 21 Nov, 00:00."), shown.Body)
	require.Contains(t, shown.Rings, owner, "it rings: it is dropped unless the owner sees it in time")
	require.Contains(t, r.owner("/jobs 1 history"), "done, a draft of it waits for you")
	require.Contains(t, r.owner("/drafts"), "**1 draft**, the oldest first. React with 👍 or 👎 where it stands, or reply to change it.\nAna · WhatsApp — “see you at seven. *Bring* cake”, open until Sat 21 Nov, 00:00")

	require.Contains(t, r.owner("yes"), "**Send this to Ana · WhatsApp?** “see you at seven. *Bring* cake”\n`yes` sends it, `no` drops it.", "it points at nothing")
	require.Empty(t, r.to(ana))
	require.Contains(t, said(r.do(store.Message{Body: "👍", Kind: "reaction", RelatesTo: shown.Event, Author: policy.AuthorOperator, Sender: operator})), "is the owner's")
	require.Empty(t, r.to(ana), "an operator's yes is none")

	require.Equal(t, "see you at seven. *Bring* cake\nIt goes to **Ana · WhatsApp**, as it stands there.", r.reacts(shown.Event, "👍"))
	require.Equal(t, []string{"see you at seven. *Bring* cake"}, r.to(ana))
	require.Contains(t, r.owner("/jobs 1 history"), "done, you said yes to the draft")
	require.Equal(t, 1, r.count("select count(*) from outbox where chat_id = $1 and state = 'sent' and purpose = 'draft' and reason = 'You approved this very text.'", ana.ID))

	require.Equal(t, "That draft does not wait any more.", r.reacts(shown.Event, "👍"))
	require.Equal(t, "That draft does not wait any more.", r.reacts(shown.Event, "👎"))
	r.now = r.now.Add(5 * time.Hour)
	require.Empty(t, r.show())
	require.Len(t, r.to(ana), 1)
	require.Contains(t, r.owner("/drafts"), "No draft waits.")
}

func TestAYesThatPointsAtNothingAsksAboutTheOneDraft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, _ := r.drafted()
	require.Empty(t, r.eva("yes"), "an operator's yes is none")
	require.Contains(t, r.owner("👍"), "**Send this to Ana · WhatsApp?**")
	require.Contains(t, r.owner("what is the weather?"), "You asked")
	require.Empty(t, r.to(ana))
	require.Equal(t, "see you at seven. *Bring* cake\nIt goes to **Ana · WhatsApp**, as it stands there.", r.owner("yes"))
	require.Equal(t, []string{"see you at seven. *Bring* cake"}, r.to(ana))
	require.NotContains(t, r.owner("yes"), "Send this")
}

func TestAReplyChangesADraftAndADroppedOneIsGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.drafted()
	require.Empty(t, said(r.do(store.Message{Body: "see you at eight", RelatesTo: shown.Event})))
	require.Empty(t, r.to(ana), "it is shown again first")
	again := r.show()
	require.Len(t, again, 1)
	require.Contains(t, again[0].Body, "> see you at eight")
	require.Equal(t, "That draft does not wait any more.", r.reacts(shown.Event, "👍"), "the one before")
	require.Contains(t, said(r.do(store.Message{Body: "\u202e!wa logout", RelatesTo: again[0].Event})), "That cannot go to **Ana · WhatsApp**: The bridge would", "what the gate lets out in no case")
	require.Empty(t, r.to(ana))
	require.Contains(t, said(r.do(store.Message{Body: "yes", RelatesTo: again[0].Event})), "It goes to **Ana · WhatsApp**")
	require.Equal(t, []string{"see you at eight"}, r.to(ana))
	require.Contains(t, r.owner("/jobs 1 history"), "done, you said yes to the draft")

	r.owner("/remind 1h --to Ana never mind")
	r.pass(2 * time.Hour)
	shown = r.show()[0]
	require.Equal(t, "Dropped: nothing goes to **Ana · WhatsApp**.", r.reacts(shown.Event, "👎"))
	require.Equal(t, "That draft does not wait any more.", r.reacts(shown.Event, "👍"))
	require.Len(t, r.to(ana), 1)
	require.Contains(t, r.owner("/jobs 2 history"), "skipped, you dropped the draft")
}

func TestADraftThatNobodyAnswersIsDroppedAndTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.drafted()
	r.now = r.now.Add(4*time.Hour + time.Second)
	require.Contains(t, r.reacts(shown.Event, "👍"), "That question was open until 00:00.")
	require.Equal(t, "⌛ The draft for **Ana · WhatsApp** was not sent: nobody said yes to it in 4 h.", said(r.show()))
	require.Empty(t, r.show(), "told once")
	require.Empty(t, r.to(ana))
	require.Contains(t, r.owner("/jobs 1 history"), "skipped, nobody said yes to the draft")
}

func TestADraftThatCannotGoOutNowStaysOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.drafted()
	r.owner("/pause all")
	require.Equal(t, "⚠️ It cannot go to **Ana · WhatsApp** now: Everything is paused; /resume ends it. The draft stays open.", r.reacts(shown.Event, "👍"))
	r.owner("/resume")
	r.reacts(shown.Event, "👍")
	require.Len(t, r.to(ana), 1)
}

func TestADraftOfAnAnswerToADeletedMessageIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.tx(func(tx store.Tx) error {
		if err := store.SetMode(r.ctx, tx, ana.ID, policy.ModeBusiness); err != nil {
			return err
		}
		return store.SetDelivery(r.ctx, tx, ana.ID, policy.DeliveryDraft)
	})
	r.tx(func(tx store.Tx) error {
		asked, err := store.InsertMessage(r.ctx, tx, store.Message{
			ChatID: ana.ID, EventID: "$asked", Author: policy.AuthorContact, Kind: "text", Body: "my name is Rumpelstiltskin, do you deliver?", At: r.now, Action: policy.ActionAnswer,
		})
		if err != nil {
			return err
		}
		out, _, err := r.box.Queue(r.ctx, tx, outbox.Message{
			Chat: ana, Purpose: policy.PurposeReply, Text: "We deliver, Rumpelstiltskin.", Spans: r.cites("faq.md", "We deliver"), About: []int64{asked},
		})
		if err != nil {
			return err
		}
		_, err = store.Settle(r.ctx, tx, []int64{asked}, &out, policy.CodeAnswer, "")
		return err
	})
	shown := r.show()[0]
	require.Contains(t, shown.Body, "**Draft for Ana · WhatsApp** (asked 18:00: “my name is Rumpelstiltskin, do you deliver?”)\n\n> [Nora] We deliver, Rumpelstiltskin.\n\nfrom faq.md: “We deliver”")
	require.Contains(t, r.owner("/why Ana"), "My answer waits for your yes")
	var retract []uuid.UUID
	r.tx(func(tx store.Tx) (err error) {
		retract, err = store.RedactMessage(r.ctx, tx, ana.ID, id.EventID("$asked"), r.now)
		return err
	})
	require.Len(t, retract, 3, "the draft, what shows it, and what explained it")
	for _, out := range retract {
		require.NoError(t, r.box.Retract(r.ctx, out))
	}
	require.Zero(t, r.count("select count(*) from outbox where content::text like '%Rumpel%' or spans::text like '%Rumpel%'"))
	require.Equal(t, "Nothing goes to **Ana · WhatsApp**: a message that it answered or quoted was deleted.", r.reacts(shown.Event, "👍"))
	require.Empty(t, r.to(ana))
	require.Contains(t, r.owner("/drafts"), "No draft waits.")
}

func TestADraftThatIsForgottenWaitsNoLonger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana, shown := r.drafted()
	r.exec("update outbox set content = '{}' where chat_id = $1", ana.ID)
	r.now = r.now.Add(time.Minute)
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	r.exec("update river.river_job set args = args - 'at' where kind = 'draft'")
	require.Empty(t, r.show())
	require.Zero(t, r.count("select count(*) from outbox where state = 'held'"))
	require.Equal(t, "That draft does not wait any more.", r.reacts(shown.Event, "👍"))
	require.Empty(t, r.to(ana))
}

func TestWhoseDraftIsForgottenAndWhoseQuestionStandsHasNoAnswerWhichIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	before, asked := r.says(ana, "@ana:x", "I am Rumpelstiltskin"), r.says(ana, "@ana:x", "do you deliver?")
	r.tx(func(tx store.Tx) error {
		out, decision, err := r.box.Queue(r.ctx, tx, outbox.Message{Chat: ana, Purpose: policy.PurposeDraft, Text: "Yes, Rumpelstiltskin.", Draft: true, RestsOn: []int64{before.ID, asked.ID}})
		require.True(t, decision.Allow, decision.Why)
		if err != nil {
			return err
		}
		_, err = store.Settle(r.ctx, tx, []int64{asked.ID}, &out, policy.CodeAnswer, "")
		return err
	})
	r.show()
	r.tx(func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, ana.ID, before.EventID, r.now)
		return err
	})
	require.Empty(t, storetest.Anywhere(t, r.st, "rumpel"))
	r.now = r.now.Add(5 * time.Hour)
	require.Contains(t, said(r.show()), "What was asked there has no answer.")
}

func TestADraftWhoseJobIsLostIsShownAllTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	r.owner("/delivery draft ana")
	r.owner("/remind 1h --to Ana see you at seven")
	r.pass(2 * time.Hour)
	r.exec("delete from river.river_job where kind = 'draft'")
	r.exec("update outbox set created_at = now() - interval '2 minutes' where state = 'held'")
	require.NoError(t, jobs.Sweep(r.ctx, r.st))
	require.Contains(t, said(r.show()), "> see you at seven")
}
