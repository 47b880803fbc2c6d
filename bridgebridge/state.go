package bridgebridge

import (
	"cmp"
	"strings"
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

// parseConnection reads the notice that a bridge sends to its management room when a login breaks or works again. It
// returns nil for any other notice and for transitional states.
func parseConnection(content stateContent) *Connection {
	state := content.State
	if state == nil {
		return nil
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
		return nil
	}
	return &c
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
