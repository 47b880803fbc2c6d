package agent

import (
	"slices"
	"strings"

	"multis/agent/persona"
	"multis/store"
	"multis/tools"
)

// colleagues returns the agents that the persona may give work to. An agent that works for another one has none.
func (r *attempt) colleagues() []persona.Persona {
	if r.run.Task.ParentID != nil || !r.run.Caller.Owner {
		return nil
	}
	var list []persona.Persona
	for _, p := range r.agent.Personas.All {
		if p.ID != r.persona.ID && (slices.Contains(r.persona.Delegates, p.ID) || slices.Contains(r.persona.Delegates, "*")) {
			list = append(list, p)
		}
	}
	return list
}

// denyUnusableTools denies the tools for working with other agents if there are none, and handing off a task that is no question.
func (r *attempt) denyUnusableTools(task store.Task) {
	none := len(r.colleagues()) == 0
	if none {
		r.run.Caller.Deny = append(slices.Clone(r.run.Caller.Deny), tools.DelegateName, tools.SessionsListName, tools.SessionsHistoryName, tools.SessionsSendName)
	}
	if none || task.Kind != store.TaskAsk {
		r.run.Caller.Deny = append(slices.Clone(r.run.Caller.Deny), tools.HandoffName)
	}
}

// colleaguesText lists the colleagues for a model.
func (r *attempt) colleaguesText() string {
	var names []string
	for _, p := range r.colleagues() {
		name := p.ID
		if len(p.Can) > 0 {
			name += " (" + strings.Join(p.Can, ", ") + ")"
		}
		names = append(names, name)
	}
	return " There are: " + strings.Join(names, "; ") + "."
}

// toolNotes tells a model, in the descriptions of tools, which agents it may name.
func (r *attempt) toolNotes() map[string]string {
	text := r.colleaguesText()
	return map[string]string{tools.DelegateName: text, tools.HandoffName: text}
}

// colleague returns the colleague with a name, or the first with a capability.
func (r *attempt) colleague(called string) (persona.Persona, bool) {
	all := r.colleagues()
	i := slices.IndexFunc(all, func(p persona.Persona) bool { return p.IsCalled(called) })
	if i < 0 {
		i = slices.IndexFunc(all, func(p persona.Persona) bool { return slices.Contains(p.Can, strings.ToLower(called)) })
	}
	if i < 0 {
		return persona.Persona{}, false
	}
	return all[i], true
}
