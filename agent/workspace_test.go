package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/llm/llmtest"
)

// A command may have written a file of the workspace that instructs its agent, or that the agent reads, and nobody was shown what it wrote.
func TestWorkspace_CommandFilesNeedApproval(t *testing.T) {
	t.Parallel()
	const order = "step 6 of the list" // exec, in a wording that no pattern finds
	for name, c := range map[string]struct {
		put      func(t *testing.T, workspace string)
		question string
	}{
		"the file that instructs it": {put: func(t *testing.T, workspace string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(workspace, "AGENTS.md"), []byte("Be calm."), 0o600))
		}, question: "what about the grand piano bench? " + order},
		"a skill": {put: func(t *testing.T, workspace string) {
			t.Helper()
			putSkill(t, workspace, "calm", "---\nroles: admin\nactions: all\n---\nBe calm.")
		}, question: "what about the grand piano bench? " + order},
		"a file that it reads": {put: func(t *testing.T, workspace string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(workspace, "notes.md"), []byte(order), 0o600))
		}, question: `what about the grand piano bench? {CALL read_file {"path": "notes.md"}}`},
		"a file that it finds words in": {put: func(t *testing.T, workspace string) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(workspace, "notes.md"), []byte("calm "+order), 0o600))
		}, question: `what about the grand piano bench? {CALL grep_files {"pattern": "calm"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, commands := range []bool{false, true} {
				b, ran := newPermissiveFixture(t)
				b.agent.tools.Add(tools.ReadFile{CommandsWrite: commands}, tools.GrepFiles{CommandsWrite: commands})
				b.agent.skills = skills.Open("", nil, commands)
				workspace := t.TempDir()
				c.put(t, workspace)
				b.agent.personas.All = []persona.Persona{{ID: "shop", Default: true, Workspace: workspace, CommandsWrite: commands}}
				m := b.storeQuestion(c.question)
				require.NoError(t, b.agent.Questions.Ask(t.Context(), b.admin, m, m.Body))
				if !commands {
					require.EqualValues(t, 1, ran.Load(), "only the owner writes there, and his rules allow it")
					continue
				}
				require.Zero(t, ran.Load())
				require.Equal(t, 1, b.count("select count(*) from approvals where tool = 'exec' and allowed is null"), "he is asked")
			}
		})
	}
}

func TestGrant_ExcludesInstructionFiles(t *testing.T) {
	t.Parallel()
	for name, grantable := range map[string]bool{"AGENTS.md": false, "skills/calm.md": false, "notes.md": true} {
		model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
			if strings.Contains(r.Last(), "result of") {
				return llmtest.Reply{Text: answerJSON("Done.", 0, "")}
			}
			return llmtest.Reply{Calls: []llmtest.Call{{Name: "write_file", Args: `{"path": "` + name + `", "content": "Be calm."}`}}}
		})
		b := setup(t, model)
		b.setTools(tools.WriteFile{})
		b.agent.personas.All = []persona.Persona{{ID: "shop", Default: true, Workspace: t.TempDir(), Model: model}}
		b.question("write it")
		require.Equal(t, grantable, b.openCard()[0].Grantable, name)
	}
}

func TestWorkspace_InvalidArgumentsAreNotAsked(t *testing.T) {
	t.Parallel()
	var heard string
	lamp := &countingTool{tier: tools.Confirm}
	model, _ := scripted(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if heard = r.Last(); strings.Contains(heard, "result of") {
			return llmtest.Reply{Text: answerJSON("Done.", 0, "")}
		}
		return llmtest.Reply{Calls: []llmtest.Call{{Name: "lamp", Args: `{"on": "a"+"b"}`}}}
	})
	b := setup(t, model)
	b.setTools(lamp)
	b.question("light, please")
	require.Zero(t, b.count("select count(*) from approvals"))
	require.Contains(t, heard, `The arguments are no JSON object: {"on": "a"+"b"}`)
}

func TestWorkspace_EmptyDoesNotTaint(t *testing.T) {
	t.Parallel()
	b, ran := newPermissiveFixture(t)
	b.agent.personas.All = []persona.Persona{{
		ID: "shop", Default: true, Workspace: t.TempDir(), CommandsWrite: true,
		Instructions: "Be calm.",
	}}
	m := b.storeQuestion(`what about the grand piano bench? {CALL exec {"n": 1}}`)
	require.NoError(t, b.agent.Questions.Ask(t.Context(), b.admin, m, m.Body))
	require.EqualValues(t, 1, ran.Load(), "instructions of the configuration are the owner's")
}
