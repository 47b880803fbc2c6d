package bridgebridge

import (
	"cmp"
	"strings"

	"maunium.net/go/mautrix/event"
)

// Connection is the state of one of the owner's logins, as a bridge reports it.
type Connection struct {
	Login string // the login's id
	Up    bool
	Why   string // what is wrong, for people; empty if the login is up
}

// stateContent is the part of a bridge state notice that multis reads.
type stateContent struct {
	State *struct {
		Event    string `json:"state_event"`
		Error    string `json:"error"`
		Message  string `json:"message"`
		RemoteID string `json:"remote_id"`
	} `json:"fi.mau.bridge_state"`
}

// ParseConnection reads the notice that a bridge sends to its management room when a login breaks or works again. It returns false for any
// other event and for transitional states. The caller must check the sender.
func ParseConnection(evt *event.Event) (Connection, bool) {
	state := decode[stateContent](evt).State
	if evt.Type.Type != event.EventMessage.Type || evt.StateKey != nil || state == nil || len(state.RemoteID) > maxID {
		return Connection{}, false
	}
	c := Connection{Login: state.RemoteID}
	switch state.Event {
	case "CONNECTED", "BACKFILLING":
		c.Up = true
	case "BAD_CREDENTIALS", "LOGGED_OUT":
		c.Why = LoggedOut
	case "TRANSIENT_DISCONNECT":
		c.Why = NotConnected
	case "BRIDGE_UNREACHABLE":
		c.Why = "the bridge is down"
	case "UNKNOWN_ERROR":
		c.Why = cmp.Or(cleanLine(state.Message, maxReason), cleanLine(state.Error, maxReason), "an error")
	default:
		return Connection{}, false
	}
	return c, true
}

// NotConnected is the Why of a Connection while the bridge tries to reconnect to the network.
const NotConnected = "not connected"

// LoggedOut is the Why of a Connection after the network ended the owner's login.
const LoggedOut = "logged out"

// IsLoggedOut reports whether the reason of a failed delivery means that the network ended the login.
func IsLoggedOut(why string) bool {
	why = strings.ToLower(why)
	for _, words := range []string{"logged out", "not logged in", "you're not logged in", "bad credentials"} {
		if strings.Contains(why, words) {
			return true
		}
	}
	return false
}
