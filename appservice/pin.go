package appservice

import (
	"context"
	"strings"

	"maunium.net/go/mautrix/event"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// interceptPIN looks for a PIN in a message of the owner in the admin room. Every event passes through it in plain text
// before anything of it is stored, whether it was pushed, synced, or decrypted later. If withheld is true, only the
// event's id is stored, among the processed events, and the message is deleted from the room.
func (b *batch) interceptPIN(ctx context.Context, e incoming) (withheld bool, err error) {
	if e.chat.Kind != policy.KindAdmin || e.Sender != b.inbox.settings.Owner || b.ownEvents[e.ID] {
		return false, nil
	}
	msg := e.Message
	typed := msg.Words()
	if typed == "" {
		typed = msg.Text
		if _, after, found := strings.Cut(typed, "] "); found && strings.HasPrefix(typed, "[") {
			typed = after
		}
	}
	refused := e.refusal(b.inbox.settings.Bot)
	found, err := b.inbox.settings.PIN.Intercept(ctx, b.tx, pin.Message{
		Chat: e.chat.ID, Text: typed, At: e.at,
		IsVoice: msg.Kind == bridgebridge.Voice && msg.Replaces == "" && !b.history,
		CanEnter: e.Type.Type == event.EventMessage.Type && msg.Kind == bridgebridge.Text && msg.File == nil && msg.Replaces == "" &&
			refused == "" && b.admitCommand(e).Action == policy.ActionCommand,
	})
	if err != nil {
		return false, err
	}
	if !found.Withhold {
		return false, nil
	}
	b.jobs = append(b.jobs, jobs.RedactArgs{RoomID: e.RoomID, EventID: e.ID})
	if refused != "" {
		found.Result = map[policy.Code]pin.EntryResult{policy.CodeUntrusted: pin.EntryUntrusted, policy.CodeBridged: pin.EntryBridged}[refused]
	}
	if !b.history {
		b.enqueuePIN(found)
	}
	return true, nil
}

// interceptSpokenPIN looks for a PIN in the transcript of a voice note of the owner in the admin room, before the
// transcript is stored. If withheld is true, the voice note is deleted from the database and from the room.
func (b *batch) interceptSpokenPIN(ctx context.Context, chat store.Chat, m store.Message, transcript string) (withheld bool, err error) {
	if chat.Kind != policy.KindAdmin || m.Sender != b.inbox.settings.Owner || chat.RoomID == nil {
		return false, nil
	}
	found, err := b.inbox.settings.PIN.Intercept(ctx, b.tx, pin.Message{Chat: chat.ID, Text: transcript, At: m.At, IsVoice: true})
	if err != nil {
		return false, err
	}
	if !found.Withhold {
		return false, nil
	}
	b.jobs = append(b.jobs, jobs.RedactArgs{RoomID: *chat.RoomID, EventID: m.EventID})
	b.enqueuePIN(found)
	return true, b.redact(ctx, deletion{chat: chat, target: m.EventID, at: b.inbox.now()})
}

// enqueuePIN enqueues the job that continues what waited for a PIN, or tells the owner the result.
func (f *sideEffects) enqueuePIN(found pin.Interception) {
	if found.Result != pin.EntryNone {
		f.jobs = append(f.jobs, jobs.PINArgs{Result: string(found.Result), DialogID: found.Dialog, TriesLeft: found.Left})
	}
}
