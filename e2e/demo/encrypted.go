package main

import (
	"context"
	"errors"
	"fmt"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

const greeting = "Hi, this is Cleo."

// encrypted enables encryption in a chat, checks that multis answers a contact there, and checks what the homeserver stored.
func (d *demo) encrypted(ctx context.Context) error {
	if _, err := d.contactSays(ctx, cleo, greeting); err != nil {
		return err
	}
	if err := d.rig.Network.Encrypt(ctx, cleo); err != nil {
		return fmt.Errorf("encrypt the chat: %w", err)
	}
	d.out.check("the bridge has turned encryption on in Cleo's chat")
	if _, err := d.command(ctx, "/mode business Cleo", "is now business"); err != nil {
		return err
	}
	asked, err := d.contactSays(ctx, cleo, firstQuestion)
	if err != nil {
		return err
	}
	got, err := d.awaitDelivery(ctx, cleo, 1)
	if err != nil {
		return err
	}
	if err := d.requireSource(ctx, got.EventID, got.Text, "45 €"); err != nil {
		return err
	}
	return d.requireEncrypted(ctx, asked.Room, asked.Event, id.EventID(got.EventID))
}

// requireEncrypted checks that the homeserver stores these messages encrypted, and that only the greeting was sent in plain text.
func (d *demo) requireEncrypted(ctx context.Context, room id.RoomID, wanted ...id.EventID) error {
	timeline, err := d.rig.Timeline(ctx, room)
	if err != nil {
		return err
	}
	kinds := map[id.EventID]string{}
	for _, evt := range timeline {
		kinds[evt.ID] = evt.Type.Type
		if evt.Type == event.EventMessage && evt.Content.AsMessage().Body != greeting {
			return fmt.Errorf("%s wrote in plain text into an encrypted chat", evt.Sender)
		}
	}
	for _, evt := range wanted {
		if kinds[evt] != event.EventEncrypted.Type {
			return errors.New("a message is not encrypted where the homeserver keeps it")
		}
	}
	d.out.check("the homeserver has the question and the answer encrypted, and nothing in plain text since")
	return nil
}
