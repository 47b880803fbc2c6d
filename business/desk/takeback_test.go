package desk_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// What a message in a thread sent is deleted at the contact if its deletion is the word of somebody who may answer there.
// Of others the text goes here and stays there.
func TestDeletion_NeedsRightToAnswer(t *testing.T) {
	t.Parallel()
	type deletion struct {
		by      id.UserID
		content map[string]any // beside the event that it deletes
		before  func(r *rig)   // after the reply was sent
		kept    bool
	}
	takeEvaOut := func(r *rig) { r.settings.Operators = []id.UserID{bob}; r.newInbox() }
	for name, d := range map[string]deletion{
		"the owner":                     {by: owner},
		"an operator":                   {by: eva},
		"the owner, of a former one":    {by: owner, before: takeEvaOut},
		"a former operator":             {by: eva, before: takeEvaOut, kept: true},
		"an operator who may no longer": {by: eva, before: func(r *rig) { r.settings.OperatorsAnswer = false; r.newInbox() }, kept: true},
		"a bridge as the owner":         {by: owner, content: map[string]any{"fi.mau.double_puppet_source": "mautrix-demo"}, kept: true},
		"the bot of a bridge":           {by: bridge, kept: true},
		"a contact":                     {by: contactOf(anasRoom), kept: true},
		"a stranger":                    {by: eve, kept: true},
		"multis itself":                 {by: bot, kept: true},
		"an operator, in a closed room": {by: eva, before: func(r *rig) { r.invite(deskRoom, eva, eve) }, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana := r.chat("Ana", anasRoom, policy.KindDM)
			card := r.escalate(anasRoom, "My parcel arrived broken")
			reply := r.reply(card, eva, "Pleas wait.")
			r.runAllJobs()
			r.edit(deskRoom, eva, reply, "Please wait.")
			r.runAllJobs()
			require.Equal(t, []string{"Please wait."}, r.sender.view(anasRoom, anyEvent))
			if d.before != nil {
				d.before(r)
			}
			content := map[string]any{"redacts": reply}
			maps.Copy(content, d.content)
			evt := r.event("m.room.redaction", deskRoom, d.by, content)
			evt.Redacts = reply
			for range 2 { // by push and by sync
				r.receive(evt)
			}
			r.runAllJobs()
			require.Zero(t, storetest.Count(t, r.st, "select count(*) from messages where event_id = $1 and body <> ''", reply), "here it is gone")
			entries := func(outcome string) int {
				return storetest.Count(t, r.st,
					"select count(*) from audit_entries where kind = 'deletion' and action = 'draft' and outcome = $1 and chat_id = $2", outcome, ana.ID)
			}
			notices := "select count(*) from river.river_job where kind = 'notice' and args->>'topic' = $1 and (args->>'subject')::bigint = $2"
			told := storetest.Count(t, r.st, notices, jobs.TopicReplyKept, ana.ID)
			if !d.kept {
				require.Empty(t, r.sender.view(anasRoom, anyEvent))
				require.Equal(t, [3]int{2, 0, 0}, [3]int{entries("deleted"), entries("refused"), told})
				return
			}
			require.Equal(t, []string{"Please wait."}, r.sender.view(anasRoom, anyEvent))
			require.Equal(t, [3]int{0, 2, 1}, [3]int{entries("deleted"), entries("refused"), told})
			err := r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicReplyKept, SubjectID: int64(ana.ID)})
			if strings.Contains(name, "closed") {
				require.True(t, jobs.IsSnooze(err), "it waits for the next admin room: %v", err)
				return
			}
			require.NoError(t, err)
			r.runAllJobs()
			require.Contains(t, strings.Join(r.sender.view(deskRoom, anyEvent), "\n"),
				"What it sent to **Ana · Demo** stays: delete it in that chat (https://matrix.to/#/!ana:example.com)")
		})
	}
}

// A reply that was not sent yet is not sent once its message is deleted, whoever deleted it.
func TestDeletion_WaitingReplyIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel arrived broken")
	reply := r.reply(card, eva, "Please wait.")
	for _, q := range r.dueJobs() {
		if q.kind == "command" {
			require.NoError(t, r.runJob(q))
			r.deleteJob(q)
		}
	}
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from outbox where send_as = 'owner' and state = 'queued'"))
	r.redact(deskRoom, bridge, reply)
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent))
}

// The deletion comes while the homeserver has the reply already and multis does not know it yet: the answer comes late,
// or never and the event is seen instead.
func TestDeletion_InFlightNeedsRight(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]struct {
		by     id.UserID
		killed bool
		kept   bool
	}{
		"an operator": {by: eva}, "an operator, then killed": {by: eva, killed: true},
		"a stranger": {by: eve, kept: true}, "a stranger, then killed": {by: eve, killed: true, kept: true},
		"a contact": {by: contactOf(anasRoom), kept: true}, "the bot of a bridge, then killed": {by: bridge, killed: true, kept: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana := r.chat("Ana", anasRoom, policy.KindDM)
			card := r.escalate(anasRoom, "My parcel arrived broken")
			reply, deleted := r.reply(card, eva, "Please wait."), false
			r.sender.after = func() error {
				if deleted || len(r.sender.view(anasRoom, anyEvent)) == 0 {
					return nil
				}
				deleted = true
				r.redact(deskRoom, d.by, reply)
				if d.killed {
					return errKilled
				}
				return nil
			}
			r.runAllJobs()
			for _, evt := range r.sender.echos {
				r.receive(evt)
			}
			r.runAllJobs()
			require.True(t, deleted)
			require.Zero(t, storetest.Count(t, r.st, "select count(*) from messages where event_id = $1 and body <> ''", reply), "here it is gone")
			require.Zero(t, storetest.Count(t, r.st, "select count(*) from outbox where send_as = 'owner' and content <> '{}'"))
			entries := func(outcome string) int {
				return storetest.Count(t, r.st,
					"select count(*) from audit_entries where kind = 'deletion' and action = 'draft' and outcome = $1 and chat_id = $2", outcome, ana.ID)
			}
			told := storetest.Count(t, r.st,
				"select count(*) from river.river_job where kind = 'notice' and args->>'topic' = $1 and (args->>'subject')::bigint = $2",
				jobs.TopicReplyKept, ana.ID)
			if d.kept {
				require.Equal(t, []string{"Please wait."}, r.sender.view(anasRoom, anyEvent))
				require.Equal(t, [3]int{0, 1, 1}, [3]int{entries("withdrawn"), entries("refused"), told})
				return
			}
			require.Empty(t, r.sender.view(anasRoom, anyEvent))
			require.Equal(t, [3]int{1, 0, 0}, [3]int{entries("withdrawn"), entries("refused"), told})
		})
	}
}

// A contact deletes all that was asked: nobody waits any more, and nobody is called. What is left of several messages gets a card.
func TestEscalation_EndsWithDeletedQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	r.desk.ClaimWithin = time.Minute
	message := func(body string) id.EventID {
		var found id.EventID
		require.NoError(t, r.st.Pool().QueryRow(r.ctx, "select event_id from messages where body = $1", body).Scan(&found))
		return found
	}
	r.escalate(anasRoom, "My parcel is late")
	r.say(anasRoom, contactOf(anasRoom), "It has the number 4711")
	r.runAllJobs()
	first, second := message("My parcel is late"), message("It has the number 4711")
	r.redact(anasRoom, contactOf(anasRoom), first)
	r.runAllJobs()
	e := r.escalation(ana.ID)
	require.NotNil(t, e.CardEvent)
	require.Contains(t, r.card(*e.CardEvent), "4711", "the rest of it still waits")
	m, err := store.MessageByID(r.ctx, r.st.DB(), e.MessageID)
	require.NoError(t, err)
	require.Equal(t, second, m.EventID)

	r.redact(anasRoom, contactOf(anasRoom), second)
	r.runAllJobs()
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from escalations where closed_at is null"))
	before := len(r.sender.sent)
	r.now = r.now.Add(time.Hour)
	require.NoError(t, r.desk.UpdateEscalation(r.ctx, e.ID, true))
	r.runAllJobs()
	require.Len(t, r.sender.sent, before, "nobody is called for it")
	r.escalate(anasRoom, "Where are you?")
	require.Equal(t, 2, storetest.Count(t, r.st, "select count(*) from escalations"), "what is asked next is another one")
}

// A contact deletes the question on a card, and the card is deleted with it. What the contact writes next has a card of its own.
func TestCard_NewAfterDeletedQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel is late", func(c *desk.Case) { c.Proposals = proposals("It comes on Monday.") })
	r.runAllJobs()
	var first id.EventID
	require.NoError(t, r.st.Pool().QueryRow(r.ctx, "select event_id from messages where body = 'My parcel is late'").Scan(&first))
	r.redact(anasRoom, contactOf(anasRoom), first)
	r.say(anasRoom, contactOf(anasRoom), "Where are you?")
	r.runAllJobs()
	require.NotContains(t, r.card(card), "parcel")
	var again id.EventID
	require.NoError(t, r.st.Pool().QueryRow(r.ctx,
		"select o.event_id from escalations e join outbox o on o.id = e.card_id where e.closed_at is null").Scan(&again))
	require.NotEqual(t, card, again)
	require.Contains(t, r.card(again), "needs a person")
	require.Contains(t, r.card(again), "Where are you?")
	require.NotContains(t, r.card(again), "Monday")
	r.react(bob, again, "👍")
	r.reply(again, eva, "Here!")
	r.runAllJobs()
	require.Equal(t, []string{"Here!"}, r.sender.view(anasRoom, func(e sentEvent) bool { return e.purpose == policy.PurposeDraft }))
}

// A contact deletes a message in the moment in which it is added to the thread.
func TestDeletion_LineIsNotShown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "My parcel is late")
	line := r.say(anasRoom, contactOf(anasRoom), "my password is hunter2")
	shown := make(chan error, 1)
	r.tx(func(tx store.Tx) error {
		if _, err := store.LockChat(r.ctx, tx, ana.ID); err != nil { // as the inbox does
			return err
		}
		if _, err := store.RedactMessage(r.ctx, tx, ana.ID, line, r.now); err != nil {
			return err
		}
		escalation := r.escalation(ana.ID).ID
		go func() { shown <- r.desk.UpdateEscalation(r.ctx, escalation, false) }()
		require.Eventually(t, func() bool {
			return len(shown) == 1 || storetest.Count(t, r.st,
				"select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") == 1
		}, time.Minute, time.Millisecond)
		return nil
	})
	require.NoError(t, <-shown)
	r.runAllJobs()
	require.NotContains(t, r.inThread(card), "hunter2")
	require.Zero(t, storetest.Count(t, r.st, "select count(*) from outbox where content::text like '%hunter2%'"))
}
