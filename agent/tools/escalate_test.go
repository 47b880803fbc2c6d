package tools_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
)

func TestEscalate_EndsTurnWithReason(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, tools.Escalate{})
	call := func(reason string, owner bool) tools.Result {
		raw, err := json.Marshal(map[string]string{"reason": reason})
		require.NoError(t, err)
		return do(t, r, tools.Call{Name: "escalate", Args: raw, Caller: tools.Caller{Owner: owner}}, false)
	}
	require.Equal(t, "Ana wants a refund.", call("Ana wants\n a refund.", false).EndReason)
	require.Equal(t, "The model asked for a person.", call(" ", false).EndReason)
	require.Contains(t, call(strings.Repeat("x", 1000), false).EndReason, "[cut here: 300 of 1000 bytes]")
	require.Empty(t, call("Ana wants a refund.", false).Code)
	danger := do(t, r, tools.Call{Name: "escalate", Args: json.RawMessage(`{"reason": "She smells gas.", "danger": true}`)}, false)
	require.Equal(t, tools.CodeDanger, danger.Code)
	require.False(t, danger.IsError)
	require.Equal(t, tools.CodeNotAllowed, call("x", true).Code, "the owner is the person to escalate to")
}
