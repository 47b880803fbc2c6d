package policy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

func TestCutCommandSign_AllForms(t *testing.T) {
	t.Parallel()
	for typed, command := range map[string]string{
		"/help":       "help",
		"!help":       "help",
		`\/help`:      "help",
		`\!help`:      "help",
		"//help":      "help",
		" /mode a ":   "mode a",
		"/größe":      "größe",
		"/etc/passwd": "etc/passwd",
	} {
		t.Run(typed, func(t *testing.T) {
			got, isCommand := policy.CutCommandSign(typed)
			require.True(t, isCommand)
			require.Equal(t, command, got)
			require.True(t, policy.IsThreadCommand(typed), "it goes to no contact")
		})
	}
	for _, typed := range []string{"", "/", "!", "//", `\`, "/1", "///x", "/ help", "!!", "help", `\help`} {
		t.Run("not "+typed, func(t *testing.T) {
			_, isCommand := policy.CutCommandSign(typed)
			require.False(t, isCommand)
		})
	}
}
