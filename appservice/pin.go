package appservice

import (
	"context"
	"strings"

	"maunium.net/go/mautrix/event"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/pin"
	"multis/policy"
)

// interceptPIN looks for a PIN in a message of the owner in the admin room. Every event passes it in plain text before anything of it is
// stored, whichever way it came: pushed, synced, or decrypted later. If withheld is true, nothing of the message is stored but its id among the
// processed events, and it is deleted from the room.
func (b *batch) interceptPIN(ctx context.Context, e incoming) (withheld bool, err error) {
	if e.chat.Kind != policy.KindAdmin || e.Sender != b.in.settings.Owner || b.own[e.ID] {
		return false, nil
	}
	msg := bridgebridge.ReadMessage(e.Event)
	typed := msg.Words()
	if typed == "" {
		typed = msg.Text
		if _, after, found := strings.Cut(typed, "] "); found && strings.HasPrefix(typed, "[") {
			typed = after
		}
	}
	isForgeable := b.isForgeable(e)
	found, err := b.in.settings.PIN.Intercept(ctx, b.tx, pin.Message{
		Chat: e.chat.ID, Text: typed, At: e.at,
		CanEnter: e.Type.Type == event.EventMessage.Type && msg.Kind == bridgebridge.Text && msg.File == nil && msg.Replaces == "" && !isForgeable && !b.history,
	})
	if err != nil || !found.Withhold {
		return false, err
	}
	b.jobs = append(b.jobs, jobs.RedactArgs{RoomID: e.RoomID, EventID: e.ID})
	if isForgeable {
		return true, b.storeUntrusted(ctx, e) // without its text; it explains how to verify the device
	}
	if found.News != pin.NewsQuiet && !b.history {
		b.jobs = append(b.jobs, jobs.PINArgs{News: string(found.News), DialogID: found.Dialog, Left: found.Left})
	}
	return true, nil
}
