package tools

import "context"

// Verdict is a policy's decision about a call. The zero value denies.
type Verdict struct {
	Allow bool
	Ask   bool   // the owner must approve it first
	Why   string // for people and the model; it never tells what else exists
}

// Policy decides about calls.
type Policy interface {
	Judge(ctx context.Context, s Spec, c Call) (Verdict, error)
}

// Tiers is the policy without rules: Read is allowed, Confirm asks the owner, and Pin is denied.
type Tiers struct{}

// Judge decides by the tier of the tool.
func (Tiers) Judge(_ context.Context, s Spec, c Call) (Verdict, error) {
	switch {
	case s.Tier == Read:
		return Verdict{Allow: true}, nil
	case s.Tier == Confirm && c.Owner:
		return Verdict{Ask: true, Why: "It changes something, so you are asked."}, nil
	default:
		return Verdict{Why: "It needs a PIN, which cannot be asked for yet."}, nil
	}
}
