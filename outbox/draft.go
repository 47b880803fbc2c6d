package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// ErrDraftDecided is returned for a draft that is no longer open: it was approved, replaced, dropped or deleted.
var ErrDraftDecided = errors.New("the draft is no longer open")

// ApproveDraft enqueues a draft for sending if the gate allows it; otherwise it changes nothing. An outdated draft is
// withdrawn: then the decision has the reason. It returns the gate's decision, and ErrDraftDecided if the draft is no
// longer open.
func (b *Box) ApproveDraft(ctx context.Context, tx store.Tx, first uuid.UUID) (policy.Decision, error) {
	rows, chat, err := b.LockDraft(ctx, tx, first)
	if err != nil {
		return policy.Decision{}, err
	}
	code, err := b.withdrawIfOutdated(ctx, tx, rows[0])
	if err != nil {
		return policy.Decision{Code: code, Why: code.Sentence()}, err
	}
	if code != "" {
		return policy.Decision{Code: code, Why: code.Sentence()}, nil
	}
	var decision policy.Decision
	for _, o := range rows {
		if o.IsErased() {
			return policy.Decision{Code: policy.CodeQuoteDeleted, Why: policy.CodeQuoteDeleted.Sentence()}, nil
		}
		o.Purpose = policy.PurposeDraft
		var c content
		if err := json.Unmarshal(o.Content, &c); err != nil {
			return policy.Decision{}, fmt.Errorf("read event: %w", err)
		}
		fileLeaks, err := fileLeaksSecret(ctx, tx, o) // the file of a draft is a long text, which is searched in no time
		if err != nil {
			return policy.Decision{}, err
		}
		decision, err = b.check(ctx, tx, chat, o, c, fileLeaks)
		if err != nil {
			return decision, err
		}
		if !decision.Allow {
			return decision, nil
		}
	}
	if err := store.QueueDraft(ctx, tx, first, policy.PurposeDraft, decision.Code, decision.Why); err != nil {
		return policy.Decision{}, err
	}
	for _, o := range rows {
		if err := jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: o.ID}); err != nil {
			return policy.Decision{}, err
		}
	}
	return decision, nil
}

// ReplaceDraft replaces a draft by a new one with another text, if the gate allows that text, and returns the id of its
// first row. If the draft only said that a person will answer, the new one answers all messages that wait in the chat,
// and also replaces the open drafts of answers. It returns ErrDraftDecided if the draft is no longer open.
func (b *Box) ReplaceDraft(ctx context.Context, tx store.Tx, first uuid.UUID,
	text string,
) (out uuid.UUID, decision policy.Decision, err error) {
	rows, chat, err := b.LockDraft(ctx, tx, first)
	if err != nil {
		return uuid.Nil, policy.Decision{}, err
	}
	isEscalation := rows[0].Purpose == policy.PurposeEscalation
	seen := rows[0].SeenID
	replaced := []uuid.UUID{first}
	if isEscalation {
		now, err := store.CurrentSeen(ctx, tx, chat.ID)
		if err != nil {
			return uuid.Nil, policy.Decision{}, err
		}
		answers, err := store.LockAnswerDrafts(ctx, tx, chat.ID)
		if err != nil {
			return uuid.Nil, policy.Decision{}, err
		}
		seen, replaced = max(seen, now.Newest), append(replaced, answers...)
	}
	out, decision, err = b.Queue(ctx, tx, Message{
		Chat:    chat,
		Purpose: policy.PurposeDraft,
		Text:    text,
		Draft:   true,
		Quotes:  rows[0].Quotes,
		Sources: rows[0].Sources,
		SeenID:  seen,
	})
	if err != nil {
		return uuid.Nil, decision, err
	}
	if !decision.Allow {
		return uuid.Nil, decision, nil
	}
	for _, old := range replaced {
		if err := store.ReplaceDraft(ctx, tx, old, out); err != nil {
			return uuid.Nil, policy.Decision{}, err
		}
		if err := store.MarkDropped(ctx, tx, old, policy.CodeDraftChanged, policy.CodeDraftChanged.Sentence()); err != nil {
			return uuid.Nil, policy.Decision{}, err
		}
	}
	if !isEscalation {
		return out, decision, nil
	}
	return out, decision, store.MarkWaitingAnswered(ctx, tx, chat.ID, out)
}

// DropDraft drops a draft and stores the reason. It returns ErrDraftDecided if the draft is no longer open.
func (b *Box) DropDraft(ctx context.Context, tx store.Tx, first uuid.UUID, code policy.Code) error {
	if _, _, err := b.LockDraft(ctx, tx, first); err != nil {
		return err
	}
	return store.MarkDropped(ctx, tx, first, code, code.Sentence())
}

// RefuseDraft withdraws the draft of an answer, because the owner refused it: feedback is the message that says what to
// change. What it answered is answered again. Any other draft is dropped. It reports whether another draft follows, and
// returns ErrDraftDecided if the draft is no longer open.
func (b *Box) RefuseDraft(ctx context.Context, tx store.Tx, first uuid.UUID, feedback store.MessageID) (isRedrafted bool, err error) {
	rows, chat, err := b.LockDraft(ctx, tx, first)
	if err != nil {
		return false, err
	}
	if o := rows[0]; o.SeenID == 0 || o.Purpose == policy.PurposeEscalation || o.AsksContact() {
		return false, b.DropDraft(ctx, tx, first, policy.CodeDraftDropped)
	}
	if err := store.WithdrawDraft(ctx, tx, chat.ID, first, policy.CodeDraftRefused); err != nil {
		return false, err
	}
	if err := store.SetDraftFeedback(ctx, tx, first, feedback); err != nil {
		return false, err
	}
	return true, jobs.EnqueueForChanges(ctx, tx, chat.ID)
}

// withdrawIfOutdated withdraws the draft of an answer, by its first row, if it is outdated or cites a document that has
// changed. It returns the reason, or "" if the draft is current. The database withdraws most drafts in the transaction
// that makes them outdated. It misses a draft that is stored after a message which its answer has not seen, and a changed
// document.
func (b *Box) withdrawIfOutdated(ctx context.Context, tx store.Tx, o store.OutboxMessage) (code policy.Code, err error) {
	if o.SeenID == 0 || o.Purpose == policy.PurposeEscalation { // the text that a person will answer fits whatever was written since
		return "", nil
	}
	newer, err := store.HasNewerMessage(ctx, tx, o.ChatID, o.SeenID)
	if err != nil {
		return "", err
	}
	outdated, err := store.WithOutdatedCitations(ctx, tx, []store.OutboxMessage{o})
	if err != nil {
		return "", err
	}
	switch {
	case newer:
		code = policy.CodeDraftOutdated
	case len(outdated) > 0:
		code = policy.CodeDraftSource
	default:
		return "", nil
	}
	if err := store.WithdrawDraft(ctx, tx, o.ChatID, o.ID, code); err != nil {
		return "", err
	}
	return code, jobs.EnqueueForChanges(ctx, tx, o.ChatID)
}

// draftPage is how many open drafts are checked for changed documents at a time.
const draftPage = 200

// outdatedDrafts returns open drafts that cite a document which has changed, by their first rows. It reads the open
// drafts page by page, from a sequence number on, and stops after the first page with outdated ones. last is the sequence
// number of the last draft that it read.
func (b *Box) outdatedDrafts(ctx context.Context, after int64) (outdated []store.OutboxMessage, last int64, err error) {
	err = b.store.InTx(ctx, func(tx store.Tx) error {
		for last, outdated = after, nil; len(outdated) == 0; {
			drafts, err := store.OpenDrafts(ctx, tx, last, draftPage)
			if err != nil {
				return err
			}
			if len(drafts) == 0 {
				return nil
			}
			last = drafts[len(drafts)-1].Seq
			drafts = slices.DeleteFunc(drafts, func(o store.OutboxMessage) bool { return o.SeenID == 0 })
			if outdated, err = store.WithOutdatedCitations(ctx, tx, drafts); err != nil {
				return err
			}
		}
		return nil
	})
	return outdated, last, err
}

// HasOutdatedDrafts reports whether an open draft cites a document that has changed.
func (b *Box) HasOutdatedDrafts(ctx context.Context) (bool, error) {
	outdated, _, err := b.outdatedDrafts(ctx, 0)
	return len(outdated) > 0, err
}

// WithdrawOutdatedDrafts withdraws the open drafts that cite a document which has changed, and has their questions answered again.
func (b *Box) WithdrawOutdatedDrafts(ctx context.Context) error {
	for after := int64(0); ; {
		outdated, last, err := b.outdatedDrafts(ctx, after)
		if err != nil {
			return err
		}
		if len(outdated) == 0 {
			return nil
		}
		if err := b.withdraw(ctx, outdated); err != nil {
			return err
		}
		after = last
	}
}

// withdraw withdraws those of the drafts, by their first rows, that are open and outdated.
func (b *Box) withdraw(ctx context.Context, drafts []store.OutboxMessage) error {
	for _, o := range drafts {
		err := b.store.InTx(ctx, func(tx store.Tx) error {
			rows, _, err := b.LockDraft(ctx, tx, o.ID)
			if err != nil {
				return err
			}
			_, err = b.withdrawIfOutdated(ctx, tx, rows[0])
			return err
		})
		if err != nil && !errors.Is(err, ErrDraftDecided) {
			return err
		}
	}
	return nil
}

// withdrawApproved withdraws an outdated draft that was approved, by its first row, and enqueues the next row of its
// chat. It reports whether it did.
func (b *Box) withdrawApproved(ctx context.Context, tx store.Tx, o store.OutboxMessage) (bool, error) {
	if o.Purpose != policy.PurposeDraft || !o.IsFirst() {
		return false, nil
	}
	code, err := b.withdrawIfOutdated(ctx, tx, o)
	if err != nil {
		return false, err
	}
	if code == "" {
		return false, nil
	}
	return true, enqueueNext(ctx, tx, o)
}

// LockDraft locks a chat and its draft, and returns the rows of the draft. All code that locks both takes the chat first,
// so that it cannot deadlock. It returns ErrDraftDecided if the draft is no longer open.
func (b *Box) LockDraft(ctx context.Context, tx store.Tx, first uuid.UUID) ([]store.OutboxMessage, store.Chat, error) {
	o, err := store.OutboxMessageByID(ctx, tx, first)
	if errors.Is(err, store.ErrNotFound) {
		return nil, store.Chat{}, ErrDraftDecided // it was deleted
	}
	if err != nil {
		return nil, store.Chat{}, err
	}
	chat, err := store.LockChatShared(ctx, tx, o.ChatID)
	if err != nil {
		return nil, store.Chat{}, err
	}
	rows, err := store.LockDraft(ctx, tx, first)
	if err == nil && len(rows) == 0 {
		err = ErrDraftDecided
	}
	return rows, chat, err
}

// Resend queues a failed draft again, with the text that was approved. It returns false if the message did not fail, if
// its text was deleted, or if the draft was withdrawn.
func (b *Box) Resend(ctx context.Context, tx store.Tx, out uuid.UUID) (bool, error) {
	o, err := store.OutboxMessageByID(ctx, tx, out)
	if err != nil {
		return false, err
	}
	chat, err := store.LockChatShared(ctx, tx, o.ChatID)
	if err != nil {
		return false, err
	}
	o, err = store.LockOutboxMessage(ctx, tx, out)
	if err != nil {
		return false, err
	}
	if o.State != store.OutboxFailed || o.IsErased() || o.Code.IsWithdrawn() {
		return false, nil
	}
	again, err := store.Requeue(ctx, tx, out)
	if err != nil {
		return false, err
	}
	if again { // the same event, so that it cannot arrive twice if the homeserver has it after all
		return true, jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: out})
	}
	copied, decision, err := b.Queue(ctx, tx, Message{
		Chat:      chat,
		Purpose:   policy.PurposeDraft,
		Text:      TextOf(o),
		Citations: o.Citations,
		Quotes:    o.Quotes,
		Sources:   o.Sources,
		SeenID:    o.SeenID,
	})
	if err != nil {
		return false, err
	}
	if !decision.Allow {
		return false, nil
	}
	return true, store.ReplaceDraft(ctx, tx, out, copied)
}
