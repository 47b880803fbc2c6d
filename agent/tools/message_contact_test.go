package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
)

func TestMessageContact_NeedsAgentsTurn(t *testing.T) {
	t.Parallel()
	tool := tools.MessageContact{}
	r := tools.NewRegistry(tools.TierPolicy{}, tool)
	call := tools.Call{Name: tool.Spec().Name, Caller: tools.Caller{Owner: true}}
	require.Equal(t, tools.CodeRefused, do(t, r, call, false).Code)
	call.Owner = false
	require.Equal(t, tools.CodeNotAllowed, do(t, r, call, false).Code, "never for a contact")
}
