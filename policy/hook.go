package policy

// HookEvent is something that happens and of which a webhook can be told. Its value is what the configuration and the webhook's body say.
type HookEvent string

// The events. Each delivery has a reference, whose form depends on the event.
const (
	HookMessage    HookEvent = "message:business" // a contact asks something in a business chat; reference: the message's id
	HookEscalation HookEvent = "escalation"       // a chat needs a person; the id of the message that asked for one
	HookResolved   HookEvent = "handoff"          // a person answered in a chat that needed one; the chat's id
	HookIndex      HookEvent = "index"            // a document was indexed; its origin
	HookCapture    HookEvent = "capture"          // notes were taken of a chat; the id of their section
	HookApproval   HookEvent = "approval"         // a tool call waits for the owner's approval; the approval's id
	HookBudget     HookEvent = "budget"           // a budget is used up, in part or in full; "day/cap/percent", and whose it is
	HookBridgeDown HookEvent = "bridge:down"      // a bridge lost its network; the id of the bridge's state
	HookCronFail   HookEvent = "cron:fail"        // an execution of a schedule failed; its id
	HookTest       HookEvent = "test"             // the owner tests the webhook; empty
)

// HookEvents are the events that a webhook can subscribe to: all but HookTest.
func HookEvents() []HookEvent {
	return []HookEvent{HookMessage, HookEscalation, HookResolved, HookIndex, HookCapture, HookApproval, HookBudget, HookBridgeDown, HookCronFail}
}
