package policy

// HookEvent is a type of event that webhooks can subscribe to. The value is used in the configuration and in the body of the webhook.
type HookEvent string

// The events. Each delivery has a reference, whose form depends on the event.
const (
	// A contact's message in a business chat is answered or escalated; reference: the message's id.
	HookMessage    HookEvent = "message:business"
	HookEscalation HookEvent = "escalation" // a chat needs a person; reference: the id of the message that caused the escalation
	// An escalation ended: a person answered or resolved it, or the owner resumed the assistant; reference: the chat's id.
	HookResolved HookEvent = "resolved"
	// Nobody claimed an escalation, though all were called; reference: id of the message that caused it.
	HookUnclaimed HookEvent = "unclaimed"
	HookIndex     HookEvent = "index"    // a document was indexed; reference: its origin
	HookCapture   HookEvent = "capture"  // memory notes about a chat were written; reference: the id of their section
	HookApproval  HookEvent = "approval" // a tool call waits for the owner's approval; reference: the approval's id
	// a cap was nearly or fully used up; reference: "day/cap/percent", and the chat, agent or run.
	HookBudget     HookEvent = "budget"
	HookBridgeDown HookEvent = "bridge:down" // a bridge lost its network; reference: the id of the bridge's state
	HookCronFail   HookEvent = "cron:fail"   // an execution of a schedule failed; reference: its id
	HookTest       HookEvent = "test"        // the owner tests the webhook; reference empty
)

// HookEvents are the events that a webhook can subscribe to: all but HookTest.
func HookEvents() []HookEvent {
	return []HookEvent{
		HookMessage, HookEscalation, HookResolved, HookUnclaimed, HookIndex, HookCapture, HookApproval, HookBudget,
		HookBridgeDown, HookCronFail,
	}
}
