package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/policy/rules"
)

func TestArguments_InvalidAreNotAskedAbout(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, tools.FetchURL{}, tools.Remember{}, tools.Schedule{}, tools.WriteFile{}, tools.EditFile{},
		tools.Exec{}, tools.StreamCommand{})
	caller := tools.Caller{Owner: true, Surface: rules.SurfaceOwner, Workspace: t.TempDir(), Typed: true}
	for _, s := range r.All() {
		for _, args := range []string{`{"no_such_argument": 1}`, `{"url": "https://"+"a.example"}`, `[]`, `"x"`, `{} {}`, `{`} {
			_, v, err := r.Judge(t.Context(), tools.Call{ID: "1", Name: s.Name, Args: []byte(args), Caller: caller})
			require.NoError(t, err)
			require.False(t, v.Ask || v.Pin || v.Allow, "%s %s", s.Name, args)
			require.Contains(t, v.Why, "the arguments", "%s %s", s.Name, args)
		}
		_, v, err := r.Judge(t.Context(), tools.Call{Name: s.Name, AnyCall: true, Caller: caller})
		require.NoError(t, err)
		require.True(t, v.Ask || v.Pin || v.Allow, "%s is offered", s.Name)
	}
}
