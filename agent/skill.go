package agent

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/rs/zerolog"

	"multis/agent/skills"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/outbox"
	"multis/store"
)

// loadSkills reads the skills of the attempt, and limits the caller's tools to those that they allow. A skill never adds a tool.
func (r *attempt) loadSkills(ctx context.Context) error {
	if r.core.skills == nil {
		return nil
	}
	offered, err := r.core.tools.Offered(ctx, r.run.Caller)
	if err != nil {
		return err
	}
	has := func(tool string) bool {
		return slices.ContainsFunc(offered, func(s tools.Spec) bool { return s.Name == tool })
	}
	r.skills = r.core.skills.ForAnswer(r.persona.Workspace, r.persona.Skills, r.run.Caller.Owner, has)
	r.core.notifySkillProblems(ctx, r.skills)
	caller := &r.run.Caller
	for _, s := range r.skills {
		caller.Domains = append(caller.Domains, s.URLs...)
		if s.Limited {
			caller.AllowLists = append(caller.AllowLists, s.Actions)
		}
		if s.NoEscalation {
			caller.Deny = append(slices.Clone(caller.Deny), "escalate")
		}
		if s.NoMemory {
			r.omitNotes = true
			if caller.Owner {
				r.area = documentsArea()
				caller.Scope = r.area.wide
			}
			caller.Deny = append(slices.Clone(caller.Deny), "recall_memory")
		}
	}
	return nil
}

// instructions returns the skills and the persona's own instructions for the prompt. If a command may have written a part
// of them into the workspace, that part may repeat words of others, and the turn is tainted.
func (r *attempt) instructions() string {
	read := r.persona.OwnerPrompt
	switch {
	case r.run.Task.ParentID != nil:
		read = r.persona.WorkerPrompt
	case !r.run.Caller.Owner:
		read = r.persona.ContactPrompt
	}
	own, foreign := read()
	inWorkspace := func(s skills.Skill) bool { return s.From == skills.FromAgent }
	if foreign || r.persona.CommandsWrite && slices.ContainsFunc(r.skills, inWorkspace) {
		r.run.Caller.Tainted = true
	}
	return joinParagraphs(skills.PromptText(r.skills), own)
}

// CheckSkills notifies the owner of the problems in the skill files of all agents, each once.
func (c *core) CheckSkills(ctx context.Context) {
	if c.skills == nil {
		return
	}
	c.notifySkillProblems(ctx, c.skills.All(""))
	for _, p := range c.personas.All {
		if p.Workspace != "" {
			c.notifySkillProblems(ctx, c.skills.All(p.Workspace))
		}
	}
}

// notifySkillProblems notifies the owner of the problems of skills, each once. If that fails, the next answer tries again.
func (c *core) notifySkillProblems(ctx context.Context, list []skills.Skill) {
	for _, s := range list {
		problems := s.Warnings
		if s.Problem != "" {
			problems = []string{"it is not used: " + s.Problem}
		}
		for _, problem := range problems {
			text := fmt.Sprintf("⚠️ **The skill %s**: %s. `/skills` lists them.", text.Escape(s.Name), text.Escape(problem))
			err := c.store.InTx(context.WithoutCancel(ctx), func(tx store.Tx) error {
				first, err := store.ClaimNotification(ctx, tx, store.SettingSkillNotified+store.Setting(fmt.Sprintf("%08x", hash32(text))))
				if err != nil {
					return err
				}
				if !first {
					return nil
				}
				return c.notify(ctx, tx, outbox.Quiet, text, nil, nil)
			})
			if err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Str("skill", s.Name).Msg("Cannot tell what is wrong with a skill")
			}
		}
	}
}

func hash32(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum32()
}
