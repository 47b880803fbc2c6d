package desk_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/business/desk"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const holdingText = "Let me check with the team."

// escalateDrafted escalates a chat with drafts, in which what the contact is told needs approval, and returns the card.
func (r *rig) escalateDrafted(question string, proposals ...store.Proposal) (ana store.Chat, card id.EventID, draft uuid.UUID) {
	r.t.Helper()
	ana = r.chat("Ana", anasRoom, policy.KindDM)
	r.tx(func(tx store.Tx) error { return store.SetDelivery(r.ctx, tx, ana.ID, policy.DeliveryDraft) })
	ana = r.reload(ana)
	r.asked = append(r.asked, r.say(anasRoom, contactOf(anasRoom), question))
	m, err := store.MessageByEvent(r.ctx, r.st.DB(), ana.ID, r.asked[0])
	require.NoError(r.t, err)
	r.tx(func(tx store.Tx) error {
		_, err := r.desk.Open(r.ctx, tx, desk.Case{
			Chat:      ana,
			Messages:  []store.Message{m},
			Reason:    "It asks for a person.",
			Proposals: proposals,
			Tell: func(bool) (err error) {
				draft, _, err = r.box.Queue(r.ctx, tx, outbox.Message{
					Chat:    ana,
					Purpose: policy.PurposeEscalation,
					Text:    holdingText,
					SeenID:  m.ID,
				})
				return err
			},
		})
		return err
	})
	require.Equal(r.t, store.OutboxDraft, r.message(draft).State)
	require.NoError(r.t, r.admin.Drafts.PresentDraft(r.ctx, draft))
	r.runAllJobs()
	return ana, *r.escalation(ana.ID).CardEvent, draft
}

func (r *rig) message(out uuid.UUID) store.OutboxMessage {
	r.t.Helper()
	o, err := store.OutboxMessageByID(r.ctx, r.st.DB(), out)
	require.NoError(r.t, err)
	return o
}

// rings counts the messages in the desk's room that make a phone ring.
func (r *rig) rings() (n int) {
	for _, e := range r.sender.sent {
		if e.room == deskRoom && e.replaces == "" && e.reaction == "" && e.thread == "" {
			n++
		}
	}
	return n
}

// One message of a contact is one card, which rings once.
func TestHolding_IsPartOfCard(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, card, draft := r.escalateDrafted("I want to speak to a person")
	require.Equal(t, 1, r.rings())
	require.Contains(t, r.card(card), "For now, only that a person will answer (👍 sends it)")
	require.Contains(t, r.card(card), "[Nora] "+holdingText)
	require.Contains(t, r.card(card), "not told yet")

	r.react(eva, card, "👍")
	r.runAllJobs()
	require.Equal(t, []string{"[Nora] " + holdingText}, r.sender.view(anasRoom, anyEvent))
	require.Equal(t, policy.PurposeEscalation, r.message(draft).DraftedAs)
	require.Contains(t, r.card(card), "✉️ told that a person will answer")
	require.NotContains(t, r.card(card), "👍 sends it")
	require.True(t, r.escalation(r.message(draft).ChatID).IsWaiting(), "a person has to answer still")
	r.react(eva, card, "👍")
	r.runAllJobs()
	require.Len(t, r.sender.view(anasRoom, anyEvent), 1, "once")
	require.Equal(t, 1, r.rings())
}

func TestHolding_StandsAfterProposals(t *testing.T) {
	t.Parallel()
	proposal := store.Proposal{Text: "Please send a photo."}
	for name, c := range map[string]struct {
		pick       string
		sent       []string
		isAnswered bool
	}{
		"the proposal":         {"1", []string{"Please send a photo."}, true},
		"the holding message":  {"2", []string{"[Nora] " + holdingText}, false},
		"a number of no text":  {"3", nil, true}, // a number alone is an answer like any other
		"the third by a sign":  {"3️⃣", nil, false},
		"the second by a sign": {"2️⃣", []string{"[Nora] " + holdingText}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana, card, _ := r.escalateDrafted("My parcel arrived broken", proposal)
			require.Contains(t, r.card(card), "**2** For now, only that a person will answer")
			if strings.HasSuffix(c.pick, "⃣") {
				r.react(eva, card, c.pick)
			} else {
				r.reply(card, eva, c.pick)
			}
			r.runAllJobs()
			want := c.sent
			if c.isAnswered && want == nil {
				want = []string{c.pick}
			}
			require.Equal(t, want, r.sender.view(anasRoom, anyEvent))
			require.Equal(t, !c.isAnswered, r.escalation(ana.ID).IsWaiting())
		})
	}
}

func TestHolding_EndsWithEscalation(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig, card id.EventID, draft uuid.UUID){
		"a person answers": func(r *rig, card id.EventID, _ uuid.UUID) { r.reply(card, eva, "I'm looking into it.") },
		"it is resolved":   func(r *rig, card id.EventID, _ uuid.UUID) { r.react(eva, card, "✅") },
		"its question is deleted": func(r *rig, _ id.EventID, _ uuid.UUID) {
			for _, e := range r.asked {
				r.redact(anasRoom, contactOf(anasRoom), e)
			}
		},
		"nobody approves it": func(r *rig, _ id.EventID, draft uuid.UUID) {
			_, err := r.st.Pool().Exec(r.ctx, "update outbox set created_at = created_at - interval '5 hours' where id = $1", draft)
			require.NoError(r.t, err)
			_, err = r.st.Pool().Exec(r.ctx, "update escalations set opened_at = opened_at - interval '6 hours'")
			require.NoError(r.t, err)
			require.NoError(r.t, r.admin.Drafts.PresentDraft(r.ctx, draft))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			_, card, draft := r.escalateDrafted("My parcel arrived broken")
			end(r, card, draft)
			r.runAllJobs()
			require.Equal(t, store.OutboxDropped, r.message(draft).State)
			require.NotContains(t, r.card(card), holdingText)
			require.NotContains(t, r.card(card), "not told yet")
			require.NotContains(t, r.sender.view(anasRoom, anyEvent), "[Nora] "+holdingText)
		})
	}
}

func TestCard_ShowsConversationBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", anasRoom, policy.KindDM)
	for _, said := range []string{"one", "two", "three", "# four\n> five"} {
		r.say(anasRoom, contactOf(anasRoom), said)
	}
	r.writeOnPhone(anasRoom, "I'll look")
	card := r.escalate(anasRoom, "My parcel arrived broken")
	text := r.card(card)
	require.NotContains(t, text, "Ana: one", "the last four")
	require.Regexp(t, `(?s)Before:.*Ana: two.*Ana: three.*Ana: # four > five.*the owner \(phone\): I'll look.*My parcel arrived broken`, text)
	require.Equal(t, 1, storetest.Count(t, r.st, "select count(*) from escalation_lines"), "the card is about the question alone")
}

// What was said before is deleted with its message.
func TestCard_DeletedConversationLeavesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", anasRoom, policy.KindDM)
	secret := r.say(anasRoom, contactOf(anasRoom), "my code is tulip")
	card := r.escalate(anasRoom, "My parcel arrived broken")
	require.Contains(t, r.card(card), "tulip")
	r.redact(anasRoom, contactOf(anasRoom), secret)
	r.runAllJobs()
	require.Empty(t, r.card(card))
	again := r.escalation(ana.ID).CardEvent
	require.NotNil(t, again)
	require.NotContains(t, r.card(*again), "tulip")
	require.Contains(t, r.card(*again), "My parcel arrived broken")
}

// A line before the question takes the card with it when it is deleted. Whoever has claimed the question gets it on
// another card, and what they write in the former thread is still sent.
func TestCard_ComesBackToWhoClaimedIt(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]func(r *rig, card id.EventID){
		"claimed":  func(r *rig, card id.EventID) { r.react(eva, card, "✋") },
		"answered": func(r *rig, card id.EventID) { r.reply(card, eva, "One moment.") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			ana := r.chat("Ana", anasRoom, policy.KindDM)
			secret := r.say(anasRoom, contactOf(anasRoom), "my code is tulip")
			card := r.escalate(anasRoom, "My parcel arrived broken")
			hold(r, card)
			r.runAllJobs()
			r.redact(anasRoom, contactOf(anasRoom), secret)
			r.runAllJobs()
			e := r.escalation(ana.ID)
			require.Equal(t, eva, e.ClaimedBy)
			require.NotNil(t, e.CardEvent)
			require.NotEqual(t, card, *e.CardEvent)
			require.Empty(t, r.card(card))
			require.Contains(t, r.card(*e.CardEvent), "My parcel arrived broken")
			require.Contains(t, r.card(*e.CardEvent), "**eva**")
			require.NotContains(t, r.card(*e.CardEvent), "tulip")
			r.reply(card, eva, "In the former thread.")
			r.runAllJobs()
			r.reply(*e.CardEvent, eva, "In the new one.")
			r.runAllJobs()
			said := r.sender.view(anasRoom, anyEvent)
			require.Equal(t, []string{"In the former thread.", "In the new one."}, said[len(said)-2:])
			r.redact(deskRoom, eva, *e.CardEvent)
			r.runAllJobs()
			require.Equal(t, e.CardEvent, r.escalation(ana.ID).CardEvent, "who deletes the card itself gets no other")
		})
	}
}
