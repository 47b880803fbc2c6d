package policy

// HookEvent is a type of event that webhooks can subscribe to. The value is used in the configuration and in the body of the webhook.
type HookEvent string

// The events. Each delivery has a reference, whose form depends on the event.
const (
	HookMessage    HookEvent = "message:business" // a contact asks something in a business chat; reference: the message's id
	HookEscalation HookEvent = "escalation"       // a chat needs a person; the id of the message that asked for one
	HookResolved   HookEvent = "handoff"          // the escalation of a chat ended, because a person answered there or the owner resumed it; the chat's id
	HookUnclaimed  HookEvent = "unclaimed"        // nobody claimed an escalation, and everybody was called; the id of the message that asked for a person
	HookIndex      HookEvent = "index"            // a document was indexed; its origin
	HookCapture    HookEvent = "capture"          // memory notes were written about a chat; the id of their section
	HookApproval   HookEvent = "approval"         // a tool call waits for the owner's approval; the approval's id
	HookBudget     HookEvent = "budget"           // a cap was nearly or fully used up; "day/cap/percent", and the chat, agent or run
	HookBridgeDown HookEvent = "bridge:down"      // a bridge lost its network; the id of the bridge's state
	HookCronFail   HookEvent = "cron:fail"        // an execution of a schedule failed; its id
	HookTest       HookEvent = "test"             // the owner tests the webhook; reference empty
)

// HookEvents are the events that a webhook can subscribe to: all but HookTest.
func HookEvents() []HookEvent {
	return []HookEvent{HookMessage, HookEscalation, HookResolved, HookUnclaimed, HookIndex, HookCapture, HookApproval, HookBudget, HookBridgeDown, HookCronFail}
}
