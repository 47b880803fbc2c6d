package policy

// HookDecision is what a command hook says before a tool or a send. A hook can only restrict: allow means that the rules decide.
type HookDecision string

// The decisions, from the weakest.
const (
	HookAllow HookDecision = "allow"
	HookAsk   HookDecision = "ask"  // the owner is asked
	HookDeny  HookDecision = "deny" // also if the hook failed
)

// HookVerdict is the strictest decision of all hooks that ran. The zero value denies.
type HookVerdict struct {
	Decision HookDecision
	Why      string // a sentence with the name of the hook; empty if no hook restricts
}
