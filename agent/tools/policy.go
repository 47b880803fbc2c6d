package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"multis/policy/rules"
)

// Verdict is a policy's decision about a call. The zero value denies it.
type Verdict struct {
	Allow bool
	Ask   bool   // the owner must approve it first
	Pin   bool   // the owner must approve it and enter the PIN first
	Why   string // for people and the model; it does not say which tools exist
	// Note tells the owner why he is asked, if it is more than what the tool does: the reason of a rule or a hook, or that
	// the turn has read text of others.
	Note string
	// HookAsks is true if a hook requires the approval of this call. No grant for similar calls replaces it.
	HookAsks bool
}

// Policy decides about calls.
type Policy interface {
	Judge(ctx context.Context, s Spec, c Call) (Verdict, error)
}

// The reasons of verdicts whose rule has none.
const (
	whyAsk       = "You are asked before each use of this tool."
	whyTainted   = "It was asked for in a turn that has read text of others, so you are asked."
	whyInstructs = "It changes a file that tells the agent how to work, so you are asked."
	whyPin       = "You are asked for the PIN before each use of this tool."
	whyDeny      = "A rule forbids it."
	whyLimit     = "It was called too often for now. Go on without it, or say that it has to wait."
)

// TierPolicy decides by the tool's tier alone: Read is allowed, Confirm needs the owner's approval, and Pin the PIN as
// well. The default rules of RulePolicy decide the same, for the owner and for contacts.
type TierPolicy struct{}

// Judge decides by the tier of the tool.
func (TierPolicy) Judge(_ context.Context, s Spec, c Call) (Verdict, error) {
	switch {
	case s.Tier == Read:
		return Verdict{Allow: true}, nil
	case s.Tier == Confirm && c.Owner:
		return Verdict{Ask: true, Why: whyAsk}, nil
	case s.Tier == Pin && c.Owner:
		return Verdict{Pin: true, Why: whyPin}, nil
	default:
		return Verdict{Why: whyDeny}, nil
	}
}

// RulePolicy decides by rules. It is safe for concurrent use.
type RulePolicy struct {
	set     atomic.Pointer[rules.Set]
	counter rules.Counter
	zone    *time.Location
	now     func() time.Time
}

// NewRulePolicy returns a policy of some rules. Their hours are in zone; now defaults to time.Now.
func NewRulePolicy(set *rules.Set, zone *time.Location, now func() time.Time) *RulePolicy {
	if now == nil {
		now = time.Now
	}
	p := &RulePolicy{zone: zone, now: now}
	p.Replace(set)
	return p
}

// Replace replaces the rules in one step. Calls that were counted for limits stay counted.
func (p *RulePolicy) Replace(set *rules.Set) { p.set.Store(set) }

// Rules returns the rules that apply now.
func (p *RulePolicy) Rules() *rules.Set { return p.set.Load() }

// Judge decides by the first rule that matches, and counts the call if that rule has a limit.
func (p *RulePolicy) Judge(_ context.Context, s Spec, c Call) (Verdict, error) {
	return verdictOf(p.set.Load().Decide(p.request(s, c, callKey(c)))), nil
}

// Explain returns the decision that Judge would make now, and the rules in the order in which they are tried. It counts nothing.
func (p *RulePolicy) Explain(s Spec, c Call) (rules.Verdict, []rules.Check) {
	return p.set.Load().Explain(p.request(s, c, ""))
}

// callKey returns the key by which limits count a call only once. It is empty if there is no call, as when tools are offered.
func callKey(c Call) string {
	if c.ID == "" || c.AnyCall {
		return ""
	}
	return strconv.FormatInt(int64(c.Task), 10) + " " + c.ID
}

// request converts a call to the request that rules are matched against. call is its callKey; if it is empty, limits count nothing.
func (p *RulePolicy) request(s Spec, c Call, call string) rules.Request {
	now := p.now()
	surface := c.Surface
	if !c.Owner {
		surface = rules.SurfaceContact
	} else if surface == rules.SurfaceContact {
		surface = "" // this surface contradicts Owner, so the call is denied
	}
	return rules.Request{
		Surface:  surface,
		Agent:    c.Agent,
		Tool:     s.Name,
		Class:    s.Class,
		Tier:     rules.Tier(s.Tier),
		Chat:     int64(c.Chat.ID),
		Resource: s.Resource,
		Hour:     now.In(p.zone).Hour(),
		Tainted:  c.Tainted || !c.Owner,
		AnyCall:  c.AnyCall,
		Exceeds:  func(r *rules.Rule) bool { return p.counter.Count(r, c.Agent, s.Name, call, now) },
	}
}

// verdictOf converts the decision of rules.
func verdictOf(v rules.Verdict) Verdict {
	reason := ""
	if v.Rule != nil {
		reason = v.Rule.Reason
	}
	switch {
	case v.Decision == rules.Allow:
		return Verdict{Allow: true}
	case v.NeedsConfirmation == rules.CauseInstructs:
		return Verdict{Ask: true, Why: whyInstructs, Note: whyInstructs}
	case v.NeedsConfirmation != "":
		return Verdict{Ask: true, Why: whyTainted, Note: whyTainted}
	case v.Decision == rules.Confirm:
		return Verdict{Ask: true, Why: cmp.Or(reason, whyAsk), Note: reason}
	case v.Decision == rules.Pin:
		return Verdict{Pin: true, Why: cmp.Or(reason, whyPin), Note: reason}
	case v.Exceeded:
		return Verdict{Why: whyLimit}
	default:
		return Verdict{Why: cmp.Or(reason, whyDeny)}
	}
}

// KnownTools returns the tools of the registry, which rules may name.
func (r *Registry) KnownTools() []rules.Tool {
	var all []rules.Tool
	for _, s := range r.All() {
		all = append(all, rules.Tool{Name: s.Name, Class: s.Class, Kinds: s.Kinds, Contacts: slices.Contains(contactTools, s.Name)})
	}
	return all
}

// Explanation says what happens with a call, and why.
type Explanation struct {
	Spec    Spec
	Verdict rules.Verdict
	Checks  []rules.Check
	// Forbidden says why the call is refused whatever the rules say, so that none was evaluated. It is empty if rules decide.
	Forbidden string
}

// Explain explains what Do would do with a call now. It makes no call and counts nothing. The policy must be a RulePolicy.
func (r *Registry) Explain(c Call) (Explanation, error) {
	p, ok := r.policy.(*RulePolicy)
	if !ok {
		return Explanation{}, fmt.Errorf("explain %s: this registry has no rules", c.Name)
	}
	t, ok := r.get(c)
	if !ok {
		return Explanation{Spec: Spec{Name: c.Name}, Verdict: rules.Verdict{Decision: rules.Deny}, Forbidden: r.whyMissing(c)}, nil
	}
	e := Explanation{Spec: specOf(t, c)}
	if why := cmp.Or(refusalFor(t, c), hardRefusal(e.Spec, c)); why != "" {
		e.Verdict, e.Forbidden = rules.Verdict{Decision: rules.Deny}, why
		return e, nil
	}
	e.Verdict, e.Checks = p.Explain(e.Spec, c)
	return e, nil
}

// whyMissing returns why a caller does not have a tool. Only the owner may read that.
func (r *Registry) whyMissing(c Call) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	switch _, there := r.tools[c.Name]; {
	case !there:
		return "there is no such tool"
	case !c.Owner:
		return "contacts have three tools, whatever rules say"
	default:
		return "the lists of the agent, its skills or its task leave it out"
	}
}
