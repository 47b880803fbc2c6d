package desk

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/store"
)

// Reply handles a message of a person in the thread of an escalation, which is locked: it goes to the contact, unless it
// is a note or a sign. file is the message's if TakesFile says so, or else nil. It returns what to answer in the thread,
// as Markdown; empty for nothing. The message's chat is the room of the thread.
func (d *Desk) Reply(ctx context.Context, tx store.Tx, escalation store.EscalationID, m store.Message, file *outbox.File) (string, error) {
	e, chat, err := Lock(ctx, tx, escalation)
	if err != nil {
		return "", err
	}
	note, err := isNote(ctx, tx, m)
	if err != nil {
		return "", err
	}
	holding, err := holdingOf(ctx, tx, e)
	if err != nil {
		return "", err
	}
	picked := e.Picks(m.Body, len(e.Proposals)+holding.offered())
	switch sign := policy.ThreadSignOf(m.Body); {
	case note:
		return "", d.react(ctx, tx, m, policy.NoteMarker)
	case !d.MayAnswer(m):
		return NotSent(m, "operators may not answer here (config: `operators_answer`)."), nil
	case file == nil && m.Kind != string(bridgebridge.Text):
		return NotSent(m, "text, pictures, recordings and files go out from a thread. The owner can send it in [that chat]("+roomLink(chat)+")."),
			nil
	case sign != "":
		return d.applySign(ctx, tx, e, chat, m, sign)
	case policy.LearnNumber(typedText(m)) > 0: // the owner's is carried out before
		return NotSent(m, "only the owner can keep a proposal as an answer."), nil
	case picked > 0:
		return d.sendProposal(ctx, tx, e, chat, m, picked)
	case policy.IsThreadCommand(typedText(m)): // an unknown command, or one behind an invisible character
		return NotSent(m, "what begins with `/` or `!` is a command here."), nil
	}
	words, problem, err := d.replyText(ctx, chat, m)
	if err != nil {
		return NotSent(m, problem+"."), err
	}
	if problem != "" {
		return NotSent(m, problem+"."), nil
	}
	return d.send(ctx, tx, e, chat, m, outbox.Message{Text: words, File: file})
}

// Answer sends what a person wrote on the web page to the contact of an escalation, which is locked, as Reply does with a
// message in its thread. It returns why it is not sent, as Markdown; empty if it is.
func (d *Desk) Answer(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat, m store.Message) (string, error) {
	if policy.IsNote(m.Body) || policy.IsThreadCommand(m.Body) || policy.LearnNumber(m.Body) > 0 {
		return "Not sent: that would be a note or a command in the thread. Begin with another word.", nil
	}
	words, problem, err := d.replyText(ctx, chat, m)
	if err != nil {
		return "", err
	}
	if problem != "" {
		return "Not sent: " + problem + ".", nil
	}
	return d.send(ctx, tx, e, chat, m, outbox.Message{Text: words})
}

// NotSent answers a message in a thread that does not go to the contact. why is Markdown, a sentence. It names the
// message, which may be above others that were handled before.
func NotSent(m store.Message, why string) string {
	words := typedText(m)
	if words == "" && m.Attachment != nil {
		words = m.Attachment.Name
	}
	if words == "" || m.Kind == string(bridgebridge.Reaction) {
		return "⚠️ Not sent: " + why
	}
	return "⚠️ Not sent: " + why + " It was “" + text.Escape(text.Clip(text.OneLine(words), maxQuote)) + "”."
}

// isNote reports whether a message in a thread is a note: by its text now or before an edit, or by its author's 📝.
func isNote(ctx context.Context, db store.DB, m store.Message) (bool, error) {
	if m.Code == policy.CodeNote || policy.IsNote(typedText(m)) {
		return true, nil
	}
	return store.HasReaction(ctx, db, m.ChatID, m.EventID, m.Sender, policy.NoteMarker)
}

// HandleReaction handles a reaction of a person to the card of an escalation. It returns what to answer in the thread; empty for nothing.
func (d *Desk) HandleReaction(ctx context.Context, tx store.Tx, escalation store.EscalationID, reaction store.Message) (string, error) {
	sign := policy.ThreadSignOf(reaction.Body)
	if sign == "" || sign == policy.SignNote {
		return "", nil
	}
	if !d.MayAnswer(reaction) {
		return "⚠️ Operators may not answer here (config: `operators_answer`).", nil
	}
	e, chat, err := Lock(ctx, tx, escalation)
	if err != nil {
		return "", err
	}
	return d.applySign(ctx, tx, e, chat, reaction, sign)
}

// Lock locks the chat of an escalation and then the escalation, as all code does that locks both. A message of
// the chat that is deleted by then is not shown in the thread; one that is deleted later is found there.
func Lock(ctx context.Context, tx store.Tx, escalation store.EscalationID) (store.Escalation, store.Chat, error) {
	e, err := store.EscalationByID(ctx, tx, escalation)
	if err != nil {
		return e, store.Chat{}, err
	}
	chat, err := store.LockChat(ctx, tx, e.ChatID)
	if err != nil {
		return e, chat, err
	}
	e, err = store.LockEscalation(ctx, tx, escalation)
	return e, chat, err
}

// applySign claims, pauses or resolves the escalation, or sends one of its proposals, as the reaction says.
func (d *Desk) applySign(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat, m store.Message,
	sign policy.ThreadSign,
) (string, error) {
	if sign == policy.SignResolve {
		return d.resolve(ctx, tx, e, m.Sender, m.At)
	}
	if !e.IsOpen() {
		return "Already closed. `/handoff " + escapeCode(chat.TypedName()) + "` opens it again.", nil
	}
	switch sign {
	case policy.SignClaim:
		return d.claim(ctx, tx, e, m.Sender, m.At)
	case policy.SignPause:
		if err := store.PauseChat(ctx, tx, e.ChatID, &store.PausedForever); err != nil {
			return "", err
		}
		return "", enqueueUpdate(ctx, tx, e.ID)
	case policy.SignSend:
		return d.sendProposal(ctx, tx, e, chat, m, 1)
	case policy.SignSecond:
		return d.sendProposal(ctx, tx, e, chat, m, 2)
	case policy.SignThird:
		return d.sendProposal(ctx, tx, e, chat, m, 3)
	default:
		return "", nil
	}
}

// claim assigns an escalation to a person. The assistant stays quiet in the chat for a while, as if the person had
// written. It returns the reply to show if another person has claimed the escalation.
func (d *Desk) claim(ctx context.Context, tx store.Tx, e store.Escalation, who id.UserID, at time.Time) (string, error) {
	if e.ClaimedBy != "" && e.ClaimedBy != who {
		return "✋ " + text.Escape(d.PersonName(e.ClaimedBy)) + " has claimed it already.", nil
	}
	if _, err := store.ClaimEscalation(ctx, tx, e.ID, who, at); err != nil {
		return "", err
	}
	if err := store.MarkOwnerWrote(ctx, tx, e.ChatID, store.OperatorID(who, d.Owner), at); err != nil {
		return "", err
	}
	return "", enqueueUpdate(ctx, tx, e.ID)
}

// resolve closes an escalation for a person who asked for that at a given time, and lets the assistant answer in the chat again.
func (d *Desk) resolve(ctx context.Context, tx store.Tx, e store.Escalation, who id.UserID, at time.Time) (string, error) {
	resolved, err := store.ResolveEscalation(ctx, tx, e.ID, who)
	if err != nil {
		return "", err
	}
	if !resolved {
		return "", nil
	}
	if err := store.ResumeChatAt(ctx, tx, e.ChatID, at); err != nil {
		return "", err
	}
	if err := d.dropHolding(ctx, tx, e); err != nil {
		return "", err
	}
	if e.AnsweredAt == nil {
		if err := emitResolved(ctx, tx, e.ChatID); err != nil {
			return "", err
		}
	}
	return "", enqueueUpdate(ctx, tx, e.ID)
}

// ResolveChat closes the escalation of a chat, if there is one, for the owner, and lets the assistant answer there again.
func (d *Desk) ResolveChat(ctx context.Context, tx store.Tx, chat store.ChatID) error {
	e, err := store.EscalationOfChat(ctx, tx, chat)
	if gone, err := isMissing(err); gone || err != nil {
		return err
	}
	_, err = d.resolve(ctx, tx, e, d.Owner, store.PausedForever)
	return err
}

func emitResolved(ctx context.Context, tx store.Tx, chat store.ChatID) error {
	return jobs.EmitHookEvent(ctx, tx, policy.HookResolved, strconv.FormatInt(int64(chat), 10))
}

// send queues a person's text or file to the contact in the owner's name. It is deleted there when the person deletes the message m.
func (d *Desk) send(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat, m store.Message,
	said outbox.Message,
) (string, error) {
	if !e.IsOpen() {
		reopened, err := store.ReopenEscalation(ctx, tx, e.ID)
		if err != nil {
			return "", err
		}
		if !reopened {
			return NotSent(m, "this is resolved. `/handoff "+escapeCode(chat.TypedName())+"` opens a new thread."), nil
		}
		if err := endAt(ctx, tx, e.ID, d.Now().Add(d.OwnerPause)); err != nil {
			return "", err
		}
	}
	said.Chat = chat
	said.Purpose = policy.PurposeDraft
	if m.ID != 0 {
		said.Quotes = []store.MessageID{m.ID}
		said.Sources = []store.MessageID{m.ID}
	}
	_, decision, err := d.Box.Queue(ctx, tx, said)
	if err != nil {
		return "", err
	}
	if !decision.Allow {
		return NotSent(m, text.Escape(decision.Why)), nil
	}
	if err := store.MarkOwnerWrote(ctx, tx, e.ChatID, store.OperatorID(m.Sender, d.Owner), m.At); err != nil {
		return "", err
	}
	answered, err := store.AnswerEscalation(ctx, tx, e.ChatID, m.Sender, unsetTime)
	if err != nil {
		return "", err
	}
	if len(answered) > 0 {
		if err := emitResolved(ctx, tx, e.ChatID); err != nil {
			return "", err
		}
		if err := endAt(ctx, tx, e.ID, d.Now().Add(d.OwnerPause)); err != nil {
			return "", err
		}
	}
	if err := d.react(ctx, tx, m, "✅"); err != nil {
		return "", err
	}
	if err := jobs.EnqueueForChanges(ctx, tx, e.ChatID); err != nil { // a draft for the chat is withdrawn, and its card says so
		return "", err
	}
	return "", enqueueUpdate(ctx, tx, e.ID)
}

// endAt enqueues the job that ends an escalation at a time if no person has written for a while.
func endAt(ctx context.Context, tx store.Tx, escalation store.EscalationID, at time.Time) error {
	return jobs.Enqueue(ctx, tx, jobs.UpdateEscalationArgs{EscalationID: escalation, At: at})
}

// react puts the bot's reaction on a message in a thread. A reaction gets none, nor does what is in no room.
func (d *Desk) react(ctx context.Context, tx store.Tx, m store.Message, emoji string) error {
	if m.Kind == string(bridgebridge.Reaction) || m.ID == 0 {
		return nil
	}
	room, err := store.ChatByID(ctx, tx, m.ChatID)
	if err != nil {
		return err
	}
	_, _, err = d.Box.Queue(ctx, tx, outbox.Message{Chat: room, Purpose: policy.PurposeNotice, Text: emoji, ReactTo: m.EventID})
	return err
}

// ChangeReply updates the reply that a message in a thread sent to a contact, because the message was edited: it edits
// the reply as well, or deletes it if the message is a note now. It returns jobs.Snooze while the reply is being sent. A
// note stays a note when it is edited. An edit by somebody who may no longer answer changes nothing.
func (d *Desk) ChangeReply(ctx context.Context, message store.MessageID) error {
	var later error
	err := d.Store.InTx(ctx, func(tx store.Tx) error {
		locked, err := store.LockMessages(ctx, tx, []store.MessageID{message})
		if err != nil {
			return err
		}
		if len(locked) == 0 || locked[0].RedactedAt != nil {
			return nil // what it sent is deleted with it
		}
		m := locked[0]
		if err := audit.SetActor(ctx, tx, actorOf(m)); err != nil {
			return err
		}
		replies, err := store.RepliesOf(ctx, tx, m.ID)
		if err != nil {
			return err
		}
		if len(replies) == 0 {
			return nil
		}
		if !d.MayAnswer(m) {
			return d.warn(ctx, tx, m, "⚠️ What was sent before is unchanged there: "+text.Escape(d.PersonName(m.Sender))+
				" may not answer here (config: `operators`, `operators_answer`).")
		}
		note, err := isNote(ctx, tx, m)
		if err != nil {
			return err
		}
		if note {
			return d.retractReply(ctx, tx, m)
		}
		later, err = d.editReply(ctx, tx, m, replies)
		return err
	})
	if err != nil {
		return err
	}
	return later
}

// WithdrawReply enqueues the deletion of the reply that a message in a thread sent to a contact, because its author
// marked the message as a note.
func WithdrawReply(ctx context.Context, tx store.Tx, m store.Message) error {
	return jobs.Enqueue(ctx, tx, jobs.ChangeReplyArgs{MessageID: m.ID})
}

// retractReply deletes the reply that a message sent to a contact.
func (d *Desk) retractReply(ctx context.Context, tx store.Tx, m store.Message) error {
	erased, err := store.EraseReplies(ctx, tx, m.ID)
	if err != nil {
		return err
	}
	if len(erased) == 0 {
		return nil
	}
	for _, out := range erased {
		if err := jobs.Enqueue(ctx, tx, jobs.RetractArgs{OutboxID: out}); err != nil {
			return err
		}
	}
	if err := d.recordChange(ctx, tx, m, erased[0], "deleted"); err != nil {
		return err
	}
	return d.react(ctx, tx, m, policy.NoteMarker)
}

// recordChange writes into the audit log that a person changed or took back a reply to a contact, by editing or deleting
// its message m in the thread. out is the outbox message with that reply, or with its edit.
func (d *Desk) recordChange(ctx context.Context, tx store.Tx, m store.Message, out uuid.UUID, outcome string) error {
	return d.Audit.Append(ctx, tx, audit.Entry{
		Kind:    audit.Command,
		Actor:   actorOf(m),
		Person:  m.Sender.String(),
		Chat:    m.ChatID,
		Message: m.ID,
		Ref:     out.String(),
		Action:  "edit",
		Outcome: outcome,
	})
}

// actorOf returns the actor for audit entries about a message in a thread.
func actorOf(m store.Message) audit.Actor {
	if m.Author.MayCommandAsOwner() {
		return audit.Owner
	}
	return audit.Operator
}

// editReply queues an edit of the reply that a message sent. later is jobs.Snooze while the reply is being sent.
func (d *Desk) editReply(ctx context.Context, tx store.Tx, m store.Message, replies []store.OutboxMessage) (later, err error) {
	first, last := replies[0], replies[len(replies)-1]
	chat, err := store.ChatByID(ctx, tx, first.ChatID)
	if err != nil {
		return nil, err
	}
	body, problem, err := d.replyText(ctx, chat, m)
	body = text.Clean(body)
	switch {
	case err != nil:
		return nil, err
	case last.IsErased(), first.State == store.OutboxDropped, first.State == store.OutboxFailed, last.Text() == body:
		return nil, nil
	case problem != "":
		return nil, d.warn(ctx, tx, m, "⚠️ What you sent before is unchanged there: "+problem+".")
	case m.Attachment != nil, policy.IsThreadCommand(body), isChoice(body), slices.ContainsFunc(replies, func(o store.OutboxMessage) bool {
		return o.PartOf != nil
	}), first.EventType != "m.room.message":
		return nil, d.warn(ctx, tx, m, "⚠️ What you sent before is unchanged there: delete it and write again.")
	case first.EventID == nil:
		return jobs.Snooze(cardWait), nil
	}
	if len([]rune(body)) > maxEdit {
		return nil, d.warn(ctx, tx, m,
			"⚠️ What you sent before is unchanged there, because the new text is too long for an edit: delete it and write again.")
	}
	out, decision, err := d.Box.Queue(ctx, tx, outbox.Message{
		Chat:     chat,
		Purpose:  policy.PurposeDraft,
		Text:     body,
		Replaces: *first.EventID,
		Quotes:   []store.MessageID{m.ID},
		Sources:  []store.MessageID{m.ID},
	})
	if err != nil {
		return nil, err
	}
	if decision.Allow {
		return nil, d.recordChange(ctx, tx, m, out, "changed")
	}
	return nil, d.warn(ctx, tx, m, "⚠️ What you sent before is unchanged there: "+text.Escape(decision.Why))
}

// isChoice reports whether a text is a choice from a card rather than words to the contact: a number alone, or "learn".
func isChoice(body string) bool {
	_, err := strconv.Atoi(strings.TrimSpace(body))
	return err == nil || policy.LearnNumber(body) > 0
}

// warn answers a message in its thread.
func (d *Desk) warn(ctx context.Context, tx store.Tx, m store.Message, markdown string) error {
	room, err := store.ChatByID(ctx, tx, m.ChatID)
	if err != nil {
		return err
	}
	notice := outbox.NewNotice(room, markdown, outbox.Answer)
	notice.Thread, notice.Sources = m.Thread, []store.MessageID{m.ID}
	_, _, err = d.Box.Queue(ctx, tx, notice)
	return err
}

// maxEdit is the maximum length of an edit, in characters: every network takes such a text in one message.
const maxEdit = 1000

// Claim opens an escalation of a chat, if there is none, and claims it for the person who asked. It returns
// ErrNobodyWrote if no contact has written there.
func (d *Desk) Claim(ctx context.Context, tx store.Tx, chat store.Chat, by id.UserID) (taken string, err error) {
	m, err := store.NewestOfContact(ctx, tx, chat.ID)
	if gone, err := isMissing(err); gone {
		return "", ErrNobodyWrote
	} else if err != nil {
		return "", err
	}
	locked, err := store.LockChat(ctx, tx, chat.ID)
	if err != nil {
		return "", err
	}
	if _, err := d.Open(ctx, tx, Case{
		Chat:     locked,
		Messages: []store.Message{m},
		Reason:   d.PersonName(by) + " asked for it (/handoff).",
	}); err != nil {
		return "", err
	}
	e, err := store.EscalationOfChat(ctx, tx, chat.ID)
	if err != nil {
		return "", err
	}
	return d.claim(ctx, tx, e, by, d.Now())
}
