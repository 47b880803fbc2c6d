package appservice

import (
	"context"
	"errors"
	"fmt"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// PairingRoom is an unencrypted room of the bot that everybody who knows its id can join, to send the pairing code. It
// has no alias, because the registration reserves none.
type PairingRoom struct {
	ID id.RoomID

	bot  *mautrix.Client
	from string // position in the timeline up to which messages were read
}

// PairingMessage is a text in a PairingRoom.
type PairingMessage struct {
	Sender id.UserID
	Text   string
}

// OpenPairingRoom makes a room for pairing. The caller must Close it.
func (h *Homeserver) OpenPairingRoom(ctx context.Context) (*PairingRoom, error) {
	if err := h.registerBot(ctx); err != nil {
		return nil, err
	}
	bot := h.bot.session().Client
	made, err := bot.CreateRoom(ctx, &mautrix.ReqCreateRoom{
		Preset: "public_chat", Visibility: "private", Name: h.access.BotName, Topic: "Send the code that multis init shows you.",
	})
	if err != nil {
		return nil, explain("make a room for pairing", err)
	}
	p := &PairingRoom{ID: made.RoomID, bot: bot}
	var encryption event.EncryptionEventContent
	if err := bot.StateEvent(ctx, made.RoomID, event.StateEncryption, "", &encryption); err == nil {
		return nil, errors.Join(errors.New("the homeserver encrypts every room, so no code can be read: give your Matrix id with --owner"),
			p.Close(ctx))
	}
	return p, nil
}

// Next returns the texts that others than the bot sent since the last call, oldest first.
func (p *PairingRoom) Next(ctx context.Context) ([]PairingMessage, error) {
	const atOnce = 50
	page, err := p.bot.Messages(ctx, p.ID, p.from, "", mautrix.DirectionForward, nil, atOnce)
	if err != nil {
		return nil, explain("read the room for pairing", err)
	}
	if page.End != "" {
		p.from = page.End
	}
	var texts []PairingMessage
	for _, evt := range page.Chunk {
		if evt.Sender == p.bot.UserID || evt.Type.Type != event.EventMessage.Type {
			continue
		}
		if err := evt.Content.ParseRaw(event.EventMessage); err != nil {
			continue // not a text message
		}
		texts = append(texts, PairingMessage{evt.Sender, evt.Content.AsMessage().Body})
	}
	return texts, nil
}

// Close leaves the room.
func (p *PairingRoom) Close(ctx context.Context) error {
	if _, err := p.bot.LeaveRoom(ctx, p.ID); err != nil {
		return fmt.Errorf("close the room for pairing: %w", err)
	}
	return nil
}
