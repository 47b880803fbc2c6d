package tools

// Refuser is a Tool with calls that are never made, whatever the policy says and whoever approves them.
type Refuser interface {
	Tool
	// Refusal returns why a call is never made, or an empty text. Without arguments it is about every call of the tool.
	Refusal(c Call) string
}

// ApprovalBinder is a Tool whose approvals are bound to more than the arguments of a call: to the files that it runs.
type ApprovalBinder interface {
	Tool
	// Binding returns a hash of everything that the call depends on. A call is only made while it is the same as when the owner was asked.
	Binding(c Call) (string, error)
}

// refusalFor returns why a call is never made, or an empty text.
func refusalFor(t Tool, c Call) string {
	if t, ok := t.(Refuser); ok {
		return t.Refusal(c)
	}
	return ""
}

// Binding returns what an approval of a call is bound to beside its arguments; empty for most tools.
func (r *Registry) Binding(c Call) (string, error) {
	t, ok := r.get(c)
	if !ok {
		return "", nil
	}
	if t, ok := t.(ApprovalBinder); ok {
		return t.Binding(c)
	}
	return "", nil
}
