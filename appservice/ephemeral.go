package appservice

import (
	"context"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

const (
	// typingTimeout is how long a sign of typing counts without another: clients repeat it well within.
	typingTimeout = 10 * time.Second
	// ownerWatchTimeout is how long the owner, having read or begun to write, is left the chance to answer himself.
	ownerWatchTimeout = 30 * time.Second
)

// ReceiveEphemeral takes in who is typing and what the owner has read. These signs come at most once and are never repeated, so
// nothing may depend on them: they only make a turn wait.
func (in *Inbox) ReceiveEphemeral(ctx context.Context, signs []*event.Event) error {
	typing, watched := in.ephemeralRooms(signs)
	if len(typing)+len(watched) == 0 {
		return nil
	}
	return in.store.InTx(ctx, func(tx store.Tx) error {
		chats, err := store.HoldChats(ctx, tx, append(typing, watched...))
		if err != nil {
			return err
		}
		now := in.now()
		for _, room := range typing {
			if chat, ok := chats[room]; ok && in.canAnswer(chat) {
				if err := store.ContactTypes(ctx, tx, chat.ID, now.Add(typingTimeout)); err != nil {
					return err
				}
			}
		}
		for _, room := range watched {
			if chat, ok := chats[room]; ok && in.canAnswer(chat) {
				if err := store.MarkOwnerActive(ctx, tx, chat.ID, now.Add(ownerWatchTimeout)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// canAnswer tells whether a turn could run in a chat; signs from all others are not even looked at.
func (in *Inbox) canAnswer(c store.Chat) bool {
	mode := in.mode(c)
	return c.Kind != policy.KindAdmin && (mode == policy.ModeBusiness || mode == policy.ModePersonal)
}

// ephemeralRooms tells in which rooms somebody else is typing and in which the owner types or has read.
func (in *Inbox) ephemeralRooms(signs []*event.Event) (typing, watched []id.RoomID) {
	for _, sign := range signs {
		sign.Type.Class = event.EphemeralEventType
		if sign.RoomID == "" || in.ignored.has(sign.RoomID) || sign.Content.ParseRaw(sign.Type) != nil {
			continue
		}
		switch content := sign.Content.Parsed.(type) {
		case *event.TypingEventContent:
			for _, who := range content.UserIDs {
				switch who {
				case in.rules.Owner:
					watched = append(watched, sign.RoomID)
				case in.rules.Bot:
				default:
					typing = append(typing, sign.RoomID)
				}
			}
		case *event.ReceiptEventContent:
			if readBy(*content, in.rules.Owner) {
				watched = append(watched, sign.RoomID)
			}
		}
	}
	return typing, watched
}

// readBy tells whether user read something, in public or in private.
func readBy(receipts event.ReceiptEventContent, user id.UserID) bool {
	for _, byType := range receipts {
		for _, readers := range byType {
			if _, ok := readers[user]; ok {
				return true
			}
		}
	}
	return false
}
