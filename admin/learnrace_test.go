package admin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// judge is the model that compares an answer with a document. It takes a while, in which the answer may change.
type judge func()

func (j judge) Contradicts(context.Context, store.ChatID, string, string, string) (bool, error) {
	j()
	return true, nil
}

// The owner is asked about what a person says, not about what the person said before a correction of it.
func TestLearn_RereadsChangedAnswer(t *testing.T) {
	t.Parallel()
	const said, corrected = "That has changed, sorry.", "That is 7 euro."
	for name, c := range map[string]struct {
		change func(r *rig, m store.Message) error
		shown  string // empty for nothing
	}{
		"edited": {func(r *rig, m store.Message) error {
			return r.st.InTx(r.ctx, func(tx store.Tx) error {
				_, err := store.EditMessage(r.ctx, tx, m.ChatID, m.EventID, m.Sender, corrected, time.Now())
				return err
			})
		}, corrected},
		"deleted": {func(r *rig, m store.Message) error {
			return r.st.InTx(r.ctx, func(tx store.Tx) error {
				_, err := store.RedactMessage(r.ctx, tx, m.ChatID, m.EventID, time.Now())
				return err
			})
		}, ""},
		"taken back in the thread": {func(r *rig, m store.Message) error {
			return r.st.InTx(r.ctx, func(tx store.Tx) error {
				_, err := store.EraseReplies(r.ctx, tx, m.ID)
				return err
			})
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newDesk(t)
			r.addDocument("prices.md", "# Delivery\n\nDelivery costs 5 euro within the city.", policy.RolePublic)
			customer := r.customer("Ana")
			r.customerAsks(customer, "Can I talk to a person?")
			r.exec("update escalations set message_id = $2, cause = 'person' where chat_id = $1", customer.ID,
				r.say(customer, policy.AuthorContact, "@c:x", "What does delivery cost?"))
			where := customer
			if name == "taken back in the thread" {
				where = r.room
			}
			answer, err := store.MessageByID(r.ctx, r.st.DB(), r.say(where, policy.AuthorOperator, operator, said))
			require.NoError(t, err)
			if where.ID == r.room.ID {
				r.tx(func(tx store.Tx) error {
					_, _, err := r.box.Queue(r.ctx, tx, outbox.Message{
						Chat:    customer,
						Purpose: policy.PurposeDraft,
						Text:    said,
						Quotes:  []store.MessageID{answer.ID},
						Sources: []store.MessageID{answer.ID},
					})
					return err
				})
				r.sendQueued()
			}
			judged := false
			r.book.Judge = judge(func() {
				if !judged {
					require.NoError(t, c.change(r, answer))
				}
				judged = true
			})
			shown := r.findAnswers()
			require.True(t, judged)
			if c.shown == "" {
				require.Empty(t, shown)
				return
			}
			require.Len(t, shown, 1)
			require.Contains(t, shown[0].Body, c.shown)
		})
	}
}

// What was edited before it was read is stored like anything else, also what the owner is not asked about.
func TestLearn_ReadsEditedQuestion(t *testing.T) {
	t.Parallel()
	r := newDesk(t)
	ana := r.customer("Ana")
	question, err := store.MessageByID(r.ctx, r.st.DB(), r.say(ana, policy.AuthorContact, "@c:x", "Are you opne?"))
	require.NoError(t, err)
	r.tx(func(tx store.Tx) error {
		_, err := store.EditMessage(r.ctx, tx, ana.ID, question.EventID, question.Sender, "Are you open?", time.Now())
		return err
	})
	r.say(ana, policy.AuthorOwnerPhone, owner, "Yes, until five.")
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, policy.ModePersonal) })
	require.Empty(t, r.findAnswers())
	require.Equal(t, 1, r.count("select count(*) from unanswered_questions where question_id = $1", question.ID))
}
