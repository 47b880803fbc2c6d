package agent

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/llm/llmtest"
	"multis/policy"
)

func TestPersona_ContactTurnReadsThreeFiles(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("A grand piano costs 120 euro.", 1, "A grand piano costs 120 euro.")))
	b := setup(t, model)
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	for _, name := range []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md"} {
		write(name, "this is "+name)
	}
	write("SOUL.md", "calm "+strings.Repeat("x", 9000))
	b.agent.personas.All = []persona.Persona{
		{ID: "main", Default: true},
		{ID: "sales", Name: "Sam", Emoji: "👀", Workspace: folder, Networks: []string{"demo"}, Deny: []string{"search_docs"}},
	}
	b.setTools()
	ask := func() llmtest.Request {
		m := b.storeQuestion("@sam what does a grand piano cost?")
		require.NoError(t, b.agent.Questions.Ask(context.Background(), b.admin, m, m.Body))
		return server.Requests()[len(server.Requests())-1]
	}
	owner := ask()
	require.Contains(t, owner.System, "You are Sam,")
	require.Contains(t, owner.System, "this is USER.md")
	require.Contains(t, owner.System, "[SOUL.md is cut here: 8000 of 9005 bytes]")
	require.Contains(t, owner.System, "[not written yet: TOOLS.md]")
	require.NotContains(t, owner.Last(), "@sam")
	require.Empty(t, owner.Tools, "what it may not use it is not offered")
	write("AGENTS.md", "changed since")
	require.Contains(t, ask().System, "changed since")
	var content string
	require.NoError(t, b.store.DB().QueryRow(context.Background(), "select string_agg(content::text, ' ') from outbox where chat_id = $1",
		b.admin.ID).Scan(&content))
	require.Contains(t, content, `"displayname": "Sam"`)
	require.Contains(t, content, "👀")

	b.storeContactMessage("What does a grand piano cost?", policy.ActionAnswer)
	b.runTurn()
	contact := server.Requests()[len(server.Requests())-1]
	require.Contains(t, contact.System, "changed since")
	require.Contains(t, contact.System, "this is IDENTITY.md")
	require.NotContains(t, contact.System, "this is USER.md")
	require.True(t, strings.HasPrefix(b.queuedTexts(b.chat)[0], "[Sam] A grand piano"), b.queuedTexts(b.chat)[0])
}
