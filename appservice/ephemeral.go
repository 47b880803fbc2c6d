package appservice

import (
	"context"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/store"
)

const (
	// typingTimeout is how long a typing notification counts. Clients repeat it more often than that.
	typingTimeout = 10 * time.Second
	// ownerActiveTimeout is how long a turn waits for the owner to answer, after the owner read the message or began to type.
	ownerActiveTimeout = 30 * time.Second
)

// ReceiveEphemeral stores who is typing and what the owner has read. Ephemeral events may be lost and are never repeated. They only delay
// a turn; nothing else may depend on them.
func (in *Inbox) ReceiveEphemeral(ctx context.Context, signs []*event.Event) error {
	typing, watched := in.ephemeralRooms(signs)
	if len(typing)+len(watched) == 0 {
		return nil
	}
	return in.store.InTx(ctx, func(tx store.Tx) error {
		chats, err := store.LockChatsByRoom(ctx, tx, append(typing, watched...))
		if err != nil {
			return err
		}
		now := in.now()
		for _, room := range typing {
			if chat, ok := chats[room]; ok && chat.AnswersIn(in.settings.Defaults) {
				if err := store.SetContactTyping(ctx, tx, chat.ID, now.Add(typingTimeout)); err != nil {
					return err
				}
			}
		}
		for _, room := range watched {
			if chat, ok := chats[room]; ok && chat.AnswersIn(in.settings.Defaults) {
				if err := store.MarkOwnerActive(ctx, tx, chat.ID, now.Add(ownerActiveTimeout)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// ephemeralRooms returns the rooms where a user other than the owner and the bot is typing, and the rooms where the owner is typing or has
// read a message.
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
				case in.settings.Owner:
					watched = append(watched, sign.RoomID)
				case in.settings.Bot:
				default:
					typing = append(typing, sign.RoomID)
				}
			}
		case *event.ReceiptEventContent:
			if readBy(*content, in.settings.Owner) {
				watched = append(watched, sign.RoomID)
			}
		}
	}
	return typing, watched
}

// readBy reports whether receipts contain a public or private read receipt of user.
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
