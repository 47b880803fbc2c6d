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
	Status        event.MessageStatus       `json:"status"`
	Reason        event.MessageStatusReason `json:"reason"`
	Message       string                    `json:"message"`
	Error         string                    `json:"error"`
	InternalError string                    `json:"internal_error"`
}

// notBridged matches a bridge's notice that a message was not delivered. Its group is the reason.
var notBridged = regexp.MustCompile(`^(?:\x{26a0}\x{fe0f}? *)?Your \w+ (?:was not|may not have been|wasn't) bridged(?:: *((?s:.*)))?$`)

// DeliveryBy returns the report of a bridge about the delivery of a message: a status event, or the notice of a failure
// that bridges without status events send. It returns false for other senders than bridgeBot, for other events, and if
// bridgeBot is empty.
func (e Event) DeliveryBy(bridgeBot id.UserID) (Delivery, bool) {
	if bridgeBot == "" || e.Sender != bridgeBot || e.delivery == nil {
		return Delivery{}, false
	}
	return *e.delivery, true
}

// parseStatus reads a status event about a message. It returns nil if the event is invalid.
func parseStatus(message id.EventID, content statusContent) *Delivery {
	delivery := Delivery{
		EventID: message,
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
		return nil
	}
	if message == "" {
		return nil
	}
	return &delivery
}

// parseNotice reads the notice of a failure. It returns nil for any other message.
func parseNotice(msg Message) *Delivery {
	if !msg.Notice || msg.ReplyTo == "" {
		return nil
	}
	match := notBridged.FindStringSubmatch(msg.Words())
	if match == nil {
		return nil
	}
	return &Delivery{EventID: msg.ReplyTo, State: Failed, Why: cleanLine(match[1], maxReason)}
}

// maxReason is the maximum length of a returned reason, in characters.
const maxReason = 300
