package admin_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/ops/web"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// card shows the owner the question about some calls of a task, each with its arguments.
func (r *rig) callCard(tier store.ApprovalTier, arguments ...string) []store.Approval {
	r.t.Helper()
	task := r.addTask(strings.Join(arguments, " "))
	var calls []store.Approval
	for i, a := range arguments {
		call := store.Approval{
			TaskID:    task.ID,
			CallID:    string(rune('a' + i)),
			Tool:      "fetch_url",
			Arguments: a,
			Binding:   a,
			Tier:      tier,
			ExpiresAt: r.now.Add(15 * time.Minute),
			Grantable: tier != store.ApprovalPIN,
		}
		if i > 0 {
			call.Card = calls[0].ID
		}
		calls = append(calls, storetest.OpenApproval(r.t, r.st, call))
	}
	require.NoError(r.t, r.admin.Tasks.RequestApproval(r.ctx, calls[0].ID))
	r.sendQueued()
	return calls
}

// decideCalls decides about calls on the page, as they were shown.
func (r *rig) decideCalls(s store.WebSession, calls []store.Approval, change func(*web.CallDecision)) string {
	r.t.Helper()
	d := web.CallDecision{Card: calls[0].ID, Version: web.CallsVersion(calls), Allow: true}
	if change != nil {
		change(&d)
	}
	refused, err := r.admin.Web.DecideCalls(r.ctx, s, d)
	require.NoError(r.t, err)
	return refused
}

func (r *rig) approval(a store.Approval) store.Approval {
	r.t.Helper()
	a, err := store.ApprovalByID(r.ctx, r.st.DB(), a.ID)
	require.NoError(r.t, err)
	return a
}

func TestWeb_CallsAreDecidedOnceAsInTheRoom(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	s := r.session("a")
	calls := r.callCard(store.ApprovalConfirm, `{"url": "a"}`, `{"url": "b"}`, `{"url": "c"}`)
	question := r.lastSent()
	require.Empty(t, r.decideCalls(s, calls, func(d *web.CallDecision) { d.Numbers, d.ForHour = []int{1, 3}, true }))
	require.True(t, *r.approval(calls[0]).Allowed)
	require.False(t, *r.approval(calls[1]).Allowed)
	require.True(t, *r.approval(calls[2]).Allowed)
	require.Equal(t, store.HowText, r.approval(calls[0]).How)
	require.Equal(t, 1, r.count("select count(*) from approval_grants where expires_at > created_at"), "they have one target")
	require.Equal(t, 1,
		r.count("select count(*) from audit_entries where action = 'approvals' and outcome = 'yes' and rule = 'web_session_1'"))

	r.sendQueued()
	require.Contains(t, r.homeserver.ended[len(r.homeserver.ended)-1].Body, "✅ 18:00", "the question in the room says so")
	require.Contains(t, r.react(question.Event, "👎"), "That question is closed.")
	require.NotEmpty(t, r.decideCalls(s, calls, nil), "it is decided once")

	declined := r.callCard(store.ApprovalConfirm, `{"url": "d"}`)
	require.Empty(t, r.decideCalls(s, declined, func(d *web.CallDecision) { d.Allow, d.Why = false, "too much" }))
	require.False(t, *r.approval(declined[0]).Allowed)
	require.Equal(t, "too much", r.approval(declined[0]).Reason)
	require.Equal(t, store.HowReply, r.approval(declined[0]).How)
}

func TestWeb_CallsThatChangedAreNotDecided(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	s := r.session("a")
	for name, change := range map[string]func([]store.Approval){
		"asked again": func(c []store.Approval) { r.exec("update approvals set binding = 'x' where id = $1", c[0].ID) },
		"other arguments": func(c []store.Approval) {
			r.exec("update approvals set arguments = '{\"url\": \"evil\"}' where id = $1", c[0].ID)
		},
		"one more call": func(c []store.Approval) {
			r.exec("update approvals set card = $1 where id = (select min(id) from approvals)", c[0].ID)
		},
		"decided in the room": func([]store.Approval) { r.react(r.lastSent().Event, "👎") },
		"expired":             func([]store.Approval) { r.now = r.now.Add(16 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			r.callCard(store.ApprovalConfirm, `{"url": "other `+name+`"}`)
			calls := r.callCard(store.ApprovalConfirm, `{"url": "`+name+`"}`)
			change(calls)
			require.Contains(t, r.decideCalls(s, calls, nil), "It has changed since the page showed it.")
			allowed := r.approval(calls[0]).Allowed
			require.True(t, allowed == nil || !*allowed)
			r.exec("delete from tasks")
		})
	}
}

func TestWeb_RefusesFormsThatDoNotFit(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	s := r.session("a")
	calls := r.callCard(store.ApprovalConfirm, `{"url": "a"}`, `{"url": "b"}`)
	r.exec("update approvals set grantable = false")
	require.Contains(t, r.decideCalls(s, calls[1:], nil), "no such question", "a part of a card")
	require.Contains(t, r.decideCalls(s, []store.Approval{{ID: 99}}, nil), "no such question")
	require.Contains(t, r.decideCalls(s, calls, func(d *web.CallDecision) { d.Numbers = []int{3} }), "Mark the calls")
	require.Contains(t, r.decideCalls(s, calls, func(d *web.CallDecision) { d.Allow, d.Numbers = false, []int{1} }), "Mark the calls")
	require.Contains(t, r.decideCalls(s, calls, func(d *web.CallDecision) { d.ForHour = true }), "only be allowed once")
	require.Contains(t, r.decideCalls(s, calls, func(d *web.CallDecision) { d.Version = "" }), "It has changed")
	require.Zero(t, r.count("select count(*) from approvals where allowed is not null"))
	require.Zero(t, r.count("select count(*) from dialogs where kind = 'approval' and done_at is not null"), "the room still asks")
}

func TestWeb_PINCountsWithThoseOfTheRoom(t *testing.T) {
	t.Parallel()
	r := newPINRig(t, false)
	s := r.session("a")
	calls := r.callCard(store.ApprovalPIN, `{"url": "a"}`)
	enter := func(digits string) string {
		return r.decideCalls(s, calls, func(d *web.CallDecision) { d.PIN = digits })
	}
	require.Contains(t, enter(canary), "That needs a PIN, and none is set.")
	r.setPIN(canary)
	for _, digits := range []string{"", "12", "abcd", canary + "1"} {
		require.Contains(t, enter(digits), "That needs your PIN: 4 to 6 digits.", "it is no try")
	}
	require.Contains(t, enter("1111"), "2 tries left")
	require.Empty(t, enter(canary))
	require.True(t, *r.approval(calls[0]).Allowed)
	require.Zero(t, r.count("select count(*) from audit_entries e where e::text like '%"+canary+"%'"))

	calls = r.callCard(store.ApprovalPIN, `{"url": "b"}`)
	require.Contains(t, enter(""), "That needs your PIN", "it is asked for each time")
	require.Contains(t, enter("1111"), "2 tries left")
	require.Contains(t, enter("1111"), "1 try left")
	require.Contains(t, enter("1111"), "The PIN is locked until")
	require.Contains(t, enter(canary), "The PIN is locked until")
	require.Nil(t, r.approval(calls[0]).Allowed)
	require.Contains(t, bodies(r.sendQueued()), "The PIN is locked until", "the room is told")
	require.Empty(t, r.decideCalls(s, calls, func(d *web.CallDecision) { d.Allow = false }), "a no needs none")
}

func TestWeb_PlanIsDecidedOnceAsInTheRoom(t *testing.T) {
	t.Parallel()
	r := newWebRig(t)
	s := r.session("a")
	plan := r.showPlan("sell the piano")
	event := r.lastSent().Event
	calls, err := store.WaitingCalls(r.ctx, r.st.DB(), r.now, 10)
	require.NoError(t, err)
	require.Equal(t, "sell the piano", calls[0].Asked)
	require.Empty(t, r.decideCalls(s, []store.Approval{calls[0].Approval}, nil))
	require.True(t, *r.approval(calls[0].Approval).Allowed)
	require.Equal(t, event, r.task(plan.ID).ProgressEvent, "the message with the plan shows its progress")
	require.Contains(t, r.react(event, "👎"), "That question is closed.")
}

// actOnEscalation does something with an escalation on the page, as it was shown.
func (r *rig) actOnEscalation(s store.WebSession, e store.Escalation, a web.EscalationAction) string {
	r.t.Helper()
	chat, err := store.ChatByID(r.ctx, r.st.DB(), e.ChatID)
	require.NoError(r.t, err)
	a.Escalation, a.Version = e.ID, web.EscalationVersion(e, chat)
	refused, err := r.admin.Web.ActOnEscalation(r.ctx, s, a)
	require.NoError(r.t, err)
	return refused
}

func (r *rig) escalation(e store.Escalation) store.Escalation {
	r.t.Helper()
	e, err := store.EscalationByID(r.ctx, r.st.DB(), e.ID)
	require.NoError(r.t, err)
	return e
}

func TestWeb_EscalationIsAnsweredAsInItsThread(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	s := r.session("a")
	ben, cid := r.customer("Ben"), r.customer("Cid")
	ofBen, ofCid := r.escalateQuestion(ben, "What does delivery cost?"), r.escalateQuestion(cid, "What does delivery cost?")

	require.Empty(t, r.actOnEscalation(s, ofBen, web.EscalationAction{Step: web.StepClaim}))
	require.Equal(t, owner, r.escalation(ofBen).ClaimedBy)
	reply := web.EscalationAction{Step: web.StepReply, Text: "I bring it myself."}
	require.Contains(t, r.actOnEscalation(s, ofBen, reply), "It has changed since the page showed it.", "it was claimed since")
	for _, words := range []string{"note: he is nice", "/resolve", "✅", "learn 1", "📝 x"} {
		require.Contains(t, r.actOnEscalation(s, r.escalation(ofBen), web.EscalationAction{Step: web.StepReply, Text: words}), "Not sent", words)
	}
	r.sendQueued()
	before := len(r.sentTo(ben))
	require.Empty(t, r.actOnEscalation(s, r.escalation(ofBen), reply))
	r.sendQueued()
	require.Equal(t, []string{"I bring it myself."}, r.sentTo(ben)[before:], "in the owner's name, without a mark")
	require.NotNil(t, r.escalation(ofBen).AnsweredAt)
	require.Empty(t, r.actOnEscalation(s, r.escalation(ofBen), web.EscalationAction{Step: web.StepResolve}))
	require.False(t, r.escalation(ofBen).IsOpen())

	before = len(r.sentTo(cid))
	require.Contains(t, r.actOnEscalation(s, ofCid, web.EscalationAction{Step: web.StepSuggest, Suggestion: 9}), "no such suggestion")
	require.Empty(t, r.actOnEscalation(s, ofCid, web.EscalationAction{Step: web.StepSuggest, Suggestion: 1}))
	require.NotEmpty(t, r.actOnEscalation(s, ofCid, web.EscalationAction{Step: web.StepSuggest, Suggestion: 1}), "once")
	r.sendQueued()
	require.Len(t, r.sentTo(cid)[before:], 1)
	require.Contains(t, r.sentTo(cid)[before], "5 euro")
	require.Empty(t, r.actOnEscalation(s, r.escalation(ofCid), web.EscalationAction{Step: web.StepPause}))
	require.Equal(t, store.PausedForever.Unix(), r.reload(cid).PausedUntil.Unix())
	require.Contains(t, r.actOnEscalation(s, store.Escalation{ID: 99, ChatID: ben.ID}, reply), "no such escalation")
	require.Equal(t, 1,
		r.count("select count(*) from audit_entries where action = 'escalations' and outcome = 'reply' and rule = 'web_session_1'"))
}

// TestWeb_EscalationIsAnsweredOnceByManyAtOnce sends one form many times.
func TestWeb_EscalationIsAnsweredOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	s := r.session("a")
	ben := r.customer("Ben")
	e := r.escalateQuestion(ben, "What does delivery cost?")
	r.sendQueued()
	before := len(r.sentTo(ben))
	chat := r.reload(ben)
	done := make(chan string)
	for range 8 {
		go func() {
			refused, err := r.admin.Web.ActOnEscalation(context.Background(), s, web.EscalationAction{
				Escalation: e.ID, Version: web.EscalationVersion(e, chat), Step: web.StepReply, Text: "Five euro.",
			})
			if err != nil {
				refused = err.Error()
			}
			done <- refused
		}()
	}
	sent := 0
	for range 8 {
		if refused := <-done; refused == "" {
			sent++
		}
	}
	require.Equal(t, 1, sent)
	r.sendQueued()
	require.Equal(t, []string{"Five euro."}, r.sentTo(ben)[before:])
}
