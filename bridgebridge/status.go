package bridgebridge

import (
	"cmp"
	"regexp"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// DeliveryState says how far a message of ours came.
type DeliveryState string

// The states of a delivery.
const (
	Pending   DeliveryState = "pending"   // the bridge is still trying
	Delivered DeliveryState = "delivered" // the network took it
	Failed    DeliveryState = "failed"    // it did not reach the network, or may not have
)

// Delivery is a bridge's word about one message.
type Delivery struct {
	EventID id.EventID // the message
	State   DeliveryState
	Why     string // the bridge's reason, for people; empty when there is none
}

// statusContent is what is read of com.beeper.message_send_status.
type statusContent struct {
	RelatesTo     event.RelatesTo           `json:"m.relates_to"`
	Status        event.MessageStatus       `json:"status"`
	Reason        event.MessageStatusReason `json:"reason"`
	Message       string                    `json:"message"`
	Error         string                    `json:"error"`
	InternalError string                    `json:"internal_error"`
}

// notBridged is how bridges say in a notice that a message did not get through, whatever the message was.
var notBridged = regexp.MustCompile(`^(?:\x{26a0}\x{fe0f}? *)?Your \w+ (?:was not|may not have been|wasn't) bridged(?:: *((?s:.*)))?$`)

// DeliveryStatus reads what a bridge says about a message: a status event, or where those are not turned on the notice that
// it sends for a failure. Only the room's own bridge bot is believed; it is false for anybody else, for other events, and
// when bridgeBot is empty.
func DeliveryStatus(evt *event.Event, bridgeBot id.UserID) (Delivery, bool) {
	if bridgeBot == "" || evt.Sender != bridgeBot || evt.StateKey != nil {
		return Delivery{}, false
	}
	switch evt.Type.Type {
	case event.BeeperMessageStatus.Type:
		return readStatus(decode[statusContent](evt))
	case event.EventMessage.Type:
		return readNotice(ReadMessage(evt))
	default:
		return Delivery{}, false
	}
}

func readStatus(content statusContent) (Delivery, bool) {
	delivery := Delivery{
		EventID: content.RelatesTo.GetReferenceID(),
		Why:     cleanLine(cmp.Or(content.Message, content.Error, content.InternalError, string(content.Reason)), maxReason),
	}
	switch content.Status {
	case event.MessageStatusSuccess:
		delivery.State, delivery.Why = Delivered, ""
	case event.MessageStatusPending:
		delivery.State = Pending
	case event.MessageStatusRetriable, event.MessageStatusFail:
		delivery.State = Failed
	default:
		return Delivery{}, false
	}
	return delivery, delivery.EventID != ""
}

func readNotice(msg Message) (Delivery, bool) {
	match := notBridged.FindStringSubmatch(msg.Words())
	if !msg.Notice || msg.ReplyTo == "" || match == nil {
		return Delivery{}, false
	}
	return Delivery{EventID: msg.ReplyTo, State: Failed, Why: cleanLine(match[1], maxReason)}, true
}

// maxReason is the longest reason passed on, in characters.
const maxReason = 300
