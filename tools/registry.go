package tools

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"multis/policy"
	"multis/text"
)

const (
	// callTimeout bounds one call.
	callTimeout = time.Minute
	// maxForLLM is the most of a result that the model reads, in bytes, and maxForUser of the line for people.
	maxForLLM  = 16_000
	maxForUser = 500
	// MaxOffered is the most tools that a model is offered: some providers refuse requests with more.
	MaxOffered = 128
)

// Registry holds the tools. It is safe for concurrent use.
type Registry struct {
	policy Policy
	mu     sync.RWMutex
	tools  map[string]Tool
}

// NewRegistry returns a registry of tools. p decides about each call.
func NewRegistry(p Policy, all ...Tool) *Registry {
	r := &Registry{policy: p, tools: map[string]Tool{}}
	r.Add(all...)
	return r
}

// Add adds tools. A tool replaces another one with the same name.
func (r *Registry) Add(all ...Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range all {
		r.tools[t.Spec().Name] = t
	}
}

// Drop removes all tools whose names begin with prefix.
func (r *Registry) Drop(prefix string) { r.Replace(prefix) }

// Replace removes all tools whose names begin with prefix and adds others, in one step.
func (r *Registry) Replace(prefix string, all ...Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.tools {
		if strings.HasPrefix(name, prefix) {
			delete(r.tools, name)
		}
	}
	for _, t := range all {
		r.tools[t.Spec().Name] = t
	}
}

// Offered lists the tools that a caller may call, multis' own before those of other programs, each group by name. Tools that the policy denies are left
// out, and all beyond MaxOffered.
func (r *Registry) Offered(ctx context.Context, c Caller) ([]Spec, error) {
	var offered []Spec
	for _, s := range r.All() {
		if !c.MayCall(s.Name) || (s.Files && c.Workspace == "" && len(c.ReadPaths) == 0) {
			continue
		}
		v, err := r.judge(ctx, s, Call{Name: s.Name, Caller: c})
		if err != nil {
			return nil, err
		}
		if v.Allow || v.Ask {
			offered = append(offered, s)
		}
	}
	slices.SortStableFunc(offered, func(a, b Spec) int {
		switch {
		case a.Foreign == b.Foreign:
			return 0
		case b.Foreign:
			return -1
		default:
			return 1
		}
	})
	return offered[:min(len(offered), MaxOffered)], nil
}

// All lists every tool by name, whoever may call it.
func (r *Registry) All() []Spec {
	r.mu.RLock()
	defer r.mu.RUnlock()
	specs := make([]Spec, 0, len(r.tools))
	for _, t := range r.tools {
		specs = append(specs, t.Spec())
	}
	slices.SortFunc(specs, func(a, b Spec) int { return strings.Compare(a.Name, b.Name) })
	return specs
}

// Judge returns the policy's decision about a call, with the tool's Spec.
func (r *Registry) Judge(ctx context.Context, c Call) (Spec, Verdict, error) {
	t, ok := r.get(c)
	if !ok {
		return Spec{Name: c.Name}, Verdict{Why: notAllowed}, nil
	}
	s := t.Spec()
	if t, ok := t.(Tiered); ok {
		s.Tier = t.TierOf(c)
	}
	v, err := r.judge(ctx, s, c)
	return s, v, err
}

// judge asks the policy, unless the call is one that no policy can allow: during a scheduled run nobody is there to type a PIN.
func (r *Registry) judge(ctx context.Context, s Spec, c Call) (Verdict, error) {
	switch {
	case c.ReadOnly && (s.Tier != Read || s.Effect):
		return Verdict{Why: "Here you can only read."}, nil
	case c.Only != nil && s.Tier == Pin:
		return Verdict{Why: "It needs a PIN, and nobody is there to type it."}, nil
	}
	v, err := r.policy.Judge(ctx, s, c)
	if err != nil {
		return Verdict{}, fmt.Errorf("ask the policy about %s: %w", s.Name, err)
	}
	return v, nil
}

// notAllowed does not tell whether the tool does not exist, is not for contacts, or not for the persona.
const notAllowed = "You have no such tool here. Go on without it."

func (r *Registry) get(c Call) (Tool, bool) {
	if !c.MayCall(c.Name) {
		return nil, false
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[c.Name]
	return t, ok
}

// Do judges a call and makes it. approved is true if the owner approved this very call.
func (r *Registry) Do(ctx context.Context, c Call, approved bool) (Result, error) {
	t, ok := r.get(c)
	if !ok {
		return Refused(CodeNotAllowed, notAllowed), nil
	}
	_, v, err := r.Judge(ctx, c)
	switch {
	case err != nil:
		return Result{}, err
	case v.Ask && !approved:
		return Refused(CodeApproval, v.Why), nil
	case !v.Allow && !v.Ask:
		return Refused(CodeRefused, v.Why), nil
	}
	result, err := run(ctx, t, c)
	if err != nil {
		return Result{}, fmt.Errorf("tool %s: %w", c.Name, err)
	}
	result.ForLLM = Clip(policy.Hide(result.ForLLM), maxForLLM)
	result.ForUser = Clip(policy.Hide(result.ForUser), maxForUser)
	result.Ref = policy.Hide(result.Ref)
	return result, nil
}

// errCallTimeout is the cause of the context of a call that takes too long.
var errCallTimeout = errors.New("the call took too long")

// run makes a call within callTimeout. A panic of the tool is a failed call.
func run(ctx context.Context, t Tool, c Call) (res Result, err error) {
	working, cancel := context.WithTimeoutCause(ctx, callTimeout, errCallTimeout)
	defer cancel()
	defer func() {
		if broken := recover(); broken != nil {
			zerolog.Ctx(ctx).Error().Str("tool", c.Name).Str("panic", fmt.Sprint(broken)).Bytes("stack", debug.Stack()).Msg("A tool broke down")
			res, err = Failed("The tool broke down.", false), nil
			if t.Spec().Effect {
				res = UnknownOutcome(c.Name, res.ForLLM)
			}
		}
	}()
	res, err = t.Run(working, c)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(working), errCallTimeout) {
		if t.Spec().Effect {
			return UnknownOutcome(c.Name, "It took longer than a minute, so nobody waited any more."), nil
		}
		return Result{ForLLM: "It took longer than a minute, so it was stopped.", IsError: true, Code: CodeTimeout, Retriable: true}, nil
	}
	return res, err
}

// Clip cuts a text for a model to maxBytes, and tells in a line below it that it is cut.
func Clip(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	kept := text.ClipBytes(s, maxBytes)
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes]", kept, len(kept), len(s))
}
