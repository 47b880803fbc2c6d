package tools

import "context"

// Verdict is what a policy says to a call. Its zero value denies.
type Verdict struct {
	Allow bool
	Ask   bool   // a person must agree first
	Why   string // for people and for the model; about the call, never about what else there is
}

// Policy stands between a call and its result.
type Policy interface {
	Judge(ctx context.Context, s Spec, c Call) (Verdict, error)
}

// Tiers is the policy without any rules: what only reads may run, what changes something is asked for, and what needs a PIN
// or touches the host is off, but for the tools that are switched on by name.
type Tiers struct {
	// Host lists tools that touch the host and may. Their tier still holds.
	Host []string
}

// Judge goes by the tier alone.
func (t Tiers) Judge(_ context.Context, s Spec, c Call) (Verdict, error) {
	switch {
	case s.Host && !contains(t.Host, s.Name):
		return Verdict{Why: "Tools that touch the machine are off."}, nil
	case s.Tier == Read:
		return Verdict{Allow: true}, nil
	case s.Tier == Confirm && c.Owner:
		return Verdict{Ask: true, Why: "It changes something, so you are asked."}, nil
	default:
		return Verdict{Why: "It needs a PIN, which cannot be asked for yet."}, nil
	}
}
