package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
)

func TestSessions_NeedAgentsTurn(t *testing.T) {
	t.Parallel()
	for _, tool := range []tools.Tool{tools.SessionsList{}, tools.SessionsHistory{}, tools.SessionsSend{}} {
		r := tools.NewRegistry(tools.TierPolicy{}, tool)
		require.Equal(t, tools.CodeRefused, do(t, r, tools.Call{Name: tool.Spec().Name, Caller: tools.Caller{Owner: true}}, false).Code,
			tool.Spec().Name)
		require.Equal(t, tools.CodeNotAllowed, do(t, r, tools.Call{Name: tool.Spec().Name}, false).Code, "never for a contact")
		require.Contains(t, tools.AgentTools(), tool.Spec().Name)
	}
}
