package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// A card is the message in the admin room that shows the drafts of a chat. A draft that replaces a withdrawn or changed
// one is shown by an edit of the card, so that a chat has one card until the owner decides.

const (
	// cardSendDelay is how long a job waits for the card to be sent before the job tries again to edit the card.
	cardSendDelay = time.Second
	// cardReminderAge is the age from which an edited card may be out of sight. Clients do not notify about edits, so a
	// notice says that it has changed.
	cardReminderAge = 15 * time.Minute
	// editGraceTime is how long after an edit a yes may still be about what the card showed before.
	editGraceTime = 2 * time.Second
)

// showCard shows a draft with its question. It edits the chat's card if that shows a draft which this one replaces;
// otherwise it writes a new card.
func (df *DraftCommands) showCard(ctx context.Context, tx store.Tx, room, chat store.Chat, card notice) error {
	last, err := store.DraftCardOf(ctx, tx, chat.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	isReplaced := err == nil && last.State == store.OutboxDropped && last.Code.IsRedrafted()
	if isReplaced && last.Root == "" && last.CardState == store.OutboxQueued {
		return jobs.Snooze(cardSendDelay)
	}
	if !isReplaced || last.Root == "" {
		_, err := df.room.write(ctx, tx, room, card)
		return err
	}
	if _, err := store.FinishDialog(ctx, tx, last.Dialog); err != nil {
		return err
	}
	card.replaces = last.Root
	if _, err := df.room.write(ctx, tx, room, card); err != nil {
		return err
	}
	if df.room.now().Sub(askedAt(last.ExpiresAt)) < cardReminderAge {
		return nil
	}
	_, err = df.room.notify(ctx, tx, room, outbox.Alert,
		fmt.Sprintf("✏️ The draft for **%s** has [changed](%s).", esc(chat.Label()), memory.MessageLink(room, last.Root)), nil)
	return err
}

// closeCard replaces a withdrawn draft on its card by the reason why it was withdrawn, unless the card shows a newer
// draft. It returns false if the draft was not withdrawn.
func (df *DraftCommands) closeCard(ctx context.Context, tx store.Tx, out uuid.UUID) (bool, error) {
	o, err := store.OutboxMessageByID(ctx, tx, out)
	if errors.Is(err, store.ErrNotFound) || (err == nil && !o.Code.IsWithdrawn()) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	asked, err := store.DraftDialog(ctx, tx, kindDraft, out)
	if errors.Is(err, store.ErrNotFound) || (err == nil && asked.Done) {
		return true, nil // the draft was not shown, or its card is closed
	}
	if err != nil {
		return true, err
	}
	if _, err := store.FinishDialog(ctx, tx, asked.ID); err != nil {
		return true, err
	}
	last, err := store.DraftCardOf(ctx, tx, o.ChatID)
	if err != nil {
		return true, err
	}
	if last.Dialog != asked.ID {
		return true, nil
	}
	if last.Root == "" && last.CardState == store.OutboxQueued {
		return true, jobs.Snooze(cardSendDelay)
	}
	return true, df.writeWithdrawn(ctx, tx, o, last)
}

// endDraftCard writes on the card of a draft what became of it, so that nobody takes the draft for an open one.
func (rm *room) endDraftCard(ctx context.Context, tx store.Tx, out uuid.UUID, outcome string) error {
	o, err := store.OutboxMessageByID(ctx, tx, out)
	if err != nil {
		return err
	}
	root, err := cardEvent(ctx, tx, out)
	if err != nil {
		return err
	}
	isHolding := o.Purpose == policy.PurposeEscalation || o.DraftedAs == policy.PurposeEscalation
	if root == "" && isHolding {
		return updateEscalation(ctx, tx, o.ChatID)
	}
	if root == "" || rm.settings.Terminal {
		return nil
	}
	words, err := store.WholeText(ctx, tx, o)
	if err != nil {
		return err
	}
	if words != "" {
		outcome += "\n\n> " + strings.ReplaceAll(esc(words), "\n", "\n> ")
	}
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	_, err = rm.write(ctx, tx, room, notice{
		text:     outcome,
		kind:     outbox.Quiet,
		replaces: root,
		quotes:   o.Quotes,
		sources:  o.Sources,
	})
	return err
}

// showHolding has the card of an escalation show the draft that tells the contact that a person will answer, and drops the
// draft after draftLifetime. It returns false for any other draft.
func (df *DraftCommands) showHolding(ctx context.Context, tx store.Tx, o store.OutboxMessage) (bool, error) {
	if o.Purpose != policy.PurposeEscalation {
		return false, nil
	}
	e, err := store.EscalationOfChat(ctx, tx, o.ChatID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && !e.IsWaiting()) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	wait := o.CreatedAt.Add(draftLifetime).Sub(df.room.now())
	if wait <= 0 {
		if err := store.MarkDropped(ctx, tx, o.ID, policy.CodeDraftExpired, policy.CodeDraftExpired.Sentence()); err != nil {
			return true, err
		}
	}
	if wait > 0 {
		if err := jobs.Enqueue(ctx, tx, jobs.PresentDraftArgs{OutboxID: o.ID, At: df.room.now().Add(wait)}); err != nil {
			return true, err
		}
	}
	return true, jobs.Enqueue(ctx, tx, jobs.UpdateEscalationArgs{EscalationID: e.ID})
}

// updateEscalation has the card of a chat's escalation show what became of the draft that tells the contact that a person
// will answer.
func updateEscalation(ctx context.Context, tx store.Tx, chat store.ChatID) error {
	e, err := store.EscalationOfChat(ctx, tx, chat)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.UpdateEscalationArgs{EscalationID: e.ID})
}

// firstRow returns the first row of a message, by which its draft is known.
func firstRow(o store.OutboxMessage) uuid.UUID {
	if o.PartOf != nil {
		return *o.PartOf
	}
	return o.ID
}

// cardEvent returns the event of the card that shows a draft; empty if the draft was not shown.
func cardEvent(ctx context.Context, tx store.Tx, out uuid.UUID) (id.EventID, error) {
	asked, err := store.DraftDialog(ctx, tx, kindDraft, out)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	shown, err := store.OutboxMessageByID(ctx, tx, asked.OutboxID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	case shown.Replaces != "":
		return shown.Replaces, nil
	case shown.EventID == nil:
		return "", nil
	default:
		return *shown.EventID, nil
	}
}

// writeWithdrawn writes on the card of a draft that it is withdrawn. After a yes that came too late it writes a new
// notice instead, because the owner believes that the draft was sent.
func (df *DraftCommands) writeWithdrawn(ctx context.Context, tx store.Tx, o store.OutboxMessage, card store.DraftCard) error {
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	to, err := df.recipient(ctx, tx, o.ID)
	if err != nil {
		return err
	}
	said := notice{
		text:     "⏳ **The draft for " + to + " is withdrawn.** " + esc(o.Code.Sentence()),
		kind:     outbox.Quiet,
		replaces: card.Root,
		quotes:   o.Quotes,
		sources:  o.Sources,
	}
	if o.Code == policy.CodeDraftLate {
		said.text = "⚠️ **Not sent to " + to + "**: " + esc(o.Reason)
		said.kind = outbox.Alert
		said.replaces = ""
	}
	switch asks := o.AsksContact(); {
	case asks, o.Code == policy.CodeDraftLate: // no other draft replaces it, or its own card shows the one that does
	case o.Code == policy.CodeDraftOutdated, o.Code == policy.CodeDraftSource, o.Code == policy.CodeDraftRefused:
		said.text += " I'll show you a new draft."
	default: // a person has answered, or has changed what is answered
		said.text += " `/why` and the name says what was asked."
	}
	words, err := store.WholeText(ctx, tx, o)
	if err != nil {
		return err
	}
	if words != "" && o.Purpose == policy.PurposeDraft { // so that the owner's own words are not lost
		said.text += "\n\nIt was:\n\n> " + strings.ReplaceAll(esc(words), "\n", "\n> ")
	}
	_, err = df.room.write(ctx, tx, room, said)
	return err
}

// isTooEarly reports whether a yes may be about what the card of a draft showed before its last edit.
func (df *DraftCommands) isTooEarly(ctx context.Context, r request, out uuid.UUID) (bool, error) {
	asked, err := store.DraftDialog(ctx, df.store.DB(), kindDraft, out)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	shown, err := store.OutboxMessageByID(ctx, df.store.DB(), asked.OutboxID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && shown.Replaces == "") {
		return false, nil
	}
	return shown.EventID == nil || r.message.At.Before(askedAt(asked.ExpiresAt).Add(editGraceTime)), err
}

// askedAt returns when the owner was asked about a draft whose question expires at the given time.
func askedAt(expires time.Time) time.Time { return expires.Add(-draftLifetime) }

// maxUnsentText is how much of a text that was not sent is shown, in characters. Most texts are shown in full, because
// the owner may have written them.
const maxUnsentText = 1500

// resendDraft asks whether a draft that was approved and not delivered is sent again.
type resendDraft struct {
	drafts *DraftCommands

	OutboxID uuid.UUID `json:"out"`
}

func (resendDraft) traits() traits {
	return traits{
		kind:           "resend",
		command:        "drafts",
		lifetime:       draftLifetime,
		needsReference: true,
	}
}

func (resendDraft) accepts(word string) bool { return word == wordYes }

func (q resendDraft) answer(_ context.Context, _ request, c choice) (_ answer, done bool, err error) {
	if c.word != wordYes {
		return answer{}, false, nil
	}
	return answer{reason: "It had a draft sent again.", changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		sent, err := q.drafts.room.box.Resend(ctx, tx, q.OutboxID)
		if err != nil {
			return "", err
		}
		to, err := q.drafts.recipient(ctx, tx, q.OutboxID)
		if !sent {
			return "Not sent to **" + to +
				"**: it arrived after all, the draft is outdated, or I may not send there now. `/why` and the name says more.", err
		}
		if err != nil {
			return "", err
		}
		again := "✅ **Sent to " + to + "**, " + q.drafts.room.shortTime(q.drafts.room.now())
		return "I'll try again to send it to **" + to + "**.", q.drafts.room.endDraftCard(ctx, tx, q.OutboxID, again)
	}}, true, nil
}
