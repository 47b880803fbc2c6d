package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/policy"
)

// probe is a tool that does what a test wants.
type probe struct {
	spec tools.Spec
	run  func(ctx context.Context, c tools.Call) (tools.Result, error)
}

func (p probe) Spec() tools.Spec { return p.spec }

func (p probe) Run(ctx context.Context, c tools.Call) (tools.Result, error) {
	if p.run == nil {
		return tools.Result{ForLLM: "done"}, nil
	}
	return p.run(ctx, c)
}

func named(name string, tier tools.Tier) probe {
	return probe{spec: tools.Spec{Name: name, Schema: tools.Schema[struct{}](), Tier: tier}}
}

// changingProbe is a probe whose calls change something.
func changingProbe(name string, p probe) probe {
	p.spec.Name, p.spec.HasEffect = name, true
	return p
}

func do(t *testing.T, r *tools.Registry, c tools.Call, approved bool) tools.Result {
	t.Helper()
	res, err := r.Do(context.Background(), c, approved)
	require.NoError(t, err)
	return res
}

func TestRegistry_ContactFloorHolds(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, named("search_docs", tools.Read), named("escalate", tools.Read),
		named("recall_memory", tools.Read),
		named("fetch_url", tools.Read), named("exec", tools.Read), named("remember", tools.Read))
	contact := tools.Caller{Allow: []string{"*"}}
	offered, err := r.Offered(context.Background(), contact)
	require.NoError(t, err)
	require.Equal(t, []string{"escalate", "recall_memory", "search_docs"}, names(offered))
	for _, name := range []string{"fetch_url", "exec", "remember", "nothing_of_the_kind"} {
		res := do(t, r, tools.Call{Name: name, Caller: contact}, true)
		require.Equal(t, tools.CodeNotAllowed, res.Code, name)
		require.Equal(t, "You have no such tool here. Go on without it. You have: escalate, recall_memory, search_docs.", res.ForLLM,
			"the same whether it exists or not")
	}
}

func names(specs []tools.Spec) []string {
	var all []string
	for _, s := range specs {
		all = append(all, s.Name)
	}
	return all
}

func TestRegistry_PatternsSelectTools(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, named("read_file", tools.Read), named("find_files", tools.Read), named("gh_issue", tools.Read),
		named("gh_delete", tools.Read))
	for _, c := range []struct {
		allow, deny, want []string
	}{
		{nil, nil, []string{"find_files", "gh_delete", "gh_issue", "read_file"}},
		{[]string{"gh_*"}, nil, []string{"gh_delete", "gh_issue"}},
		{nil, []string{"gh_*"}, []string{"find_files", "read_file"}},
		{[]string{"gh_*"}, []string{"gh_delete"}, []string{"gh_issue"}},
	} {
		caller := tools.Caller{Owner: true, Allow: c.allow, Deny: c.deny}
		offered, err := r.Offered(context.Background(), caller)
		require.NoError(t, err)
		require.Equal(t, c.want, names(offered))
		for _, s := range r.All() {
			require.Equal(t, !contains(c.want, s.Name), do(t, r, tools.Call{Name: s.Name, Caller: caller}, false).Code == tools.CodeNotAllowed,
				s.Name)
		}
	}
}

func contains(all []string, s string) bool {
	return strings.Contains(" "+strings.Join(all, " ")+" ", " "+s+" ")
}

func TestRegistry_PINIsNeverGranted(t *testing.T) {
	t.Parallel()
	ran := 0
	count := func(context.Context, tools.Call) (tools.Result, error) {
		ran++
		return tools.Result{ForLLM: "done"}, nil
	}
	send, pin := named("send", tools.Confirm), named("erase", tools.Pin)
	send.run, pin.run = count, count
	r := tools.NewRegistry(tools.TierPolicy{}, send, pin)
	owner := tools.Caller{Owner: true}
	require.Equal(t, tools.CodeApproval, do(t, r, tools.Call{Name: "send", Caller: owner}, false).Code)
	require.Equal(t, tools.CodeApproval, do(t, r, tools.Call{Name: "erase", Caller: owner}, true).Code, "an approval is no PIN")
	require.Zero(t, ran)
	require.Equal(t, "done", do(t, r, tools.Call{Name: "send", Caller: owner}, true).ForLLM)
	offered, err := r.Offered(context.Background(), owner)
	require.NoError(t, err)
	require.Equal(t, []string{"erase", "send"}, names(offered))
	require.Equal(t, "done", do(t, r, tools.Call{Name: "erase", PINEntered: true, Caller: owner}, true).ForLLM)
}

func TestRegistry_PanicAndTimeoutAreResults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := named("bad", tools.Read)
		slow := named("slow", tools.Read)
		broken := named("broken", tools.Read)
		bad.run = func(context.Context, tools.Call) (tools.Result, error) { panic("oops") }
		slow.run = func(ctx context.Context, _ tools.Call) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}
		lost := errors.New("the database is gone")
		broken.run = func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, lost }
		r := tools.NewRegistry(tools.TierPolicy{}, bad, slow, broken, changingProbe("bad_change", bad), changingProbe("slow_change", slow))
		owner := tools.Caller{Owner: true}
		require.Equal(t, tools.CodeFailed, do(t, r, tools.Call{Name: "bad", Caller: owner}, false).Code)
		res := do(t, r, tools.Call{Name: "slow", Caller: owner}, false)
		require.Equal(t, tools.CodeTimeout, res.Code)
		require.True(t, res.Retriable)
		for _, name := range []string{"bad_change", "slow_change"} {
			res := do(t, r, tools.Call{Name: name, Caller: owner}, false)
			require.Equal(t, tools.CodeUnknown, res.Code, name)
			require.False(t, res.Retriable, name)
			require.Contains(t, res.ForLLM, "Do not repeat it")
			require.Equal(t, "⚠️ "+name+": whether it was done I don't know", res.ForUser)
		}
		_, err := r.Do(context.Background(), tools.Call{Name: "broken", Caller: owner}, false)
		require.ErrorIs(t, err, lost, "what is broken on our side ends the turn")
	})
}

func TestRegistry_CutResultSaysSo(t *testing.T) {
	t.Parallel()
	long := named("long", tools.Read)
	long.run = func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{ForLLM: strings.Repeat("ä", 50_000)}, nil
	}
	res := do(t, tools.NewRegistry(tools.TierPolicy{}, long), tools.Call{Name: "long", Caller: tools.Caller{Owner: true}}, false)
	require.LessOrEqual(t, len(res.ForLLM), 16_100)
	require.Contains(t, res.ForLLM, "[cut here: 16000 of 100000 bytes]")
}

func TestRegistry_InvalidArgumentsAreExplained(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{`{"reason": 1}`, `{"other": "x"}`, `[]`, `{"reason": "x"} {}`, `{`} {
		res := do(t, tools.NewRegistry(tools.TierPolicy{}, tools.Escalate{}), tools.Call{Name: "escalate", Args: json.RawMessage(raw)}, false)
		require.Equal(t, tools.CodeArguments, res.Code, raw)
		require.Empty(t, res.EndReason)
	}
	res := do(t, tools.NewRegistry(tools.TierPolicy{}, tools.Escalate{}),
		tools.Call{Name: "escalate", Args: json.RawMessage(`{"reason":"a broken parcel"}`)}, false)
	require.Equal(t, "a broken parcel", res.EndReason)
}

func TestSchema_StatesRequired(t *testing.T) {
	t.Parallel()
	type args struct {
		Name  string   `json:"name" jsonschema:"what it is called"`
		Count int      `json:"count,omitempty"`
		Tags  []string `json:"tags,omitempty" jsonschema:"any"`
	}
	require.JSONEq(t, `{"type": "object", "additionalProperties": false, "required": ["name"], "properties": {
		"name": {"type": "string", "description": "what it is called"}, "count": {"type": "integer"},
		"tags": {"type": "array", "items": {"type": "string"}, "description": "any"}}}`, string(tools.Schema[args]()))
}

func TestRegistry_RemovesSource(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, named("gh_issue", tools.Read), named("read", tools.Read))
	r.RemovePrefix("gh_")
	require.Equal(t, []string{"read"}, names(r.All()))
}

func TestRegistry_BoundsOfferedTools(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, named("search_docs", tools.Read), named("zoom", tools.Read))
	for i := range 200 {
		foreign := named(fmt.Sprintf("desk__%03d", i), tools.Read)
		foreign.spec.External = true
		r.Add(foreign)
	}
	offered, err := r.Offered(context.Background(), tools.Caller{Owner: true})
	require.NoError(t, err)
	require.Len(t, offered, tools.MaxOffered)
	require.Equal(t, []string{"search_docs", "zoom", "desk__000"}, names(offered[:3]))
	require.Equal(t, "desk__125", offered[tools.MaxOffered-1].Name)
}

func TestRegistry_ReadOnlyCausesNoEffect(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, tools.Kill{}, tools.Remember{}, tools.SearchDocs{})
	for tool, want := range map[string]bool{"kill": false, "remember": false, "search_docs": true} { // the tier of kill is read, and it has an effect
		for _, readOnly := range []bool{true, false} {
			_, v, err := r.Judge(t.Context(), tools.Call{
				ID:     "1",
				Name:   tool,
				Args:   json.RawMessage(`{}`),
				Caller: tools.Caller{Owner: true, ReadOnly: readOnly, Workspace: "/srv/work"},
			})
			require.NoError(t, err)
			require.Equal(t, want || !readOnly, v.Allow || v.Ask, tool)
		}
	}
}

func TestRegistry_RefusesSecretMark(t *testing.T) {
	t.Parallel()
	r := tools.NewRegistry(tools.TierPolicy{}, tools.Remember{}, tools.SearchDocs{})
	for _, args := range []string{
		`{"text": "the key is [secret]"}`, `{"text": "\u005bsecret]"}`,
		`{"text": "x", "more": [{"a": ["[secret]"]}]}`, `{"[secret]": 1}`,
	} {
		c := tools.Call{ID: "1", Name: "search_docs", Args: json.RawMessage(args), Caller: tools.Caller{Owner: true}}
		_, v, err := r.Judge(t.Context(), c)
		require.NoError(t, err)
		require.False(t, v.Allow || v.Ask || v.Pin, args)
		require.Contains(t, v.Why, "stands where a key or a password was removed")
		result, err := r.Do(t.Context(), c, true)
		require.NoError(t, err)
		require.Equal(t, tools.CodeRefused, result.Code)
	}
	_, v, err := r.Judge(t.Context(), tools.Call{
		ID:     "1",
		Name:   "search_docs",
		Args:   json.RawMessage(`{"query": "secret [1]"}`),
		Caller: tools.Caller{Owner: true},
	})
	require.NoError(t, err)
	require.True(t, v.Allow)
}

func TestRegistry_HookOnlyRestricts(t *testing.T) {
	t.Parallel()
	for decision, want := range map[policy.HookDecision]map[string]string{
		policy.HookAllow: {"read": "allow", "confirm": "ask", "contact": "allow"},
		policy.HookAsk:   {"read": "ask", "confirm": "ask", "contact": "deny"},
		policy.HookDeny:  {"read": "deny", "confirm": "deny", "contact": "deny"},
		"":               {"read": "deny", "confirm": "deny", "contact": "deny"},
	} {
		r := tools.NewRegistry(tools.TierPolicy{}, tools.SearchDocs{}, tools.FetchURL{}, tools.Handoff{})
		r.SetBeforeCall(func(context.Context, tools.Spec, tools.Call) (policy.HookVerdict, error) {
			return policy.HookVerdict{Decision: decision, Why: "The hook says so."}, nil
		})
		for name, c := range map[string]tools.Call{
			"read":    {ID: "1", Name: "search_docs", Args: json.RawMessage(`{}`), Caller: tools.Caller{Owner: true}},
			"confirm": {ID: "1", Name: "fetch_url", Args: json.RawMessage(`{}`), Caller: tools.Caller{Owner: true}},
			"contact": {ID: "1", Name: "search_docs", Args: json.RawMessage(`{}`)},
		} {
			_, v, err := r.Judge(t.Context(), c)
			require.NoError(t, err)
			got := "deny"
			switch {
			case v.Allow:
				got = "allow"
			case v.Ask:
				got = "ask"
			}
			require.Equal(t, want[name], got, "%s says %q", name, decision)
			if decision == policy.HookAsk && v.Ask {
				require.Contains(t, v.Why, "The hook says so.", name)
				require.Equal(t, "The hook says so.", v.Note, name)
				require.True(t, v.HookAsks, name)
			}
		}
		offered, err := r.Offered(t.Context(), tools.Caller{Owner: true})
		require.NoError(t, err)
		require.NotEmpty(t, offered, "no hook is asked about what is offered")
	}
}
