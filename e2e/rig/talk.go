package rig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/e2e/bridge/demonet"
)

// AwaitTimeout is the timeout of Await.
const AwaitTimeout = 3 * time.Minute

// Say sends a message of the contact of a chat. If the chat is unknown, it is created as a DM
// with a contact of that id.
func (r *Rig) Say(ctx context.Context, chat, text string) (demonet.Said, error) {
	return r.Network.Say(ctx, chat, demonet.Line{Text: text})
}

// OwnerOnPhone sends a message of the owner on the network, not on Matrix.
func (r *Rig) OwnerOnPhone(ctx context.Context, chat, text string) (demonet.Said, error) {
	return r.Network.Say(ctx, chat, demonet.Line{Text: text, OnPhone: true})
}

// Delivered lists the messages that reached a chat from Matrix, oldest first.
func (r *Rig) Delivered(ctx context.Context, chat string) ([]demonet.Delivery, error) {
	return r.Network.Delivered(ctx, chat)
}

// PortalRoom waits for a chat's portal and returns its room.
func (r *Rig) PortalRoom(ctx context.Context, chat string) (room id.RoomID, err error) {
	err = Await(ctx, "the portal of "+chat, func(ctx context.Context) (bool, error) {
		room, err = r.Network.Room(ctx, chat)
		return room != "", err
	})
	return room, err
}

// Timeline returns all events that the owner sees in a room, oldest first, with
// the contents of known types parsed. Synapse may return an event some time later
// than it acknowledges it, so use Await.
func (r *Rig) Timeline(ctx context.Context, room id.RoomID) ([]*event.Event, error) {
	var all []*event.Event
	from := ""
	for {
		page, err := r.Owner.Messages(ctx, room, from, "", mautrix.DirectionBackward, nil, 100)
		if err != nil {
			return nil, fmt.Errorf("read room %s: %w", room, err)
		}
		for _, evt := range page.Chunk {
			if err := evt.Content.ParseRaw(evt.Type); err != nil && !errors.Is(err, event.ErrUnsupportedContentType) {
				return nil, fmt.Errorf("read event %s: %w", evt.ID, err)
			}
			all = append(all, evt)
		}
		if page.End == "" {
			slices.Reverse(all)
			return all, nil
		}
		from = page.End
	}
}

// AwaitStatus waits for the bridge's delivery status of an event.
func (r *Rig) AwaitStatus(ctx context.Context, room id.RoomID, about id.EventID) (*event.BeeperMessageStatusEventContent, error) {
	var status *event.BeeperMessageStatusEventContent
	err := Await(ctx, "a delivery status of "+about.String(), func(ctx context.Context) (bool, error) {
		events, err := r.Timeline(ctx, room)
		for _, evt := range events {
			content, ok := evt.Content.Parsed.(*event.BeeperMessageStatusEventContent)
			if ok && evt.Sender == BridgeBotID && content.RelatesTo.EventID == about {
				status = content
			}
		}
		return status != nil, err
	})
	return status, err
}

// Await calls check every 50 ms until it returns true or an error, or
// AwaitTimeout is over. what is the name of the awaited event in the error.
func Await(ctx context.Context, what string, check func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, AwaitTimeout)
	defer cancel()
	for {
		ok, err := check(ctx)
		if err != nil {
			return fmt.Errorf("wait for %s: %w", what, err)
		} else if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
