package appservice

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

const (
	maxNoticeAge   = time.Hour // how long a bridge's notice is kept while its key is missing
	maxUndecrypted = 50
)

// storeBridgeNotices decrypts what bridge bots send in rooms that are no chats, such as their management rooms, and
// stores their reports about the connection to the network. It drops everything else that they send there.
func (s *OwnerSync) storeBridgeNotices(ctx context.Context, resp *syncResponse) error {
	sealed, err := s.encryptedNotices(ctx, resp)
	if err != nil {
		return err
	}
	var notices []bridgebridge.Event
	sealed, s.undecrypted = append(s.undecrypted, sealed...), nil
	for _, evt := range sealed {
		plain, err := s.vault.decrypt(ctx, policy.AsOwner, evt)
		switch {
		case errors.Is(err, crypto.ErrNoSessionFound):
			if s.inbox.now().Sub(time.UnixMilli(evt.Timestamp)) < maxNoticeAge && len(s.undecrypted) < maxUndecrypted {
				s.undecrypted = append(s.undecrypted, evt) // the next poll may bring its key
			}
		case err != nil: // it can never be decrypted
		default:
			notice, err := bridgebridge.Parse(plain)
			if err == nil && notice.Connection != nil {
				notices = append(notices, notice)
			}
		}
	}
	return s.inbox.receiveParsed(ctx, notices, "")
}

// encryptedNotices returns the encrypted events of bridge bots in rooms that are no chats.
func (s *OwnerSync) encryptedNotices(ctx context.Context, resp *syncResponse) (found []*event.Event, err error) {
	byRoom := map[id.RoomID][]*event.Event{}
	var rooms []id.RoomID
	for room, joined := range resp.Rooms.Join {
		for _, evt := range joined.Timeline.Events {
			if evt.Type.Type != event.EventEncrypted.Type {
				continue
			}
			if byRoom[room] == nil {
				rooms = append(rooms, room)
			}
			evt.RoomID, evt.Type = room, event.EventEncrypted
			byRoom[room] = append(byRoom[room], evt)
		}
	}
	if len(rooms) == 0 {
		return nil, nil
	}
	chats, err := store.ChatsByRoom(ctx, s.inbox.store.DB(), rooms)
	if err != nil {
		return nil, err
	}
	bots := map[id.UserID]bool{}
	for room, events := range byRoom {
		if _, known := chats[room]; known {
			continue
		}
		for _, evt := range events {
			if _, asked := bots[evt.Sender]; !asked {
				_, err := store.ProtocolOf(ctx, s.inbox.store.DB(), evt.Sender)
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					return nil, err
				}
				bots[evt.Sender] = err == nil
			}
			if bots[evt.Sender] {
				found = append(found, evt)
			}
		}
	}
	return found, nil
}
