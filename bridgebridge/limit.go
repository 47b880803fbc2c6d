package bridgebridge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"maunium.net/go/mautrix/event"
)

// maxID is the maximum length of an id that Matrix allows, in bytes. Database indexes cannot hold arbitrarily long ids.
const maxID = 255

// referencedIDs are the ids in the content of an event.
type referencedIDs struct {
	RelatesTo   event.RelatesTo `json:"m.relates_to"`
	Redacts     string          `json:"redacts"`
	SessionID   string          `json:"session_id"`
	SenderKey   string          `json:"sender_key"`
	DeviceID    string          `json:"device_id"`
	Replacement string          `json:"replacement_room"`
	Predecessor struct {
		RoomID string `json:"room_id"`
	} `json:"predecessor"`
	State struct {
		Login string `json:"remote_id"`
	} `json:"fi.mau.bridge_state"`
}

// CheckIDs returns an error if an id of the event or in its content is longer than maxID, contains a zero byte, or is not valid UTF-8.
// Homeservers do not check the ids in the content. An id of the wrong JSON type counts as empty, as in every other function of
// this package.
func CheckIDs(evt *event.Event) error {
	named := decode[referencedIDs](evt)
	key := ""
	if evt.StateKey != nil {
		key = *evt.StateKey
	}
	replyTo := ""
	if named.RelatesTo.InReplyTo != nil {
		replyTo = named.RelatesTo.InReplyTo.EventID.String()
	}
	for _, i := range []struct{ what, id string }{
		{"event_id", evt.ID.String()},
		{"room_id", evt.RoomID.String()},
		{"sender", evt.Sender.String()},
		{"type", evt.Type.Type},
		{"state_key", key},
		{"redacts", evt.Redacts.String()},
		{"redacts", named.Redacts},
		{"m.relates_to", named.RelatesTo.EventID.String()},
		{"m.in_reply_to", replyTo},
		{"session_id", named.SessionID},
		{"sender_key", named.SenderKey},
		{"device_id", named.DeviceID},
		{"replacement_room", named.Replacement},
		{"predecessor", named.Predecessor.RoomID},
		{"remote_id", named.State.Login},
	} {
		if len(i.id) > maxID {
			return fmt.Errorf("its %s has %d bytes; Matrix allows %d", i.what, len(i.id), maxID)
		}
		if strings.IndexByte(i.id, 0) >= 0 || !utf8.ValidString(i.id) {
			return fmt.Errorf("its %s has a zero byte or broken UTF-8", i.what)
		}
	}
	return nil
}
