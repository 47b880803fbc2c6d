package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/config"
)

// Questions that no document answers, and the owner's answers to them.
const (
	unansweredQuestion = "Do you sell gift vouchers?"
	vouchers           = "Yes, we sell gift vouchers for any amount, valid for three years."
	answersName        = "Answers.md"
	learnQuestion      = "Save this answer?"
	tyreQuestion       = "How much is a new tyre, fitted?"
	ownerTyreAnswer    = "A new tyre is 29 €, fitted."
	tyrePrice          = "29 €"
	draftQuestion      = "Can you repair a puncture while I wait?"
	puncturePrice      = "12 €"
)

// The files of the pictures that README shows.
const (
	draftPicture      = "draft.svg"
	escalationPicture = "escalation.svg"
)

// A question that the price list answers for two kinds of bicycles, what multis asks back, the contact's choice, and the answer.
const (
	ambiguous = "How much is the deposit?"
	askedBack = "Do you mean City bikes or Cargo bikes?"
	picked    = "the cargo bike please"
	deposit   = "A deposit of 200 € is due."
)

// deskSteps are the steps of the business desk.
type deskSteps struct{ *demo }

// draft has a contact's question answered with a draft, which reaches the contact when the owner approves it.
func (d deskSteps) draft(ctx context.Context) error {
	if err := d.newCustomer(ctx, finn, "Hello, this is Finn."); err != nil {
		return err
	}
	if _, err := d.command(ctx, "/delivery draft Finn", "once you say yes"); err != nil {
		return err
	}
	d.out.startPicture()
	if _, err := d.contactSays(ctx, finn, draftQuestion); err != nil {
		return err
	}
	card, err := d.awaitNewReply(ctx, "the draft for Finn", "Draft for Finn", puncturePrice)
	if err != nil {
		return err
	}
	delivered, err := d.rig.Delivered(ctx, finn)
	if err != nil {
		return err
	}
	if len(delivered) > 0 {
		return errors.New("a draft was sent before you approved it")
	}
	d.out.says("you (on the card)", cyan, "👍")
	if _, err := d.rig.Owner.SendReaction(ctx, d.admin, card, "👍"); err != nil {
		return fmt.Errorf("react to the card: %w", err)
	}
	got, err := d.awaitDelivery(ctx, finn, 1)
	if err != nil {
		return err
	}
	if err := d.out.endPicture(draftPicture); err != nil {
		return err
	}
	if err := d.requireSource(ctx, got.EventID, got.Text, puncturePrice); err != nil {
		return err
	}
	_, err = d.command(ctx, "/delivery auto Finn", "sent at once")
	return err
}

// thread sends a question that no document answers, answers it in the contact's thread as the owner, and gives the chat back to multis.
func (d deskSteps) thread(ctx context.Context) error {
	d.out.startPicture()
	if _, err := d.contactSays(ctx, ana, unansweredQuestion); err != nil {
		return err
	}
	if _, err := d.awaitDelivery(ctx, ana, 2); err != nil {
		return err
	}
	card, err := d.awaitNewReply(ctx, "the card of Ana's thread", "needs a person")
	if err != nil {
		return err
	}
	d.out.says("you (in that thread)", cyan, vouchers)
	reply := &event.MessageEventContent{MsgType: event.MsgText, Body: vouchers, RelatesTo: (&event.RelatesTo{}).SetThread(card, card)}
	if _, err := d.rig.Owner.SendMessageEvent(ctx, d.admin, event.EventMessage, reply); err != nil {
		return fmt.Errorf("write in the thread: %w", err)
	}
	got, err := d.awaitDelivery(ctx, ana, 3)
	if err != nil {
		return err
	}
	if err := d.out.endPicture(escalationPicture); err != nil {
		return err
	}
	if got.Text != vouchers {
		return errors.New("Ana did not get your words as you wrote them")
	}
	d.out.says("you (on the card)", cyan, "✅")
	if _, err := d.rig.Owner.SendReaction(ctx, d.admin, card, "✅"); err != nil {
		return fmt.Errorf("react to the card: %w", err)
	}
	resolved := func(ctx context.Context) (over bool, err error) {
		return over, d.queryRow(ctx, "select exists (select from escalations where closed_by = $1)", []any{d.settings.Owner}, &over)
	}
	if err := d.await(ctx, "the escalation to be resolved", resolved); err != nil {
		return err
	}
	d.out.check("Ana got your words in your name; while you answered multis was quiet, and with ✅ it answers her again")
	return d.awaitIdle(ctx)
}

// shadow shows a shadow answer, which is never sent, and how close it is to what the owner then writes on the phone.
func (d deskSteps) shadow(ctx context.Context) error {
	if err := d.newCustomer(ctx, emil, "Hello, this is Emil."); err != nil {
		return err
	}
	if _, err := d.command(ctx, "/delivery shadow Emil", "shadow"); err != nil {
		return err
	}
	if _, err := d.contactSays(ctx, emil, tyreQuestion); err != nil {
		return err
	}
	if _, err := d.awaitNewReply(ctx, "the shadow answer", "Shadow answer for Emil", tyrePrice); err != nil {
		return err
	}
	d.out.says("you (on your phone, to Emil)", cyan, ownerTyreAnswer)
	if _, err := d.rig.OwnerOnPhone(ctx, emil, ownerTyreAnswer); err != nil {
		return fmt.Errorf("write on the phone: %w", err)
	}
	if err := d.awaitMessage(ctx, ownerTyreAnswer); err != nil {
		return err
	}
	if _, err := d.command(ctx, "/shadow Emil", "100 % close to yours"); err != nil {
		return err
	}
	delivered, err := d.rig.Delivered(ctx, emil)
	if err != nil {
		return err
	}
	if len(delivered) > 0 {
		return errors.New("a shadow answer was sent")
	}
	d.out.check("nothing of multis reached Emil: the database lets no shadow answer become a message")
	return d.awaitIdle(ctx)
}

// learn turns the owner's answer in the thread into a document, and lets another contact ask the same question.
func (d deskSteps) learn(ctx context.Context) error {
	proposal, err := d.awaitNewReply(ctx, "the question whether to learn your answer to Ana", learnQuestion)
	if err != nil {
		return err
	}
	d.out.says("you (as a reply to that)", cyan, "public")
	said := &event.MessageEventContent{MsgType: event.MsgText, Body: "public", RelatesTo: (&event.RelatesTo{}).SetReplyTo(proposal)}
	sent, err := d.rig.Owner.SendMessageEvent(ctx, d.admin, event.EventMessage, said)
	if err != nil {
		return fmt.Errorf("answer in the admin room: %w", err)
	}
	if _, err := d.awaitReply(ctx, sent.EventID, "customers are answered from it"); err != nil {
		return err
	}
	written := func(ctx context.Context) (ok bool, err error) {
		return ok, d.queryRow(ctx, "select exists (select from documents where name = $1 and role = 'public')", []any{answersName}, &ok)
	}
	if err := d.await(ctx, "the document "+answersName, written); err != nil {
		return err
	}
	if _, err := d.contactSays(ctx, finn, unansweredQuestion); err != nil {
		return err
	}
	got, err := d.awaitDelivery(ctx, finn, 2)
	if err != nil {
		return err
	}
	sources, err := d.sources(ctx, got.EventID)
	if err != nil {
		return err
	}
	if !strings.Contains(got.Text, vouchers) || len(sources) != 1 || !strings.Contains(vouchers, sources[0].Quote) {
		return fmt.Errorf("the answer does not quote %q", vouchers)
	}
	d.out.check("Finn was answered alone, from what you told Ana: %s", sources[0].Name)
	return d.awaitIdle(ctx)
}

// clarify lets a contact ask a question with two answers, and choose one. With a model it does nothing: Finn has asked
// before, so the model would decide.
func (d deskSteps) clarify(ctx context.Context) error {
	if d.model != config.NoModel {
		return nil
	}
	if _, err := d.contactSays(ctx, finn, ambiguous); err != nil {
		return err
	}
	got, err := d.awaitDelivery(ctx, finn, 3)
	if err != nil {
		return err
	}
	if !strings.Contains(got.Text, askedBack) {
		return fmt.Errorf("Finn was not asked %q", askedBack)
	}
	if _, err := d.contactSays(ctx, finn, picked); err != nil {
		return err
	}
	if got, err = d.awaitDelivery(ctx, finn, 4); err != nil {
		return err
	}
	return d.requireSource(ctx, got.EventID, got.Text, deposit)
}

// leaveDraft has a draft for Finn wait until the end.
func (d deskSteps) leaveDraft(ctx context.Context) error {
	if _, err := d.command(ctx, "/delivery draft Finn", "once you say yes"); err != nil {
		return err
	}
	if _, err := d.contactSays(ctx, finn, tyreQuestion); err != nil {
		return err
	}
	_, err := d.awaitNewReply(ctx, "the draft for Finn", "Draft for Finn", tyrePrice)
	return err
}

// newCustomer sends a first message of a contact, and switches the chat to business.
func (d deskSteps) newCustomer(ctx context.Context, contact, hello string) error {
	if _, err := d.contactSays(ctx, contact, hello); err != nil {
		return err
	}
	if err := d.awaitMessage(ctx, hello); err != nil {
		return err
	}
	_, err := d.command(ctx, "/mode business "+capitalized(contact), "is now business")
	return err
}

// awaitMessage waits until a message is stored.
func (d *demo) awaitMessage(ctx context.Context, text string) error {
	return d.await(ctx, "the message to be stored", func(ctx context.Context) (ok bool, err error) {
		return ok, d.queryRow(ctx, "select exists (select from messages where body = $1)", []any{text}, &ok)
	})
}

// awaitNewReply waits until the admin room has a message of multis that contains all wanted words, and shows the newest one.
func (d *demo) awaitNewReply(ctx context.Context, what string, wanted ...string) (found id.EventID, err error) {
	body := ""
	err = d.await(ctx, what, func(ctx context.Context) (bool, error) {
		timeline, err := d.rig.Timeline(ctx, d.admin)
		for _, evt := range slices.Backward(timeline) {
			if evt.Type != event.EventMessage || evt.Sender != botID {
				continue
			}
			body = evt.Content.AsMessage().Body
			if !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(body, w) }) {
				found = evt.ID
				return true, nil
			}
		}
		return false, err
	})
	if err == nil {
		d.out.says("multis (admin room)", cyan, body)
	}
	return found, err
}
