package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy/rules"
	"multis/safety/sandbox"
)

// The default rules name the same programs as the classes: what they deny never runs, what they allow only reads, and
// what they ask about changes something. The class of four programs is stricter than the rule, and of dd milder: it also
// copies files of a workspace.
func TestDefaultRules_AgreeWithClasses(t *testing.T) {
	t.Parallel()
	all, err := rules.Parse(rules.DefaultFile, rules.DefaultText())
	require.NoError(t, err)
	different := map[string]sandbox.Class{
		"dd":       sandbox.Destructive,
		"git diff": sandbox.Destructive,
		"kill":     sandbox.Catastrophic,
		"killall":  sandbox.Catastrophic,
		"pkill":    sandbox.Catastrophic,
	}
	compared := 0
	for _, rule := range all {
		for _, words := range rule.Argv {
			command := strings.TrimSuffix(strings.Join(words, " "), " **")
			want := map[rules.Decision]sandbox.Class{
				rules.Allow:   sandbox.Harmless,
				rules.Confirm: sandbox.Destructive,
				rules.Pin:     sandbox.Destructive,
				rules.Deny:    sandbox.Catastrophic,
			}[rule.Decision]
			if class, ok := different[command]; ok {
				want = class
			}
			compared++
			t.Run(command, func(t *testing.T) {
				t.Parallel()
				require.Equal(t, want, sandbox.Classify(strings.Fields(strings.ReplaceAll(command, "*", "ext4"))).Class, rule.Decision)
			})
		}
	}
	require.Greater(t, compared, 50)
}
