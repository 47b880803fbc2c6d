package bridgebridge

import (
	"cmp"
	"regexp"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// DeliveryState says whether a message that multis sent reached the network.
type DeliveryState string

// The states of a delivery.
const (
	Pending   DeliveryState = "pending"   // the bridge is still trying
	Delivered DeliveryState = "delivered" // the network accepted it
	Failed    DeliveryState = "failed"    // it did not reach the network, or possibly not
)

// Delivery is a bridge's report about one message.
type Delivery struct {
	EventID id.EventID // the message
	State   DeliveryState
	Why     string // the bridge's reason, for people; empty if it gives none
}

// statusContent is the part of com.beeper.message_send_status that multis reads.
type statusContent struct {
	RelatesTo     event.RelatesTo           `json:"m.relates_to"`
	Status        event.MessageStatus       `json:"status"`
	Reason        event.MessageStatusReason `json:"reason"`
	Message       string                    `json:"message"`
	Error         string                    `json:"error"`
	InternalError string                    `json:"internal_error"`
}

// notBridged matches a bridge's notice that a message was not delivered. Its group is the reason.
var notBridged = regexp.MustCompile(`^(?:\x{26a0}\x{fe0f}? *)?Your \w+ (?:was not|may not have been|wasn't) bridged(?:: *((?s:.*)))?$`)

// DeliveryStatus reads the report of a bridge about a message: a status event, or the notice of a failure that bridges without status
// events send. It returns false for other senders than bridgeBot, for other events, and if bridgeBot is empty.
func DeliveryStatus(evt *event.Event, bridgeBot id.UserID) (Delivery, bool) {
	if bridgeBot == "" || evt.Sender != bridgeBot || evt.StateKey != nil {
		return Delivery{}, false
	}
	switch evt.Type.Type {
	case event.BeeperMessageStatus.Type:
		return readStatus(decode[statusContent](evt))
	case event.EventMessage.Type:
		return readNotice(ParseMessage(evt))
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

// maxReason is the maximum length of a returned reason, in characters.
const maxReason = 300
