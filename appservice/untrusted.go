package appservice

import (
	"context"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// isForgeable reports whether a message in an encrypted admin room may come from somebody other than its sender: from a device that is
// neither cross-signed nor verified by hand, or in plain text, which the homeserver could write.
func (b *batch) isForgeable(e incoming) bool {
	if e.chat.Kind != policy.KindAdmin || e.Sender == b.in.settings.Bot {
		return false
	}
	if e.Mautrix.WasEncrypted {
		return e.Mautrix.TrustState < id.TrustStateCrossSignedTOFU
	}
	isMessage := e.Type.Type == event.EventMessage.Type || e.Type.Type == event.EventSticker.Type
	return e.chat.Encrypted == policy.EncryptionYes && isMessage // clients do not encrypt reactions
}

// storeUntrusted stores a message of the admin room without its text, because its device may not be the sender's. The Command job explains
// to the owner how to verify the device.
func (b *batch) storeUntrusted(ctx context.Context, e incoming) error {
	message, err := store.InsertMessage(ctx, b.tx, store.Message{
		ChatID: e.chat.ID, EventID: e.ID, Author: e.author, Sender: e.Sender, Kind: "untrusted", At: e.at,
		Action: policy.ActionCommand, Code: policy.CodeUntrusted, Reason: policy.CodeUntrusted.Sentence(),
	})
	if err != nil {
		return err
	}
	b.jobs = append(b.jobs, jobs.CommandArgs{MessageID: message})
	return nil
}
