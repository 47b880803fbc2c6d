package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm/llmtest"
)

func TestSmallModel_GetsLittle(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, llmtest.Say(answerJSON("Hello.", 0, "")))
	b := setup(t, model)
	b.setTools(tools.MessageContact{}, tools.Schedule{}, tools.Remember{}, tools.AuditSummary{}, tools.FetchURL{}, tools.SendFile{})
	b.ask("hello")
	b.agent.personas.Limits.Small = true
	b.ask("hello again")
	full, small := server.Requests()[0], server.Requests()[1]
	require.Greater(t, len(full.Tools), len(small.Tools))
	require.LessOrEqual(t, len(small.Tools), 5)
	require.Less(t, len(small.System), len(full.System))
	require.Less(t, len(small.Tools[0].Description), len(full.Tools[0].Description)+1)
	require.Contains(t, small.System, "the owner's assistant", "it is still told who it is")
}
