package appservice

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// HasAccount reports whether a user has an account. It requests the user's profile, without a token. known is false if the homeserver shows
// profiles to its own users only.
func (i *Inspector) HasAccount(ctx context.Context, user id.UserID) (exists, known bool, err error) {
	c, err := mautrix.NewClient(i.access.URL, "", "")
	if err != nil {
		return false, false, fmt.Errorf("%w at %s: %w", ErrUnreachable, i.access.URL, err)
	}
	c.DefaultHTTPRetries = 0
	_, err = c.MakeRequest(ctx, http.MethodGet, c.BuildClientURL("v3", "profile", user), nil, nil)
	switch {
	case err == nil:
		return true, true, nil
	case errors.Is(err, mautrix.MNotFound), isUnknownProfile(err):
		return false, true, nil
	case errors.Is(err, mautrix.MForbidden), errors.Is(err, mautrix.MMissingToken), errors.Is(err, mautrix.MUnknownToken):
		return false, false, nil
	default:
		return false, false, classify(err)
	}
}

// isUnknownProfile reports whether err is Synapse's response for the profile of a user that does not exist: M_UNKNOWN, not M_NOT_FOUND.
func isUnknownProfile(err error) bool {
	failed, ok := errors.AsType[mautrix.HTTPError](err)
	return ok && failed.IsStatus(http.StatusNotFound) && failed.RespError != nil && failed.RespError.ErrCode == mautrix.MUnknown.ErrCode
}

// FindAdminRoom returns the admin room that the bot made for the owner, and whether the bot wrote one of its newest messages.
// The room is empty if there is none.
func (i *Inspector) FindAdminRoom(ctx context.Context) (room id.RoomID, written bool, err error) {
	c, err := i.client(i.access.Bot)
	if err != nil {
		return "", false, err
	}
	joined, err := c.JoinedRooms(ctx)
	if err != nil {
		return "", false, classify(err)
	}
	for _, room := range joined.JoinedRooms {
		var m adminMarker
		if err := c.StateEvent(ctx, room, adminMarkerType, "", &m); err != nil || m.Owner != i.access.Owner {
			continue
		}
		const newest = 20
		page, err := c.Messages(ctx, room, "", "", mautrix.DirectionBackward, nil, newest)
		if err != nil {
			return "", false, classify(err)
		}
		for _, evt := range page.Chunk {
			if evt.Sender == i.access.Bot && (evt.Type.Type == event.EventMessage.Type || evt.Type.Type == event.EventEncrypted.Type) {
				return room, true, nil
			}
		}
		return room, false, nil
	}
	return "", false, nil
}
