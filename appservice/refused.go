package appservice

import (
	"context"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// isForgeable reports whether a message in an encrypted admin room may be from somebody other than its sender: it came
// from a device that is neither cross-signed nor verified by hand, or in plain text, which the homeserver could write
// itself. bot is multis' own bot.
func (e incoming) isForgeable(bot id.UserID) bool {
	if e.chat.Kind != policy.KindAdmin || e.Sender == bot {
		return false
	}
	if e.Mautrix.WasEncrypted {
		return e.Mautrix.TrustState < id.TrustStateCrossSignedTOFU
	}
	isMessage := bridgebridge.IsMessageType(e.Type) && e.Type.Type != event.EventEncrypted.Type
	return e.chat.Encryption == policy.EncryptionYes && isMessage // clients do not encrypt reactions
}

// refusal returns why an event of an admin room has no effect, whatever its text is. It is empty if the event may have
// one, and in all other chats.
func (e incoming) refusal(bot id.UserID) policy.Code {
	if e.chat.Kind != policy.KindAdmin {
		return ""
	}
	return policy.AdminEvent{Author: e.author, Forgeable: e.isForgeable(bot), Closed: e.chat.ClosedReason != ""}.Refusal()
}

// storeRefused stores, without its text, a message of an admin room that was refused, and enqueues the reply that says
// why. A closed room gets no reply, because the owner was told when it was closed. Other refused messages leave nothing
// (IsReportedRefusal).
func (b *batch) storeRefused(ctx context.Context, e incoming, code policy.Code) error {
	if b.history || !code.IsReportedRefusal() {
		return nil
	}
	row := store.Message{
		ChatID:  e.chat.ID,
		EventID: e.ID,
		Author:  e.author,
		Sender:  e.Sender,
		Kind:    "untrusted",
		At:      e.at,
		Action:  policy.ActionCommand,
		Code:    code,
		Reason:  code.Sentence(),
	}
	if code == policy.CodeRoomClosed {
		row.Action = policy.ActionArchive
	}
	message, err := store.InsertMessage(ctx, b.tx, row)
	if err == nil && row.Action == policy.ActionCommand {
		b.jobs = append(b.jobs, jobs.CommandArgs{MessageID: message})
	}
	return err
}

// admitCommand decides by the policy whether a reaction or another event without text counts in an admin room.
func (b *batch) admitCommand(e incoming) policy.Admission {
	return policy.Admit(policy.AdmitInput{
		Kind:     policy.KindAdmin,
		Author:   e.author,
		SentAt:   e.at,
		Now:      b.inbox.now(),
		Backfill: b.history,
		Restore:  b.state.Restore,
	})
}
