package rules

import (
	"cmp"
	"fmt"
	"strings"
)

// Set is a list of rules that ends with the default rules. It is immutable, and safe for concurrent use.
type Set struct{ rules []Rule }

// Rules returns the rules in their order. The caller must not change them.
func (s *Set) Rules() []Rule { return s.rules }

// Verdict is the decision about a request.
type Verdict struct {
	Decision          Decision
	Rule              *Rule  // the rule that decided; nil if none matched
	About             string // the path or domain that the decision is about; may be empty
	Exceeded          bool   // the rule matched, and its limit is used up
	Problem           string // why no rule was tried; empty if some were
	NeedsConfirmation Cause  // why the call needs confirmation although the rule allowed it; empty if it does not
}

// Cause says why the owner must confirm a call that the rules allow.
type Cause string

// The causes.
const (
	CauseTainted   Cause = "this turn has read text that is not yours"
	CauseInstructs Cause = "that file tells the agent how to work"
)

// Check is one rule that was tried for one path or domain of a request.
type Check struct {
	Rule  *Rule
	About string
	// Mismatch is the first condition that is not met; empty for a rule that matched.
	Mismatch string
}

// Decide returns the decision about a request.
func (s *Set) Decide(q Request) Verdict { return s.decide(&q, func(Check) {}) }

// Explain returns the decision about a request, and the rules in the order in which they were tried.
func (s *Set) Explain(q Request) (Verdict, []Check) {
	var tried []Check
	v := s.decide(&q, func(t Check) { tried = append(tried, t) })
	return v, tried
}

// decide decides about each path and domain of a request separately, and returns the strictest verdict.
func (s *Set) decide(q *Request, record func(Check)) Verdict {
	if q.Hour < 0 || q.Hour > 23 || indexOf(Surfaces(), q.Surface) < 0 || !q.Class.Valid() || indexOf(Tiers(), q.Tier) < 0 {
		return Verdict{Decision: Deny, Problem: "the call is incomplete"}
	}
	if q.Resource.hasRelativePath() {
		return Verdict{Decision: Deny, Problem: "its path is not absolute; write it from / on"}
	}
	var strictest Verdict
	for i, v := range q.variants() {
		got := s.firstMatch(v, record)
		if i == 0 || got.Decision.strictness() > strictest.Decision.strictness() {
			strictest = got
		}
	}
	return requireConfirmation(strictest, q)
}

// firstMatch returns the verdict of the first rule that matches. With Request.AnyCall it returns the mildest verdict that
// any call of the tool could get.
func (s *Set) firstMatch(v variant, record func(Check)) Verdict {
	mildest := Verdict{Decision: Deny}
	for i := range s.rules {
		r := &s.rules[i]
		why := r.mismatch(v)
		record(Check{Rule: r, About: v.about(), Mismatch: why})
		if why != "" {
			continue
		}
		got := Verdict{Decision: r.Decision, Rule: r, About: v.about()}
		if r.Limit.Calls > 0 && v.Exceeds != nil && v.Exceeds(r) {
			got.Decision, got.Exceeded = Deny, true
		}
		if mildest.Rule == nil || got.Decision.strictness() < mildest.Decision.strictness() {
			mildest = got
		}
		if !v.AnyCall || !r.hasResource() {
			return mildest
		}
	}
	return mildest
}

// requireConfirmation turns Allow into Confirm if untrusted text may have caused the call, or if the call would change
// what later turns are told to do, whatever the rules say. No other function decides what such text must not cause.
func requireConfirmation(v Verdict, q *Request) Verdict {
	switch {
	case v.Decision != Allow:
	case q.Tainted && q.Class.isSensitive() && !q.Resource.OwnWords:
		v.Decision, v.NeedsConfirmation = Confirm, CauseTainted
	case q.Resource.Instructs:
		v.Decision, v.NeedsConfirmation = Confirm, CauseInstructs
	}
	return v
}

// Sentence says what was decided, by which rule, and why.
func (v Verdict) Sentence() string {
	if v.Rule == nil {
		return fmt.Sprintf("%s: %s", v.Decision, cmp.Or(v.Problem, "no rule matches"))
	}
	said := fmt.Sprintf("%s: %s", v.Decision, v.Rule.Position())
	if v.About != "" {
		said += " for " + v.About
	}
	switch {
	case v.Exceeded:
		said += fmt.Sprintf(" allows %s, and that is used up", v.Rule.Limit)
	case v.NeedsConfirmation != "":
		said += fmt.Sprintf(" says allow, but %s, so you are asked", v.NeedsConfirmation)
	case v.Rule.Reason != "":
		said += " (" + strings.TrimSuffix(v.Rule.Reason, ".") + ")"
	}
	return said
}
