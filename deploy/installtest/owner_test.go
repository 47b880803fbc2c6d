//go:build chaos

package installtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
	"maunium.net/go/mautrix/synapseadmin"

	"multis/e2e/rig"
)

// dialer is a machine whose ports can be reached.
type dialer interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// owner is the person whom multis works for, with a Matrix client.
type owner struct {
	client *mautrix.Client
	room   id.RoomID // the admin room
}

// newClient returns a client of the homeserver on port 8008 of a machine, which has to answer.
func newClient(ctx context.Context, machine dialer) (*mautrix.Client, error) {
	client, err := mautrix.NewClient("http://127.0.0.1:8008", "", "")
	if err != nil {
		return nil, err
	}
	client.Client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: machine.Dial, DisableKeepAlives: true}}
	return client, awaitLong(ctx, "the homeserver", func(ctx context.Context) error {
		_, err := client.Versions(ctx)
		return err
	})
}

// newOwner registers the owner's account.
func newOwner(ctx context.Context, machine dialer) (*owner, error) {
	client, err := newClient(ctx, machine)
	if err != nil {
		return nil, err
	}
	admin := synapseadmin.Client{Client: client}
	account, err := admin.SharedSecretRegister(ctx, "secret", synapseadmin.ReqSharedSecretRegister{Username: "you", Password: "password"})
	if err != nil {
		return nil, err
	}
	client.UserID, client.AccessToken = account.UserID, account.AccessToken
	return &owner{client: client}, nil
}

// logIn logs the owner of the profile full in, as its guide says.
func logIn(ctx context.Context, machine dialer) (*owner, error) {
	client, err := newClient(ctx, machine)
	if err != nil {
		return nil, err
	}
	_, err = client.Login(ctx, &mautrix.ReqLogin{
		Type: mautrix.AuthTypePassword, Identifier: mautrix.UserIdentifier{Type: mautrix.IdentifierTypeUser, User: "owner"},
		Password: "owner", StoreCredentials: true,
	})
	return &owner{client: client}, err
}

// awaitReply waits until the owner's account wrote the words in any room.
func (o *owner) awaitReply(ctx context.Context, words string) error {
	return awaitLong(ctx, fmt.Sprintf("a reply with %q", words), func(ctx context.Context) error {
		rooms, err := o.client.JoinedRooms(ctx)
		if err != nil {
			return err
		}
		for _, room := range rooms.JoinedRooms {
			page, err := o.client.Messages(ctx, room, "", "", mautrix.DirectionBackward, nil, 50)
			if err != nil {
				return err
			}
			for _, evt := range page.Chunk {
				if evt.Type == event.EventMessage && evt.Sender == o.client.UserID && evt.Content.ParseRaw(evt.Type) == nil &&
					strings.Contains(evt.Content.AsMessage().Body, words) {
					return nil
				}
			}
		}
		return errors.New("no such message yet")
	})
}

// joinAdminRoom accepts multis' newest invitation.
func (o *owner) joinAdminRoom(ctx context.Context) error {
	return awaitLong(ctx, "the invitation to the admin room", func(ctx context.Context) error {
		resp, err := o.client.SyncRequest(ctx, 0, "", "", false, event.PresenceOffline)
		if err != nil {
			return err
		}
		for room := range resp.Rooms.Invite {
			o.room = room
			_, err := o.client.JoinRoomByID(ctx, room)
			return err
		}
		return errors.New("not invited yet")
	})
}

// ask sends a message to the admin room and waits for an answer with the words.
func (o *owner) ask(ctx context.Context, question, words string) error {
	var asked id.EventID
	if err := awaitLong(ctx, "the homeserver to take a message", func(ctx context.Context) error {
		sent, err := o.client.SendText(ctx, o.room, question)
		if err == nil {
			asked = sent.EventID
		}
		return err
	}); err != nil {
		return err
	}
	return awaitLong(ctx, fmt.Sprintf("an answer to %q with %q", question, words), func(ctx context.Context) error {
		page, err := o.client.Messages(ctx, o.room, "", "", mautrix.DirectionBackward, nil, 50)
		if err != nil {
			return err
		}
		var heard []string
		for _, evt := range page.Chunk { // the newest first
			if evt.ID == asked {
				break
			}
			if evt.Type != event.EventMessage || evt.Sender == o.client.UserID {
				continue
			}
			if err := evt.Content.ParseRaw(evt.Type); err != nil {
				return err
			}
			body := evt.Content.AsMessage().Body
			if strings.Contains(body, words) {
				return nil
			}
			heard = append(heard, body)
		}
		return fmt.Errorf("heard only %q", heard)
	})
}

// awaitLong tries until there is no error, for two minutes: after a power cut everything starts anew.
func awaitLong(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*rig.AwaitTimeout)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w (last: %w)", what, ctx.Err(), err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}
