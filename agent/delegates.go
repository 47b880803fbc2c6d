package agent

import (
	"slices"
	"strings"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/store"
)

// delegates returns the agents to which the persona may delegate. An agent that works for another one has none.
func (r *attempt) delegates() []persona.Persona {
	if r.run.Task.ParentID != nil || !r.run.Caller.Owner {
		return nil
	}
	var list []persona.Persona
	for _, p := range r.core.personas.All {
		if p.ID != r.persona.ID && (slices.Contains(r.persona.Delegates, p.ID) || slices.Contains(r.persona.Delegates, "*")) {
			list = append(list, p)
		}
	}
	return list
}

// denyUnusableTools denies the tools for working with other agents if there are none, handoff for a task that is not a
// question, and drafts for a task whose reply is not to the owner, as those that a plan's steps have.
func (r *attempt) denyUnusableTools(task store.Task) {
	if task.ParentID != nil || task.Kind == store.TaskPlan {
		r.run.Caller.Deny = append(slices.Clone(r.run.Caller.Deny), tools.MessageContactName)
	}
	none := len(r.delegates()) == 0
	if none {
		r.run.Caller.Deny = append(slices.Clone(r.run.Caller.Deny), tools.DelegateName, tools.SessionsListName, tools.SessionsHistoryName,
			tools.SessionsSendName)
	}
	if none || task.Kind != store.TaskAsk {
		r.run.Caller.Deny = append(slices.Clone(r.run.Caller.Deny), tools.HandoffName)
	}
}

// delegatesText lists the delegates for a model.
func (r *attempt) delegatesText() string {
	var names []string
	for _, p := range r.delegates() {
		name := p.ID
		if len(p.Capabilities) > 0 {
			name += " (" + strings.Join(p.Capabilities, ", ") + ")"
		}
		names = append(names, name)
	}
	return " There are: " + strings.Join(names, "; ") + "."
}

// toolNotes tells a model, in the descriptions of tools, which agents it may name.
func (r *attempt) toolNotes() map[string]string {
	text := r.delegatesText()
	return map[string]string{tools.DelegateName: text, tools.HandoffName: text}
}

// delegateNamed returns the delegate with a name, or the first with a capability.
func (r *attempt) delegateNamed(called string) (persona.Persona, bool) {
	all := r.delegates()
	i := slices.IndexFunc(all, func(p persona.Persona) bool { return p.HasName(called) })
	if i < 0 {
		i = slices.IndexFunc(all, func(p persona.Persona) bool { return slices.Contains(p.Capabilities, strings.ToLower(called)) })
	}
	if i < 0 {
		return persona.Persona{}, false
	}
	return all[i], true
}
