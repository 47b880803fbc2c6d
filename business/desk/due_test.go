package desk_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// mentioned returns who was mentioned in a thread since the last call.
func (r *rig) mentioned(card id.EventID, from *int) (who []id.UserID) {
	for _, e := range r.sender.sent[*from:] {
		if e.thread == card {
			who = append(who, e.mentions...)
		}
	}
	*from = len(r.sender.sent)
	return who
}

func TestDue_UnclaimedNotifiesOperators(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = time.Now() // the database has the machine's clock
	r.chat("Ana", anasRoom, policy.KindDM)
	card, seen := r.escalate(anasRoom, "Is anybody there?"), len(r.sender.sent)
	r.runAllJobs()
	require.Empty(t, r.mentioned(card, &seen), "not before the time")
	r.now = r.now.Add(10*time.Minute + time.Second)
	r.runAllJobs()
	require.Equal(t, []id.UserID{eva, bob}, r.mentioned(card, &seen))
	r.runAllJobs()
	require.Empty(t, r.mentioned(card, &seen), "once")
	r.now = r.now.Add(10 * time.Minute)
	r.runAllJobs()
	require.Equal(t, []id.UserID{owner}, r.mentioned(card, &seen))
	r.now = r.now.Add(10 * time.Minute)
	r.runAllJobs()
	require.Empty(t, r.mentioned(card, &seen))
	r.now = r.now.Add(24 * time.Hour)
	r.runAllJobs()
	require.Empty(t, r.mentioned(card, &seen))

	other := r.chat("Ben", "!ben:example.com", policy.KindDM)
	card = r.escalate("!ben:example.com", "And here?")
	seen = len(r.sender.sent)
	r.react(eva, card, "✋")
	r.runAllJobs()
	require.NotNil(t, r.reload(other).OwnerWroteAt, "who has it keeps the assistant quiet")
	r.react(bob, card, "✋")
	r.runAllJobs()
	require.Contains(t, r.inThread(card), "eva has claimed it already")
	r.now = r.now.Add(time.Hour)
	r.runAllJobs()
	require.Empty(t, r.mentioned(card, &seen), "nobody is called for what somebody has")
}

func TestDue_ClosedNotifiesOnCall(t *testing.T) {
	t.Parallel()
	closed := func(c *desk.Case) { c.Closed = true }
	r := newRig(t)
	r.desk.OnCall = []id.UserID{bob}
	r.chat("Ana", anasRoom, policy.KindDM)
	r.chat("Ben", "!ben:example.com", policy.KindDM)
	called := func(card id.EventID) []id.UserID {
		for _, e := range r.sender.sent {
			if e.event == card {
				return e.mentions
			}
		}
		return nil
	}
	require.Empty(t, called(r.escalate(anasRoom, "Is anybody there?")), "open: whoever is in the room")
	require.Equal(t, []id.UserID{bob}, called(r.escalate("!ben:example.com", "And now?", closed)))

	r = newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	require.Empty(t, called(r.escalate(anasRoom, "Is anybody there?", closed)), "nobody is on call")
}

// waitAgain has Ana write after Eva's answer and wait for a day, after which Eva hears of it. It returns how much was sent by then.
func (r *rig) waitAgain(card id.EventID) (seen int) {
	r.t.Helper()
	r.say(anasRoom, contactOf(anasRoom), "My parcel is late")
	r.runAllJobs()
	seen = len(r.sender.sent)
	r.now = r.now.Add(25 * time.Hour)
	r.runAllJobs()
	require.Equal(r.t, []id.UserID{eva}, r.mentioned(card, &seen), "the one who had it hears that the contact waits again")
	return seen
}

func TestDue_AnsweredEscalationEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = time.Now()
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Is anybody there?")
	r.reply(card, eva, "Yes, what is it?")
	r.runAllJobs()
	r.waitAgain(card)
	require.True(t, r.escalation(ana.ID).IsWaiting())
	r.reply(card, bob, "It comes today.")
	r.runAllJobs()
	r.now = r.now.Add(25 * time.Hour)
	r.runAllJobs()
	require.False(t, r.escalation(ana.ID).IsOpen())
	require.Contains(t, r.card(card), "**closed**")
	r.reply(card, bob, "Did it come?")
	r.runAllJobs()
	require.Equal(t, []string{"Yes, what is it?", "It comes today.", "Did it come?"}, r.sender.view(anasRoom, anyEvent),
		"a thread that ended by itself goes on")
	require.True(t, r.escalation(ana.ID).IsOpen())
}

// proposals are answers without sources.
func proposals(texts ...string) (list []store.Proposal) {
	for _, said := range texts {
		list = append(list, store.Proposal{Text: said})
	}
	return list
}

func TestProposal_NumberPicksOne(t *testing.T) {
	t.Parallel()
	for name, pick := range map[string]func(r *rig, card id.EventID){
		"a reply":    func(r *rig, card id.EventID) { r.reply(card, eva, " 2 ") },
		"a reaction": func(r *rig, card id.EventID) { r.react(eva, card, "2️⃣") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana := r.chat("Ana", anasRoom, policy.KindDM)
			card := r.escalate(anasRoom, "Do you ship to Rome?", func(c *desk.Case) {
				c.Proposals = proposals("Parking is free.", "We ship to Italy.", "We open at 9.")
			})
			require.Contains(t, r.card(card), "**2**")
			pick(r, card)
			r.react(bob, card, "👍")
			r.runAllJobs()
			require.Equal(t, []string{"We ship to Italy."}, r.sender.view(anasRoom, anyEvent))
			require.Equal(t, 2, r.escalation(ana.ID).Picked)
			r.reply(card, eva, "3")
			r.runAllJobs()
			require.Equal(t, []string{"We ship to Italy.", "3"}, r.sender.view(anasRoom, anyEvent), "after a pick a number is an answer")
		})
	}
}

func TestProposal_IsSentOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Do you ship to Rome?", func(c *desk.Case) { c.Proposals = proposals("We ship to Italy.") })
	r.react(eva, card, "👍")
	r.react(bob, card, "👍")
	r.runAllJobs()
	require.Equal(t, []string{"We ship to Italy."}, r.sender.view(anasRoom, anyEvent))
	r.react(eva, card, "⏸")
	r.runAllJobs()
	require.NotNil(t, r.reload(ana).PausedUntil)
	require.Contains(t, r.card(card), "**paused** until ✅")
	r.react(eva, card, "✅")
	r.runAllJobs()
	require.Nil(t, r.reload(ana).PausedUntil)
	require.Nil(t, r.reload(ana).OwnerWroteAt)
}

func TestReply_WithoutRightIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Is anybody there?")
	r.desk.Operators = []id.UserID{eva}
	r.reply(card, bob, "Me")
	r.react(bob, card, "✅")
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent))
	require.Contains(t, r.inThread(card), "operators may not answer here")
	r.reply(card, eva, "/handoff")
	r.reply(card, eva, "!wa logout")
	r.runAllJobs()
	require.Empty(t, r.sender.view(anasRoom, anyEvent), "a command is no answer")
}

func TestOperators_ListAndClaim(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	r.escalate(anasRoom, "Is anybody there?")
	ben := r.chat("Ben", "!ben:example.com", policy.KindDM)
	r.say("!ben:example.com", contactOf("!ben:example.com"), "Hello?")
	r.say(deskRoom, eva, "/handoff Ben")
	r.runAllJobs()
	require.Equal(t, eva, r.escalation(ben.ID).ClaimedBy)
	yours := func() string {
		return strings.Join(r.sender.view(deskRoom, func(e sentEvent) bool { return strings.Contains(e.body, "is yours") }), "\n")
	}
	require.Equal(t, "✋ **Ben · Demo** is yours: answer in its thread. I stay quiet there.", yours())
	r.say(deskRoom, eva, "/handoff Ben")
	r.runAllJobs()
	require.Contains(t, yours(), "answer in its thread (https://matrix.to/", "where it is by now")
	r.say(deskRoom, bob, "/escalations")
	r.runAllJobs()
	last := r.sender.sent[len(r.sender.sent)-1].body
	require.Contains(t, last, "Ana · Demo — **waits**")
	require.Contains(t, last, "✋ eva")
	require.Contains(t, last, "matrix.to")

	for i := range 12 {
		room := id.RoomID(fmt.Sprintf("!c%d:example.com", i))
		r.chat(fmt.Sprintf("Contact%d", i), room, policy.KindDM)
		r.escalate(room, "Is anybody there?")
	}
	r.say(deskRoom, bob, "/escalations")
	r.runAllJobs()
	last = r.sender.sent[len(r.sender.sent)-1].body
	require.Contains(t, last, "**14 conversations**")
	require.Contains(t, last, "Contact11 · Demo — **waits**", "nobody takes what nobody sees")
}

func TestDue_UnclaimedCallsHook(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = time.Now()
	r.tx(func(tx store.Tx) error {
		return store.ReplaceHooks(r.ctx, tx, []store.Hook{{Name: "pager", Events: []string{string(policy.HookUnclaimed)}}})
	})
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	r.escalate(anasRoom, "Is anybody there?")
	calls := func() int {
		return storetest.Count(t, r.st, "select count(*) from hook_deliveries where event = 'unclaimed' and ref = $1",
			strconv.FormatInt(int64(r.escalation(ana.ID).MessageID), 10))
	}
	wait := func(d time.Duration) {
		r.now = r.now.Add(d)
		for range 3 { // a job that is to be repeated is run once by each
			r.runAllJobs()
		}
	}
	wait(21 * time.Minute)
	require.Zero(t, calls(), "the operators and the owner are called first")
	wait(10 * time.Minute)
	require.Equal(t, 1, calls())
	wait(24 * time.Hour)
	require.Equal(t, 1, calls(), "once")
}

func TestDue_WithoutOperatorsHookFollowsOwner(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.desk.Operators = nil
	r.now = time.Now()
	r.tx(func(tx store.Tx) error {
		return store.ReplaceHooks(r.ctx, tx, []store.Hook{{Name: "pager", Events: []string{string(policy.HookUnclaimed)}}})
	})
	r.chat("Ana", anasRoom, policy.KindDM)
	card, seen := r.escalate(anasRoom, "Is anybody there?"), len(r.sender.sent)
	for times, want := range []struct {
		called []id.UserID
		hooks  int
	}{{nil, 0}, {[]id.UserID{owner}, 0}, {nil, 1}, {nil, 1}} {
		r.runAllJobs()
		r.runAllJobs() // a job that is to be repeated is run once by each
		require.Equal(t, want.called, r.mentioned(card, &seen), "after %d times claim_within", times)
		require.Equal(t, want.hooks, storetest.Count(t, r.st, "select count(*) from hook_deliveries where event = 'unclaimed'"),
			"after %d times claim_within", times)
		r.now = r.now.Add(10*time.Minute + time.Second)
	}
}

// An answer has a clock of its own. Where the contact waits again after it, both clocks run, and each step is still taken once.
func TestDue_StepsAreTakenOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.now = time.Now()
	r.chat("Ana", anasRoom, policy.KindDM)
	card := r.escalate(anasRoom, "Is anybody there?")
	r.reply(card, eva, "Yes, what is it?")
	r.runAllJobs()
	r.reply(card, eva, "I am here.")
	r.runAllJobs()
	seen := r.waitAgain(card)
	var called []id.UserID
	for range 8 {
		r.now = r.now.Add(10*time.Minute + time.Second)
		for range 3 { // a job that is to be repeated is run once by each
			r.runAllJobs()
		}
		called = append(called, r.mentioned(card, &seen)...)
	}
	require.Equal(t, []id.UserID{eva, bob, owner}, called)
}
