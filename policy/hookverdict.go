package policy

// HookDecision is the decision of a command hook about a tool call or a text to send. A hook can only restrict: allow
// leaves the decision to the rules.
type HookDecision string

// The decisions, from the mildest.
const (
	HookAllow HookDecision = "allow"
	HookAsk   HookDecision = "ask"  // the owner is asked
	HookDeny  HookDecision = "deny" // the hook denied, or failed
)

// HookVerdict is the strictest decision of all hooks that ran. The zero value denies.
type HookVerdict struct {
	Decision HookDecision
	Why      string // a sentence with the name of the hook; empty if no hook restricts
}
