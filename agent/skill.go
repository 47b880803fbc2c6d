package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/outbox"
	"multis/skills"
	"multis/store"
	"multis/text"
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
	r.tellOfSkills(ctx, r.skills)
	for _, s := range r.skills {
		r.caller.Domains = append(r.caller.Domains, s.URLs...)
		if s.Limited {
			r.caller.Within = append(r.caller.Within, s.Actions)
		}
		if s.NoEscalation {
			r.caller.Deny = append(slices.Clone(r.caller.Deny), "escalate")
		}
		if s.Forgetful {
			r.forgetful = true
			r.caller.Deny = append(slices.Clone(r.caller.Deny), "recall_memory")
		}
	}
	return nil
}

// CheckSkills tells the admin room what is wrong with the files of skills, of all agents, each thing once.
func (a *Agent) CheckSkills(ctx context.Context) {
	if a.Skills == nil {
		return
	}
	a.tellOfSkills(ctx, a.Skills.All(""))
	for _, p := range a.Personas {
		if p.Workspace != "" {
			a.tellOfSkills(ctx, a.Skills.All(p.Workspace))
		}
	}
}

// tellOfSkills tells the admin room what is wrong with skills, each thing once. What fails is told the next time.
func (a *Agent) tellOfSkills(ctx context.Context, list []skills.Skill) {
	for _, s := range list {
		wrong := s.Warnings
		if s.Problem != "" {
			wrong = []string{"it is not used: " + s.Problem}
		}
		for _, w := range wrong {
			text := fmt.Sprintf("⚠️ **The skill %s**: %s. `/skills` lists them.", text.Escape(s.Name), text.Escape(w))
			err := a.Store.InTx(context.WithoutCancel(ctx), func(tx store.Tx) error {
				first, err := store.ClaimSetting(ctx, tx, store.SettingToldSkill+store.Setting(fmt.Sprintf("%08x", hash(text))))
				if err != nil || !first {
					return err
				}
				return a.tell(ctx, tx, outbox.Quiet, text, nil, nil)
			})
			if err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Str("skill", s.Name).Msg("Cannot tell what is wrong with a skill")
			}
		}
	}
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
