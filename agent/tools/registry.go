package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"multis/policy"
)

const (
	// callTimeout bounds one call.
	callTimeout = time.Minute
	// maxForLLM is the maximum length of a result for the model, in bytes: the beginning is kept. maxForUser is that of the
	// line for people, in bytes.
	maxForLLM  = 16_000
	maxForUser = 500
	// MaxOffered is the maximum number of tools that a model is offered: some providers refuse requests with more.
	MaxOffered = 128
)

// Registry holds the tools. It is safe for concurrent use.
type Registry struct {
	policy Policy
	before BeforeCall // nil means no hooks
	mu     sync.RWMutex
	tools  map[string]Tool
}

// NewRegistry returns a registry of tools. The policy decides about each call.
func NewRegistry(p Policy, all ...Tool) *Registry {
	r := &Registry{policy: p, tools: map[string]Tool{}}
	r.Add(all...)
	return r
}

// BeforeCall asks the owner's hooks about a call. It is not asked about a call that the policy denies.
type BeforeCall func(ctx context.Context, s Spec, c Call) (policy.HookVerdict, error)

// SetBeforeCall sets the hook that is asked before each call, maybe more than once about the same call. It must be set
// before the registry is used.
func (r *Registry) SetBeforeCall(before BeforeCall) { r.before = before }

// Add adds tools. A tool replaces another one with the same name.
func (r *Registry) Add(all ...Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range all {
		r.tools[t.Spec().Name] = t
	}
}

// RemovePrefix removes all tools whose names begin with prefix.
func (r *Registry) RemovePrefix(prefix string) { r.ReplacePrefix(prefix) }

// ReplacePrefix removes all tools whose names begin with prefix and adds others, in one step.
func (r *Registry) ReplacePrefix(prefix string, all ...Tool) {
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

// Offered returns the tools that a caller may call, at most MaxOffered: multis' own before those of other programs, each
// group by name. Tools that the policy denies are left out.
func (r *Registry) Offered(ctx context.Context, c Caller) ([]Spec, error) {
	var offered []Spec
	for _, s := range r.All() {
		if !c.MayCall(s.Name) || (s.NeedsFolders && c.Workspace == "" && len(c.ReadPaths) == 0) {
			continue
		}
		v, err := r.judge(ctx, s, Call{Name: s.Name, AnyCall: true, Caller: c})
		if err != nil {
			return nil, err
		}
		if v.Allow || v.Ask || v.Pin {
			offered = append(offered, s)
		}
	}
	slices.SortStableFunc(offered, func(a, b Spec) int {
		switch {
		case a.External == b.External:
			return 0
		case b.External:
			return -1
		default:
			return 1
		}
	})
	return offered[:min(len(offered), MaxOffered)], nil
}

// All returns all tools by name, whoever may call them.
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

// unknownName stands for the name of every tool that does not exist.
const unknownName = "unknown"

// KnownName returns name if there is such a tool, whoever may call it, and otherwise a name that no tool has.
func (r *Registry) KnownName(name string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if _, ok := r.tools[name]; !ok {
		return unknownName
	}
	return name
}

// Judge returns the policy's decision about a call, with the tool's Spec.
func (r *Registry) Judge(ctx context.Context, c Call) (Spec, Verdict, error) {
	t, ok := r.get(c)
	if !ok {
		return Spec{Name: c.Name}, Verdict{Why: notAllowed}, nil
	}
	s := specOf(t, c)
	if why := refusalFor(t, c); why != "" {
		return s, Verdict{Why: why}, nil
	}
	v, err := r.judge(ctx, s, c)
	return s, v, err
}

// specOf returns the Spec of a tool for one call, with the tier, the class and the resource of that call.
func specOf(t Tool, c Call) Spec {
	s := t.Spec()
	if t, ok := t.(Tiered); ok {
		s.Tier = t.TierOf(c)
	}
	if t, ok := t.(Classifier); ok {
		s.Class = t.ClassOf(c)
	}
	if t, ok := t.(ResourceFinder); ok {
		s.Resource = t.ResourceOf(c)
	}
	return s
}

// Describe returns what a call would do, in words for the owner; empty if its arguments say it.
func (r *Registry) Describe(c Call) string {
	if t, ok := r.get(c); ok {
		if t, ok := t.(Describer); ok {
			return t.Describe(c)
		}
	}
	return ""
}

// IsForeign reports whether results of a tool may contain text that is not the owner's. It is true for a tool that no longer exists.
func (r *Registry) IsForeign(name string) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	return !ok || t.Spec().Foreign || t.Spec().External
}

// SpecOf returns the Spec of a tool, whoever may call it; false if there is none.
func (r *Registry) SpecOf(name string) (Spec, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t, ok := r.tools[name]
	if !ok {
		return Spec{}, false
	}
	return t.Spec(), true
}

// judge asks the policy about a call, unless no policy can allow it.
func (r *Registry) judge(ctx context.Context, s Spec, c Call) (Verdict, error) {
	if why := hardRefusal(s, c); why != "" {
		return Verdict{Why: why}, nil
	}
	v, err := r.policy.Judge(ctx, s, c)
	if err != nil {
		return Verdict{}, fmt.Errorf("ask the policy about %s: %w", s.Name, err)
	}
	if r.before == nil || c.AnyCall || (!v.Allow && !v.Ask && !v.Pin) {
		return v, nil
	}
	hook, err := r.before(ctx, s, c)
	if err != nil {
		return Verdict{}, fmt.Errorf("ask the hooks about %s: %w", s.Name, err)
	}
	return v.withHookVerdict(hook, c.Owner), nil
}

// withHookVerdict combines a verdict with that of the hooks. They can deny the call or require the owner's approval, but
// never allow what v does not allow. In a contact's turn no approval is possible, so the call is denied instead.
func (v Verdict) withHookVerdict(hook policy.HookVerdict, owner bool) Verdict {
	switch {
	case hook.Decision == policy.HookAllow:
		return v
	case hook.Decision != policy.HookAsk, !owner:
		return Verdict{Why: hook.Why}
	case v.Allow:
		return Verdict{Ask: true, Why: hook.Why, Note: hook.Why, HookAsks: true}
	case v.Ask, v.Pin:
		v.HookAsks = true
		v.Why, v.Note = strings.TrimSpace(v.Why+" "+hook.Why), strings.TrimSpace(v.Note+" "+hook.Why)
		return v
	default:
		return v
	}
}

// hardRefusal says why a call is refused whatever the policy says; empty if the policy decides.
func hardRefusal(s Spec, c Call) string {
	switch {
	case s.TypedOnly && !c.Typed:
		return "Only the owner's own command does that."
	case c.ReadOnly && (s.Tier != Read || s.HasEffect):
		return "Here you can only read."
	case hasMask(c.Args):
		return "An argument has the mark " + policy.Mask +
			". It stands where a key or a password was removed, and is not its value, which you cannot have. " +
			"Do it without, or tell the owner what to enter himself."
	case c.GrantedTools != nil && s.Tier == Pin:
		return "It needs a PIN, and nobody is there to type it."
	default:
		return ""
	}
}

// hasMask reports whether an argument or its name contains policy.Mask, which replaces a secret.
func hasMask(args json.RawMessage) bool {
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return policy.HasMask(string(args))
	}
	return containsMask(v)
}

func containsMask(v any) bool {
	switch v := v.(type) {
	case string:
		return policy.HasMask(v)
	case []any:
		return slices.ContainsFunc(v, containsMask)
	case map[string]any:
		for name, value := range v {
			if policy.HasMask(name) || containsMask(value) {
				return true
			}
		}
	}
	return false
}

// notAllowed is the text for every call of a tool that the caller does not have. It does not say whether the tool exists.
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

// refuseUnknown refuses a call of a tool that the caller does not have, and names those that it has.
func (r *Registry) refuseUnknown(ctx context.Context, c Caller) (Result, error) {
	offered, err := r.Offered(ctx, c)
	if err != nil {
		return Result{}, err
	}
	if len(offered) == 0 {
		return Refused(CodeNotAllowed, notAllowed), nil
	}
	names := make([]string, len(offered))
	for i, s := range offered {
		names[i] = s.Name
	}
	return Refused(CodeNotAllowed, notAllowed+" You have: "+strings.Join(names, ", ")+"."), nil
}

// Do asks the policy about a call and makes the call if it may. approved is true if the owner approved this call; see also Call.PINEntered.
func (r *Registry) Do(ctx context.Context, c Call, approved bool) (Result, error) {
	t, ok := r.get(c)
	if !ok {
		return r.refuseUnknown(ctx, c.Caller)
	}
	_, v, err := r.Judge(ctx, c)
	switch {
	case err != nil:
		return Result{}, err
	case (v.Ask || v.Pin) && !approved:
		return Refused(CodeApproval, v.Why), nil
	case v.Pin && !c.PINEntered:
		return Refused(CodeApproval, v.Why), nil
	case !v.Allow && !v.Ask && !v.Pin:
		return Refused(CodeRefused, v.Why), nil
	}
	result, err := run(ctx, t, c)
	if err != nil {
		return Result{}, fmt.Errorf("tool %s: %w", c.Name, err)
	}
	result.ForLLM = Clip(result.ForLLM, maxForLLM)
	result.ForUser = Clip(result.ForUser, maxForUser)
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
			if t.Spec().HasEffect {
				res = UnknownOutcome(c.Name, res.ForLLM)
			}
		}
	}()
	res, err = t.Run(working, c)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(working), errCallTimeout) {
		if t.Spec().HasEffect {
			return UnknownOutcome(c.Name, "It took longer than a minute, so nobody waited any more."), nil
		}
		return Result{ForLLM: "It took longer than a minute, so it was stopped.", IsError: true, Code: CodeTimeout, Retriable: true}, nil
	}
	return res, err
}
