package agent

import (
	"context"
	"slices"
	"strings"

	"multis/skills"
	"multis/tools"
)

// learn finds the skills for an answer, as their files are now, and keeps the caller within them: they take tools away, never add any.
func (r *run) learn(ctx context.Context) error {
	if r.Skills == nil {
		return nil
	}
	offered, err := r.Tools.Offered(ctx, r.caller)
	if err != nil {
		return err
	}
	has := func(tool string) bool {
		return slices.ContainsFunc(offered, func(s tools.Spec) bool { return s.Name == tool })
	}
	r.skills = r.Skills.Of(r.persona.Workspace, r.persona.Skills, r.caller.Owner, has)
	for _, s := range r.skills {
		r.caller.Domains = append(r.caller.Domains, s.URLs...)
		if s.Limited {
			r.caller.Within = append(r.caller.Within, s.Actions)
		}
		if s.Forgetful {
			r.forgetful = true
			r.caller.Deny = append(slices.Clone(r.caller.Deny), "recall_memory")
		}
	}
	return nil
}

// manner is how the one who answers works and speaks.
func (r *run) manner() string {
	own := r.persona.prompt(!r.caller.Owner)
	if r.task.ParentID != nil {
		own = r.persona.promptFrom(nil, childFiles)
	}
	parts := []string{skills.Text(r.skills), own}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}
