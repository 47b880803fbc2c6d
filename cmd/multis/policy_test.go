package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/config"
	"multis/policy/rules"
	"multis/store"
)

// allTools are all tools that a registry can have: multis' own, and those of MCP servers in each tier.
func allTools() []tools.Spec {
	all := tools.NewRegistry(nil, possibleTools()...).All()
	for _, tier := range []tools.Tier{tools.Read, tools.Confirm, tools.Pin} {
		class := rules.ClassOutward
		if tier == tools.Read {
			class = rules.ClassRead
		}
		all = append(all, tools.Spec{Name: "server__" + string(tier), Tier: tier, Class: class, External: true})
	}
	return all
}

func defaultPolicy(t *testing.T, own ...rules.Rule) *tools.RulePolicy {
	t.Helper()
	set, err := rules.New(own, rules.Vocabulary{})
	require.NoError(t, err)
	return tools.NewRulePolicy(set, time.UTC, nil)
}

func TestTools_HavePolicyClass(t *testing.T) {
	t.Parallel()
	for _, s := range allTools() {
		require.True(t, s.Class.Valid(), "%s has no policy class: set Class in its Spec", s.Name)
	}
}

func TestDefaultRules_MatchTiers(t *testing.T) {
	t.Parallel()
	p := defaultPolicy(t)
	for _, s := range allTools() {
		for _, surface := range []rules.Surface{
			rules.SurfaceOwner, rules.SurfaceSchedule, rules.SurfaceHeartbeat, rules.SurfaceDelegate,
			rules.SurfaceCLI, rules.SurfaceContact,
		} {
			for _, tier := range []tools.Tier{tools.Read, tools.Confirm, tools.Pin} {
				s.Tier = tier
				c := tools.Call{ID: "1", Caller: tools.Caller{Owner: surface != rules.SurfaceContact, Surface: surface}}
				want, err := tools.TierPolicy{}.Judge(t.Context(), s, c)
				require.NoError(t, err)
				got, err := p.Judge(t.Context(), s, c)
				require.NoError(t, err)
				want.Why = ""
				got.Why = ""
				got.Note = "" // the default rules have reasons for some classes; tiers have none
				if !c.Owner {
					// a contact's turn is tainted; his floor has no such tool
					want, got = tools.Verdict{Allow: want.Allow}, tools.Verdict{Allow: got.Allow || got.Ask && tier == tools.Read}
				}
				if s.Class == rules.ClassExec { // a command is judged by the lists as well, and never milder than by its tier
					require.False(t, got.Allow && !want.Allow || got.Ask && !want.Ask, "%s %s %s", s.Name, surface, tier)
					continue
				}
				require.Equal(t, want, got, "%s %s %s", s.Name, surface, tier)
			}
		}
	}
}

func TestPolicy_DecidesEverySurfaceAndTool(t *testing.T) {
	t.Parallel()
	set := defaultPolicy(t).Rules()
	var b strings.Builder
	for _, s := range allTools() {
		for _, surface := range rules.Surfaces() {
			for _, tier := range rules.Tiers() {
				for _, tainted := range []bool{false, true} {
					v := set.Decide(rules.Request{
						Surface: surface,
						Tool:    s.Name,
						Class:   s.Class,
						Tier:    tier,
						Tainted: tainted,
					})
					require.NotNil(t, v.Rule, "%s %s %s", s.Name, surface, tier)
					fmt.Fprintf(&b, "%-18s %-9s %-8s tainted=%-5t %s\n", s.Name, surface, tier, tainted, v.Decision)
				}
			}
		}
	}
	golden := filepath.Join("testdata", "policy_table.txt")
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "write it anew with UPDATE=1 and read what changed")
}

// probeTool is a tool whose calls are counted.
type probeTool struct {
	spec  tools.Spec
	about rules.Resource
	never string // why no call is ever made; empty for none
	runs  *int
}

func (p probeTool) Spec() tools.Spec                     { return p.spec }
func (p probeTool) ResourceOf(tools.Call) rules.Resource { return p.about }
func (p probeTool) Refusal(tools.Call) string            { return p.never }
func (p probeTool) Run(context.Context, tools.Call) (tools.Result, error) {
	*p.runs++
	return tools.Result{ForLLM: "done"}, nil
}

func TestExplain_MatchesDecision(t *testing.T) {
	t.Parallel()
	own, err := rules.Parse("own.yaml", []byte(`rules:
  - {agent: sales, class: outward, decision: deny}
  - {path: /srv/**, decision: allow, limit: 40/d}
  - {domain: example.com, decision: confirm}
  - {hours: 22-7, class: [memory, schedule], decision: deny}
  - {surface: schedule, tier: confirm, decision: deny}
  - {argv: claude **, decision: pin}
  - {tool: probe_free, decision: allow}`))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(7, 9))
	set, err := rules.New(own, rules.Vocabulary{})
	require.NoError(t, err)
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	policy := tools.NewRulePolicy(set, time.UTC, func() time.Time { return now })
	seen := map[rules.Decision]int{}
	for n := range 1000 {
		now = now.Add(time.Duration(r.IntN(7200)) * time.Second)
		runs := 0
		probe := probeTool{runs: &runs, spec: tools.Spec{
			Name: []string{"probe", "probe_free"}[r.IntN(2)], Class: rules.Classes()[r.IntN(len(rules.Classes()))],
			Tier:   []tools.Tier{tools.Read, tools.Confirm, tools.Pin}[r.IntN(3)],
			Schema: json.RawMessage(`{}`),
		}}
		switch r.IntN(3) {
		case 0:
			probe.about.Paths = []string{"/srv/a", "/etc/b"}[r.IntN(2):]
		case 1:
			probe.about.Domains = []string{"www.example.com:443"}
		default:
			probe.about.Argv = [][]string{{"git", "status"}, {"git", "push"}, {"rm", "x"}, {"sudo", "id"}, {"claude", "-p"}}[r.IntN(5)]
		}
		if r.IntN(10) == 0 {
			probe.never = "This is never done."
		}
		registry := tools.NewRegistry(policy, probe)
		surface := rules.Surfaces()[r.IntN(len(rules.Surfaces()))]
		call := tools.Call{ID: fmt.Sprint(n), Name: probe.spec.Name, Caller: tools.Caller{
			Owner: surface != rules.SurfaceContact, Surface: surface, Tainted: r.IntN(2) == 0, Agent: []string{"", "sales"}[r.IntN(2)],
			Task: store.TaskID(n), ReadOnly: r.IntN(5) == 0,
		}}
		said, err := registry.Explain(call)
		require.NoError(t, err)
		got, err := registry.Do(t.Context(), call, false)
		require.NoError(t, err)
		want := map[rules.Decision]tools.Code{
			rules.Allow: "", rules.Confirm: tools.CodeApproval, rules.Pin: tools.CodeApproval,
			rules.Deny: tools.CodeRefused,
		}[said.Verdict.Decision]
		if said.Forbidden != "" && !call.Owner {
			want = tools.CodeNotAllowed
		}
		require.Equal(t, want, got.Code, "%+v", said)
		require.Equal(t, said.Verdict.Decision == rules.Allow, runs == 1)
		seen[said.Verdict.Decision]++
	}
	require.Len(t, seen, 4, "all decisions were among them: %v", seen)
}

func TestTools_CanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{TimeZone: time.UTC, Tools: config.Tools{Deny: []string{"fetch_*"}}}
	set, err := newRules(cfg)
	require.NoError(t, err)
	r := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), (&assistant{}).ownTools()...)
	offered, err := r.Offered(t.Context(), tools.Caller{Owner: true, Surface: rules.SurfaceOwner})
	require.NoError(t, err)
	for _, s := range offered {
		require.NotEqual(t, "fetch_url", s.Name)
	}
	require.NotEmpty(t, offered)
	said, err := policyView{cfg: cfg, registry: r}.Explain(store.Chat{}, "multis", "fetch_url", `{"url": "https://example.com"}`)
	require.NoError(t, err)
	require.Contains(t, said, "deny: tools.deny:1 for example.com:443")
	_, err = policyView{cfg: cfg, registry: r}.Explain(store.Chat{}, "nobody", "fetch_url", "")
	require.ErrorContains(t, err, "there is no agent nobody")
}

func TestExplain_NamesEnablingSetting(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{TimeZone: time.UTC}
	set, err := newRules(cfg)
	require.NoError(t, err)
	for _, r := range []*tools.Registry{ // in the program and on the command line
		tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), (&assistant{}).ownTools()...),
		tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), possibleTools()...),
	} {
		for tool, setting := range map[string]string{
			"exec": "exec.enabled: true", "stream_command": "exec.enabled: true", "tail_output": "exec.enabled: true", "kill": "exec.enabled: true",
			"read":       "exec.enabled: true",
			"write_file": "exec.write_files: true", "edit_file": "exec.write_files: true",
		} {
			for _, args := range []string{"", `{"command": "ls"}`} {
				said, err := policyView{cfg: cfg, registry: r}.Explain(store.Chat{}, "multis", tool, args)
				require.NoError(t, err)
				require.True(t, strings.HasPrefix(said, "deny: ") && strings.Contains(said, setting), said)
			}
		}
		said, err := policyView{cfg: cfg, registry: r}.Explain(store.Chat{}, "multis", "nothing", "")
		require.NoError(t, err)
		require.Contains(t, said, "there is no such tool")
	}
	on := &config.Config{TimeZone: time.UTC}
	on.Exec.Enabled = true
	said, err := policyView{cfg: on, registry: tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil),
		(&assistant{}).ownTools()...)}.Explain(store.Chat{}, "multis", "exec", "")
	require.NoError(t, err)
	require.Contains(t, said, "multis doctor says why", "the sandbox does not hold")
	said, err = policyView{on, tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), possibleTools()...), true}.Explain(store.Chat{},
		"multis", "search_docs", "")
	require.NoError(t, err)
	require.Contains(t, said, "deny: multis is in safe mode", "which turns commands off as well")
}

func TestExplain_ReasonFitsTool(t *testing.T) {
	t.Parallel()
	set, err := newRules(&config.Config{TimeZone: time.UTC})
	require.NoError(t, err)
	r := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), possibleTools()...)
	cfg := &config.Config{TimeZone: time.UTC}
	workspace := t.TempDir()
	cfg.Exec.Enabled, cfg.Exec.WriteFiles = true, true
	for call, want := range map[string]string{
		`search_docs `: "allow", `exec {"command": "ls"}`: "You are asked before each command.",
		`exec {"command": "mv a b"}`: "This command is not known as one that only reads.",
		`exec {"command": "rm a"}`:   "It cannot be undone.", `exec {"command": "sudo ls"}`: "sudo gets rights, changes the machine or stops it",
		`read `: "It shows a file of this machine", `read {"path": "a"}`: "its path is not absolute", `kill `: "allow",
		`read {"path": "/srv/a"}`:                  "It shows a file of this machine, so you are asked for the PIN.",
		`fetch_url {"url": "https://example.com"}`: "It carries data out, so you are asked.",
		`write_file {"path": "a", "content": "b"}`: "It changes something, so you are asked.",
		`remember {"note": "the blue house"}`:      "It changes something, so you are asked.",
	} {
		tool, args, _ := strings.Cut(call, " ")
		caller := tools.Caller{Owner: true, Surface: rules.SurfaceOwner, Workspace: workspace}
		said, err := policyView{cfg: cfg, registry: r}.explain(tool, args, caller)
		require.NoError(t, err)
		decision, _, _ := strings.Cut(said, "\n")
		require.Contains(t, decision, strings.TrimSuffix(want, "."), call)
	}
	_, err = policyView{cfg: cfg, registry: r}.explain("exec", "", tools.Caller{Owner: true, Surface: rules.SurfaceOwner})
	require.ErrorContains(t, err, "depends on the command", "what rm needs is not what ls needs")
}

func TestRules_MatchConfiguredAgents(t *testing.T) {
	t.Parallel()
	cfg := &config.Config{TimeZone: time.UTC, Agents: map[string]config.Agent{"sales": {Capabilities: []string{"prices"}}, "ops": {}}}
	var err error
	cfg.Policy.Rules, err = rules.Parse("config.yaml", []byte("rules:\n  - {can: prices, tool: fetch_url, decision: deny}"))
	require.NoError(t, err)
	set, err := newRules(cfg)
	require.NoError(t, err)
	r := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), (&assistant{}).ownTools()...)
	for agent, want := range map[string]string{"sales": "deny: config.yaml:2", "ops": "confirm", "multis": "confirm"} {
		said, err := policyView{cfg: cfg, registry: r}.Explain(store.Chat{}, agent, "fetch_url", `{"url": "https://example.com"}`)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(said, want), said)
	}
}
