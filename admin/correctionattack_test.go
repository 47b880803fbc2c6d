package admin_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent"
	"multis/agent/persona"
	"multis/agent/run"
	"multis/business/catalog"
	"multis/knowledge/search"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// saysAs is a model that says one sentence, and quotes the same words of each of the first passages.
type saysAs struct{ text, quote string }

func (saysAs) Name() string { return "test/model" }

func (m saysAs) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	var said run.Answer
	for source := range 3 {
		said.Sentences = append(said.Sentences, run.Sentence{Text: m.text, Source: source + 1, Quote: m.quote})
	}
	raw, err := json.Marshal(said)
	return func(yield func(llm.Delta, error) bool) { yield(llm.Delta{Text: string(raw)}, err) }
}

// newTurnsOf is newTurns with a model.
func (r *rig) newTurnsOf(model llm.Model) *agent.Turns {
	return agent.New(agent.Options{
		Store:    r.st,
		Box:      r.box,
		Search:   search.New(r.st),
		Personas: persona.Set{Model: model},
		Name:     "Nora",
		Answers:  r.book,
		Language: catalog.English,
		Zone:     time.UTC,
		Defaults: r.settings.Defaults,
	}).Turns
}

// correctDelivery has a person correct what a document says about the delivery.
func (r *rig) correctDelivery() {
	r.t.Helper()
	shown := r.personAnswers("Ana", "What does delivery cost?", "Since May it is 7 euro.")
	require.Len(r.t, shown, 1)
	r.react(shown[0].Event, "👍")
	require.NoError(r.t, r.admin.Answers.PublishAnswers(r.ctx))
}

func TestCorrection_ModelOmitsOldText(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md",
		"# Delivery\n\nWe deliver within two days.\nDelivery costs 5 euro within the city.\n\nWe bring it up the stairs.", policy.RolePublic)
	r.correctDelivery()
	for name, m := range map[string]saysAs{
		"the sentence":                   {"Delivery costs 5 euro.", "Delivery costs 5 euro within the city."},
		"with other white space":         {"Delivery costs 5 euro.", "Delivery costs\n5 euro within the city."},
		"with words before it":           {"Delivery costs 5 euro.", "within two days. Delivery costs 5 euro"},
		"with words after it":            {"Delivery costs 5 euro.", "euro within the city. We bring it up"},
		"as the sentence beside it says": {"Delivery costs 5 euro.", "We bring it up the stairs."},
	} {
		for _, said := range r.customerAsksIn(r.newTurnsOf(m), r.customer("Ben "+name), "What does delivery cost?") {
			require.NotContains(t, said, "5 euro", name)
		}
	}
	said := r.customerAsksIn(r.newTurnsOf(saysAs{"We bring it up the stairs.", "We bring it up the stairs."}), r.customer("Cid"),
		"Do you bring a delivery up the stairs?")
	require.Contains(t, said[0], "We bring it up the stairs.", "the rest of the passage is quoted")
}

// escalateQuestion has a customer ask a question that a person answers, and returns the card of its thread.
func (r *rig) escalateQuestion(c store.Chat, question string) store.Escalation {
	r.t.Helper()
	m := r.say(c, policy.AuthorContact, "@whatsapp_1:example.com", question)
	r.exec("update messages set action = 'escalate', reason = 'It asks for a person.' where id = $1", m)
	require.NoError(r.t, r.newTurns().Turn(r.ctx, c.ID, "job", false))
	r.sendQueued()
	e, err := store.EscalationOfChat(r.ctx, r.st.DB(), c.ID)
	require.NoError(r.t, err)
	return e
}

func TestProposal_DroppedAfterDocumentChange(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	ben, cid := r.customer("Ben"), r.customer("Cid")
	ofBen, ofCid := r.escalateQuestion(ben, "What does delivery cost?"), r.escalateQuestion(cid, "What does delivery cost?")
	require.Contains(t, ofBen.Proposals[0].Text, "5 euro")
	r.react(*ofCid.CardEvent, "👍")
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 8 euro within the city.", policy.RolePublic)
	require.Contains(t, r.react(*ofBen.CardEvent, "👍"), "Not sent: the documents have changed")
	r.sendQueued()
	require.NotContains(t, strings.Join(r.sentTo(ben), "\n"), "5 euro")
	require.Contains(t, strings.Join(r.sentTo(cid), "\n"), "5 euro")
}

func TestProposal_LearnedBecomesAnswer(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	e := r.escalateQuestion(r.customer("Ben"), "What does delivery cost, please?")
	r.handle(store.Message{Body: "learn", Thread: *e.CardEvent, Author: policy.AuthorOwnerClient, Sender: owner})
	list, err := store.CannedAnswers(r.ctx, r.st.DB())
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, "What does delivery cost, please?", list[0].Question)
	require.Contains(t, list[0].Answer, "5 euro")
}

func TestCorrection_CardOmitsOldText(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
	r.correctDelivery()
	e := r.escalateQuestion(r.customer("Ben"), "What does delivery cost?")
	require.Equal(t, "Since May it is 7 euro. (from Answers)", e.Proposals[0].Text)
	require.NotEmpty(t, e.Citations())
	for _, c := range e.Citations() {
		require.NotContains(t, c.Quote, "5 euro")
	}
}
