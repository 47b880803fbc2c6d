package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
)

// putSkill puts a skill into a persona's workspace.
func putSkill(t *testing.T, workspace, name, text string) {
	t.Helper()
	path := filepath.Join(workspace, "skills", name+".md")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func offeredTools(r llmtest.Request) (names []string) {
	for _, tool := range r.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestSkill_RestrictsTools(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Done.", 1, "Tuning an upright piano costs 90 euro.")))
	b := setup(t, model)
	b.setTools(&countingTool{tier: tools.Read})
	work := t.TempDir()
	b.agent.skills = skills.Open("", nil, false)
	b.agent.personas.All = []persona.Persona{{ID: "shop", Default: true, Workspace: work}}
	last := func() llmtest.Request { all := server.Requests(); return all[len(all)-1] }

	b.ask("what does tuning an upright piano cost?")
	require.Contains(t, last().System, "## admin\nThe owner is asking.")
	require.NotContains(t, last().System, "customer-support")
	require.NotContains(t, last().System, "## shell", "there is no such tool")
	require.Equal(t, []string{"lamp", "search_docs"}, offeredTools(last()))

	b.note(policy.RoleAdmin, b.admin.ID, "The tuner is called Ben.")
	putSkill(t, work, "quiet", "---\nroles: admin\nactions: [search_*]\nmemory_rules: {visible: none}\n---\nTouch nothing.")
	b.ask("what does tuning an upright piano cost?")
	require.Contains(t, last().System, "## quiet\nTouch nothing.", "from the next answer on")
	require.Equal(t, []string{"search_docs"}, offeredTools(last()))
	require.NotContains(t, last().Last(), "Ben")

	b.storeContactMessage("what does tuning an upright piano cost?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, last().System, "## customer-support\nYou answer a customer")
	require.NotContains(t, last().System, "Touch nothing.")
	require.NotContains(t, last().System, "The owner is asking.")
	require.Equal(t, []string{"escalate", "search_docs"}, offeredTools(last()))

	putSkill(t, work, "customer-support", "---\nroles: public\nactions: all\n---\nBe brief.")
	b.agent.personas.All[0].Skills = []string{"customer-support", "gone"}
	b.storeContactMessage("and a grand piano?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, last().System, "## customer-support\nBe brief.")
	require.Contains(t, last().System, "[the skill gone is missing: it is not there]")
	require.Equal(t, []string{"escalate", "search_docs"}, offeredTools(last()), "no skill leads beyond a contact's floor")
}

func TestPersona_UsesOwnModel(t *testing.T) {
	t.Parallel()
	common, commonServer := scripted(t, llmtest.Say(answerJSON("From all.", 1, "Tuning an upright piano costs 90 euro.")))
	own, ownServer := scripted(t, llmtest.Say(answerJSON("From its own.", 1, "Tuning an upright piano costs 90 euro.")))
	b := setup(t, common)
	b.agent.personas.All = []persona.Persona{{ID: "all", Default: true}, {ID: "shop", Model: own}, {ID: "mute", Model: llm.None{}}}
	require.Contains(t, b.ask("what does tuning an upright piano cost?"), "From all.")
	require.Contains(t, b.ask("@shop what does tuning an upright piano cost?"), "From its own.")
	require.Contains(t, b.ask("@mute what does tuning an upright piano cost?"), "I have no model configured")
	require.Len(t, commonServer.Requests(), 1)
	require.Len(t, ownServer.Requests(), 1)
}

func TestSkill_InvalidIsReportedOnce(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, llmtest.Say(answerJSON("Done.", 0, "")))
	b := setup(t, model)
	shared := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(shared, "customer-support.md"), []byte("---\nroles: everybody\n---\nx"), 0o600))
	b.agent.skills = skills.Open(shared, nil, false)
	b.setTools()
	b.agent.CheckSkills(t.Context())
	said := b.queuedTexts(b.admin)
	require.Len(t, said, 1)
	require.Contains(t, said[0], "The skill customer-support")
	require.Contains(t, said[0], "stays in force")
	b.agent.CheckSkills(t.Context())
	b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	b.runTurn()
	require.NotContains(t, strings.Join(b.queuedTexts(b.admin)[1:], " "), "skill", "once")

	require.NoError(t, os.WriteFile(filepath.Join(shared, "customer-support.md"), []byte("---\nroles: public\ncolour: red\n---\nx"), 0o600))
	b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	b.runTurn()
	require.Contains(t, strings.Join(b.queuedTexts(b.admin)[1:], " "), "colour", "what is new is told with the next answer")
}
