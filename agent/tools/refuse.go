package tools

import "context"

// Refuser is a Tool with calls that are never made, whatever the policy says and whoever approves them.
type Refuser interface {
	Tool
	// Refusal returns why a call is never made, or an empty text. If the call has no arguments, the answer is about every call of the tool.
	Refusal(c Call) string
}

// ApprovalBinder is a Tool whose approvals are bound not only to the arguments of a call, but also to the files that the call runs.
type ApprovalBinder interface {
	Tool
	// Binding returns a hash of everything that the call depends on. The call is only made if the hash is the same as when
	// the owner was asked.
	Binding(ctx context.Context, c Call) (string, error)
}

// refusalFor returns why a call is never made, or an empty text.
func refusalFor(t Tool, c Call) string {
	if t, ok := t.(Refuser); ok {
		return t.Refusal(c)
	}
	return ""
}

// refusalOfArguments returns why a call is never made whose arguments Decode cannot read; empty without an error. The
// owner is not asked about such a call.
func refusalOfArguments(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// Binding returns what an approval of a call is bound to, in addition to its arguments (see ApprovalBinder). It is empty for most tools.
func (r *Registry) Binding(ctx context.Context, c Call) (string, error) {
	t, ok := r.get(c)
	if !ok {
		return "", nil
	}
	if t, ok := t.(ApprovalBinder); ok {
		return t.Binding(ctx, c)
	}
	return "", nil
}
