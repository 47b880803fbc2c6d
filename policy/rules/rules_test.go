package rules_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy/rules"
)

// parseRules returns the default rules after own ones, which are written as the items of a list.
func parseRules(t testing.TB, own ...string) *rules.Set {
	t.Helper()
	s, err := rules.New(parse(t, own...), rules.Vocabulary{Home: "/home/anna"})
	require.NoError(t, err)
	return s
}

func parse(t testing.TB, own ...string) []rules.Rule {
	t.Helper()
	all, err := rules.Parse("own.yaml", []byte("rules: ["+strings.Join(own, ",\n")+"]"))
	require.NoError(t, err)
	return all
}

func owner(tool string, class rules.Class, tier rules.Tier) rules.Request {
	return rules.Request{
		Surface: rules.SurfaceOwner,
		Tool:    tool,
		Class:   class,
		Tier:    tier,
		Hour:    12,
	}
}

func TestAllow_FolderNeedsAllBelow(t *testing.T) {
	t.Parallel()
	for glob, want := range map[string]rules.Decision{
		"/srv/**": rules.Allow, "/srv/shop/**": rules.Allow, "/srv/*": rules.Confirm,
		"/srv/shop": rules.Confirm, "/srv/shop/*.md": rules.Confirm,
	} {
		t.Run(glob, func(t *testing.T) {
			q := owner("grep_files", rules.ClassRead, rules.TierConfirm)
			q.Resource.Paths = []string{"/srv/shop/"}
			require.Equal(t, want, parseRules(t, `{path: "`+glob+`", decision: allow}`).Decide(q).Decision, glob)
			require.Equal(t, rules.Deny, parseRules(t, `{path: "`+glob+`", decision: deny}`).Decide(q).Decision,
				"a part of it is enough to deny: "+glob)
		})
	}
}

func TestDecide_FirstMatchDecides(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{tool: fetch_url, domain: example.com, decision: allow}`,
		`{tool: "fetch_*", agent: sales, decision: deny, reason: not for sales}`)
	q := owner("fetch_url", rules.ClassOutward, rules.TierConfirm)
	q.Agent = "sales"
	q.Resource.Domains = []string{"www.example.com:443"}
	require.Equal(t, rules.Allow, s.Decide(q).Decision)
	q.Resource.Domains = []string{"example.org:443"}
	v := s.Decide(q)
	require.Equal(t, rules.Deny, v.Decision)
	require.Equal(t, "deny: own.yaml:2 for example.org:443 (not for sales)", v.Sentence())
	q.Agent = ""
	require.Equal(t, rules.Confirm, s.Decide(q).Decision, "the assistant itself is judged by the default rules")
}

func TestDecide_StrictestOfSeveralResources(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{path: /srv/**, decision: allow}`, `{path: /opt/secret/**, decision: deny}`)
	q := owner("edit_file", rules.ClassFiles, rules.TierConfirm)
	for _, c := range []struct {
		paths []string
		want  rules.Decision
	}{
		{nil, rules.Confirm},
		{[]string{"/srv/a"}, rules.Allow},
		{[]string{"/srv/a", "/home/anna/b"}, rules.Confirm},
		{[]string{"/srv/a", "/opt/secret/b", "/srv/c"}, rules.Deny},
		{[]string{"/etc/passwd"}, rules.Deny},
		{[]string{"/home/anna/.ssh"}, rules.Deny},
	} {
		q.Resource.Paths = c.paths
		require.Equal(t, c.want, s.Decide(q).Decision, c.paths)
	}
}

func TestDefaultRules_SortCommands(t *testing.T) {
	t.Parallel()
	s := parseRules(t)
	for argv, want := range map[string]rules.Decision{
		"ls -la": rules.Allow, "/bin/ls": rules.Allow, "pwd": rules.Allow, "pwd -P": rules.Pin, "git status": rules.Allow,
		"git push origin": rules.Confirm, "git -C x push": rules.Pin, "mv a b": rules.Confirm,
		"rm -rf /": rules.Pin, "/bin/rm x": rules.Pin, "sudo ls": rules.Deny, "/usr/bin/sudo ls": rules.Deny, "mkfs.ext4 /dev/sda": rules.Deny,
		"unheard of": rules.Pin,
	} {
		t.Run(argv, func(t *testing.T) {
			q := owner("exec", rules.ClassExec, rules.TierRead)
			q.Resource.Argv = strings.Fields(argv)
			require.Equal(t, want, s.Decide(q).Decision, argv)
			q.Tier = rules.TierPin
			require.Contains(t, []rules.Decision{rules.Pin, rules.Deny}, s.Decide(q).Decision, "a list does not lower what the tool asks for")
		})
	}
}

func TestAllow_ByNameMeansSystemProgram(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{class: exec, argv: [make **, /srv/x/build **], decision: allow}`, `{class: exec, argv: curl **, decision: deny}`)
	for argv, want := range map[string]rules.Decision{
		"make all": rules.Allow, "/usr/bin/make all": rules.Allow, "/usr/local/bin/make": rules.Allow, "/srv/x/build all": rules.Allow,
		"./make all": rules.Pin, "sub/make all": rules.Pin, "/srv/x/make all": rules.Pin, "/bin/../srv/make": rules.Pin, "//make": rules.Pin,
		"/make":    rules.Pin,
		"./curl x": rules.Deny, "/srv/x/curl x": rules.Deny,
	} {
		t.Run(argv, func(t *testing.T) {
			q := owner("exec", rules.ClassExec, rules.TierPin)
			q.Resource.Argv = strings.Fields(argv)
			require.Equal(t, want, s.Decide(q).Decision, argv)
		})
	}
}

func TestDecide_HoursChatsSurfacesTaint(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{surface: [schedule, webhook], hours: 22-7, decision: deny}`, `{chat: [12, "#13"], tier: read, decision: confirm}`,
		`{tainted: true, class: agents, decision: deny}`)
	decide := func(change func(*rules.Request)) rules.Decision {
		q := owner("search_docs", rules.ClassRead, rules.TierRead)
		change(&q)
		return s.Decide(q).Decision
	}
	require.Equal(t, rules.Deny, decide(func(q *rules.Request) { q.Surface, q.Hour = rules.SurfaceSchedule, 23 }))
	require.Equal(t, rules.Deny, decide(func(q *rules.Request) { q.Surface, q.Hour = rules.SurfaceSchedule, 6 }))
	require.Equal(t, rules.Allow, decide(func(q *rules.Request) { q.Surface, q.Hour = rules.SurfaceSchedule, 7 }))
	require.Equal(t, rules.Allow, decide(func(q *rules.Request) { q.Hour = 23 }))
	require.Equal(t, rules.Confirm, decide(func(q *rules.Request) { q.Chat = 13 }))
	require.Equal(t, rules.Deny, decide(func(q *rules.Request) { q.Class, q.Tainted = rules.ClassDelegate, true }))
}

func TestTaintedTurn_NeedsApprovalDespiteRules(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{decision: allow}`)
	for _, class := range rules.Classes() {
		q := owner("any", class, rules.TierPin)
		require.Equal(t, rules.Allow, s.Decide(q).Decision, class)
		q.Tainted = true
		v := s.Decide(q)
		switch class {
		case rules.ClassRead, rules.ClassNotify, rules.ClassDelegate:
			require.Equal(t, rules.Allow, v.Decision, class)
		default:
			require.Equal(t, rules.Confirm, v.Decision, class)
			require.Contains(t, v.Sentence(), "read text that is not yours")
			q.Resource.OwnWords = true
			require.Equal(t, rules.Allow, s.Decide(q).Decision, "the owner wrote it himself")
		}
	}
}

func TestAnyCall_GetsMildestDecision(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{tool: fetch_url, domain: evil.example, decision: deny}`, `{tool: read_file, path: /srv/**, decision: allow}`,
		`{tool: read_file, decision: deny}`, `{tool: gone, decision: deny}`)
	for tool, want := range map[string]rules.Decision{"fetch_url": rules.Confirm, "read_file": rules.Allow, "gone": rules.Deny} {
		t.Run(tool, func(t *testing.T) {
			q := owner(tool, rules.ClassOutward, rules.TierConfirm)
			q.AnyCall = true
			require.Equal(t, want, s.Decide(q).Decision, tool)
		})
	}
}

func TestLimit_DeniesCallsAboveIt(t *testing.T) {
	t.Parallel()
	var counter rules.Counter
	r := parse(t, `{tool: fetch_url, limit: 2/h, decision: allow}`)
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	take := func(agent, call string, after time.Duration) bool {
		return counter.Count(&r[0], agent, "fetch_url", call, now.Add(after))
	}
	require.False(t, take("", "a", 0))
	require.False(t, take("", "a", time.Minute), "the same call counts once")
	require.False(t, take("", "b", time.Minute))
	require.True(t, take("", "", time.Minute), "a look counts nothing")
	require.True(t, take("", "c", time.Minute))
	require.False(t, take("sales", "c", time.Minute), "each agent has its own")
	require.False(t, take("", "c", time.Hour), "the first call is an hour ago")
	require.True(t, take("", "d", time.Hour))
	q := owner("fetch_url", rules.ClassOutward, rules.TierRead)
	q.Exceeds = func(*rules.Rule) bool { return true }
	v := parseRules(t, `{tool: fetch_url, limit: 2/h, decision: allow}`).Decide(q)
	require.Equal(t, "deny: own.yaml:1 allows 2/h, and that is used up", v.Sentence())
}

func TestParseRules_NamesLineOfMistake(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"":                                                           "own.yaml:1: the file is empty",
		"rules: 3":                                                   "own.yaml:1: is not a list",
		"rule: []":                                                   "own.yaml:1: a file of rules has one key",
		"rules: []\nmore: 1":                                         "a file of rules has one key",
		"rules: []\n---\nrules: []":                                  "own.yaml:2: a second document",
		"rules:\n - allow":                                           "own.yaml:2: a rule is a section",
		"rules:\n\n - {tool: a}":                                     "own.yaml:3: the rule has no decision",
		"rules:\n - tool: a\n   action: b":                           `own.yaml:3: "action" is not a key of a rule`,
		"rules:\n - tool: a\n   tool: b":                             "own.yaml:3: tool is set a second time",
		"rules:\n - {decision: maybe}":                               `decision: "maybe" is not a decision`,
		"rules:\n - {surface: moon}":                                 `surface: "moon" is not known; write one of: contact, owner`,
		"rules:\n - {tool: []}":                                      "tool: has 0 items",
		"rules:\n - {tool: }":                                        "tool: is empty",
		"rules:\n - {tool: a b}":                                     `tool: "a b" is not a name`,
		"rules:\n - {tool: {a: b}}":                                  "tool: is not a single value",
		"rules:\n - &a {decision: deny}\n - *a":                      "own.yaml:3: a rule is a section",
		"rules:\n - {path: etc/**}":                                  "is not an absolute path",
		"rules:\n - {path: /etc/../a}":                               "write /a",
		"rules:\n - {path: '/{a,b}'}":                                "is not a pattern",
		"rules:\n - {path: '/**/**/**/**/**'}":                       "is not a pattern",
		"rules:\n - {domain: https://a}":                             "is not a domain",
		"rules:\n - {argv: a ** b}":                                  "is not the pattern of a command",
		"rules:\n - {hours: 25-3}":                                   "is not a part of the day",
		"rules:\n - {hours: 3-3}":                                    "is not a part of the day",
		"rules:\n - {limit: 20}":                                     `"20" is not a limit`,
		"rules:\n - {limit: 0/h}":                                    `"0/h" is not possible`,
		"rules:\n - {chat: Ana}":                                     "is not the number of a chat",
		"rules:\n - {decision: deny, limit: 1/h}":                    "a rule that denies needs no limit",
		"rules:\n - {decision: allow, path: /a, domain: b}":          "can never match: a path is judged",
		"rules:\n - {decision: deny, path: /a, argv: cat}":           "own.yaml:2: the rule can never match: a path is judged",
		"rules:\n - {decision: deny, path: /a, class: [exec, read]}": "own.yaml:2: path does not hold for commands; write argv",
		"rules:\n - {decision: allow, reason: !secret a}":            "has a YAML tag",
		"rules:\n - {decision: allow, reason: " + strings.Repeat("a", 201) + "}": "longer than 200",
		"rules: [" + strings.Repeat("{decision: deny},", 501) + "]":              "has 501 rules",
		"rules: [" + strings.Repeat(" ", rules.MaxBytes) + "]":                   "larger than 128 KB",
	} {
		t.Run(written, func(t *testing.T) {
			all, err := rules.Parse("own.yaml", []byte(written))
			require.ErrorContains(t, err, want)
			require.Nil(t, all, "never half of a file")
		})
	}
}

func TestUnreachableRule_IsRefused(t *testing.T) {
	t.Parallel()
	known := rules.Vocabulary{Agents: []string{"sales"}, Prefixes: []string{"github_"}, Tools: []rules.Tool{
		{Name: "fetch_url", Class: rules.ClassOutward, Kinds: rules.Kinds{Domains: true}},
		{Name: "read_file", Class: rules.ClassRead, Kinds: rules.Kinds{Paths: true}},
		{Name: "remember", Class: rules.ClassMemory},
		{Name: "exec", Class: rules.ClassExec, Kinds: rules.Kinds{Argv: true}},
		{Name: "search_docs", Class: rules.ClassRead, Contacts: true},
	}}
	for _, c := range []struct{ own, want string }{
		{`{role: contact, surface: owner, decision: allow}`, "own.yaml:1: the rule can never match: its role and its surface exclude each other"},
		{`{tool: fetch_url, role: contact, decision: allow}`, "own.yaml:1: the rule can never match: no tool that contacts' turns have fits it"},
		{`{tool: github_anything, surface: contact, decision: allow}`, "no tool that contacts' turns have"},
		{`{class: [exec, memory], surface: contact, decision: deny}`, "no tool that contacts' turns have"},
		{`{agent: nobody, decision: deny}`, "there is no agent nobody"},
		{`{tool: fetch_uri, decision: deny}`, "there is no tool fetch_uri"},
		{`{tool: remember, class: read, decision: deny}`, "no such tool has that class"},
		{`{tool: exec, path: /srv/**, decision: deny}`, "own.yaml:1: path does not hold for commands; write argv"},
		{`{tool: [read_file, exec], path: /srv/**, decision: deny}`, "path does not hold for commands"},
		{`{tool: remember, path: /srv/**, decision: deny}`, "no such tool has that class, or paths"},
		{`{decision: deny}, {tool: remember, decision: allow}`, "own.yaml:1 and the rules before it decide all of its calls"},
		{
			`{role: owner, decision: deny}, {role: contact, decision: deny}, {tool: remember, decision: allow}`,
			"own.yaml:1 and the rules before it decide",
		},
		{`{hours: 7-22, decision: deny}, {hours: 22-7, decision: deny}, {tainted: true, decision: allow}`, "decide all of its calls"},
		{`{tool: "*", decision: confirm}, {tool: remember, decision: allow}`, "decide all of its calls"},
		{`{domain: example.com, decision: deny}, {domain: "www.example.com:443", tool: fetch_url, decision: allow}`, "decide all of its calls"},
		{`{path: /srv/**, decision: deny}, {path: /srv/a, decision: allow}`, "decide all of its calls"},
		{`{tool: fetch_url, decision: allow}, {tool: fetch_url, decision: allow}`, "decide all of its calls"},
	} {
		t.Run(c.own, func(t *testing.T) {
			all := parse(t, c.own)
			s, err := rules.New(all, known)
			require.ErrorContains(t, err, c.want, c.own)
			require.Nil(t, s)
		})
	}
	for _, fine := range []string{
		`{tool: github_anything, path: /srv/**, decision: deny}, {tool: "*", decision: deny}`,
		`{agent: multis, decision: deny}, {agent: "s*", decision: allow}`,
		`{domain: www.example.com, decision: deny}, {domain: example.com, decision: allow}, {tool: fetch_url, decision: deny}`,
		`{path: /srv/a, decision: deny}, {path: /srv/**, decision: allow}`,
		`{tool: "*", path: /srv/**, decision: deny}`,
		`{hours: 7-22, decision: deny}, {decision: allow}`,
		`{role: contact, tool: search_docs, decision: deny}, {surface: [contact, owner], class: exec, decision: deny}, {role: contact, decision: deny}`,
	} {
		t.Run(fine, func(t *testing.T) {
			_, err := rules.New(parse(t, fine), known)
			require.NoError(t, err, fine)
		})
	}
}

func TestRule_CanMatchesItsAgents(t *testing.T) {
	t.Parallel()
	known := rules.Vocabulary{
		Agents: []string{"coder", "sales", "shop"},
		Can:    map[string][]string{"prices": {"sales", "shop"}, "code": {"coder"}},
	}
	decide := func(own, agent string) rules.Decision {
		s, err := rules.New(parse(t, own), known)
		require.NoError(t, err, own)
		q := owner("fetch_url", rules.ClassOutward, rules.TierConfirm)
		q.Agent = agent
		return s.Decide(q).Decision
	}
	for agent, want := range map[string]rules.Decision{"sales": rules.Deny, "shop": rules.Deny, "coder": rules.Confirm, "": rules.Confirm} {
		t.Run(agent, func(t *testing.T) {
			require.Equal(t, want, decide(`{can: prices, decision: deny}`, agent), agent)
		})
	}
	require.Equal(t, rules.Deny, decide(`{can: [code, prices], decision: deny}`, "coder"))
	require.Equal(t, rules.Confirm, decide(`{can: prices, agent: "sh*", decision: deny}`, "sales"), "both conditions hold")
	require.Equal(t, rules.Deny, decide(`{can: prices, agent: "sh*", decision: deny}`, "shop"))
	for own, want := range map[string]string{
		`{can: cooking, decision: deny}`:                                                   "own.yaml:1: the rule can never match: no such agent has cooking under can",
		`{can: code, agent: sales, decision: deny}`:                                        "no such agent has code under can",
		`{can: [code, prices], decision: deny}, {agent: [shop, sales], decision: confirm}`: "decide all of its calls",
	} {
		t.Run(own, func(t *testing.T) {
			_, err := rules.New(parse(t, own), known)
			require.ErrorContains(t, err, want, own)
		})
	}
	_, err := rules.New(parse(t, `{can: code, decision: deny}`), rules.Vocabulary{})
	require.ErrorContains(t, err, "can never match", "where agents are not known it is no rule about all of them")
	_, err = rules.Parse("own.yaml", []byte("rules:\n - {can: [Code], decision: deny}"))
	require.ErrorContains(t, err, `can: "Code" is not a word`)
}

func TestDefaultRules_AllReachable(t *testing.T) {
	t.Parallel()
	all, err := rules.Parse(rules.DefaultFile, rules.DefaultText())
	require.NoError(t, err)
	last := all[len(all)-1]
	_, err = rules.New(all[:len(all)-1], rules.Vocabulary{})
	require.NoError(t, err)
	require.Equal(t, rules.Deny, last.Decision)
	last.File = ""
	last.Line = 0
	last.Reason = ""
	last.Decision = ""
	require.Equal(t, rules.Rule{}, last, "the last rule denies everything")
}

// randomRequest returns a random request.
func randomRequest(r *rand.Rand) rules.Request {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	q := rules.Request{
		Surface: rules.Surfaces()[r.IntN(len(rules.Surfaces()))],
		Class:   rules.Classes()[r.IntN(len(rules.Classes()))],
		Tier:    rules.Tiers()[r.IntN(3)],
		Agent:   pick("", "sales", "ops"),
		Tool:    pick("fetch_url", "read_file", "exec", "remember", "github_issue"),
		Chat:    int64(r.IntN(4)),
		Hour:    r.IntN(24),
		Tainted: r.IntN(2) == 0,
	}
	for range r.IntN(3) {
		q.Resource.Paths = append(q.Resource.Paths, pick("/etc/x", "/srv/a/b", "/home/anna/.ssh/id", "/opt/c"))
	}
	for range r.IntN(2) {
		q.Resource.Domains = append(q.Resource.Domains, pick("example.com:443", "a.example.com:8443", "example.org:80"))
	}
	if q.Class == rules.ClassExec {
		q.Resource.Argv = strings.Fields(pick("ls -l", "rm x", "sudo ls", "git push", "unheard"))
	}
	q.Resource.OwnWords = r.IntN(4) == 0
	return q
}

func TestExplain_AgreesWithDecide(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{agent: ops, class: exec, decision: allow}`, `{domain: example.com, decision: allow, limit: 3/h}`,
		`{path: /srv/**, decision: deny}`, `{hours: 22-7, role: owner, tier: confirm, decision: deny}`, `{chat: 2, decision: confirm}`)
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		q := randomRequest(r)
		exceeded := r.IntN(2) == 0
		q.Exceeds = func(*rules.Rule) bool { return exceeded }
		got, tried := s.Explain(q)
		require.Equal(t, s.Decide(q), got)
		last := map[string]rules.Check{}
		for _, one := range tried {
			require.Empty(t, one.Mismatch == "" && last[one.About].Rule != nil && last[one.About].Mismatch == "",
				"no rule is tried after one that matched")
			last[one.About] = one
		}
		require.NotNil(t, got.Rule)
		require.Equal(t, got.Rule, last[got.About].Rule, "the deciding rule is the last that was tried for what decided")
	}
}

func TestRelativePath_IsDenied(t *testing.T) {
	t.Parallel()
	s := parseRules(t, `{tool: read_file, decision: allow}`)
	q := rules.Request{
		Surface:  rules.SurfaceOwner,
		Tool:     "read_file",
		Class:    rules.ClassRead,
		Tier:     rules.TierRead,
		Resource: rules.Resource{Paths: []string{"/srv/a"}},
	}
	require.Equal(t, rules.Allow, s.Decide(q).Decision)
	q.Resource.Paths = []string{"/srv/a", "srv/a"}
	require.Equal(t, rules.Deny, s.Decide(q).Decision, "no rule about a path would match it")
}

func TestDefaultRules_DecideEveryCall(t *testing.T) {
	t.Parallel()
	for _, s := range []*rules.Set{parseRules(t), parseRules(t, `{tool: remember, decision: allow}`, `{surface: cli, decision: deny}`)} {
		for _, surface := range rules.Surfaces() {
			for _, class := range rules.Classes() {
				for _, tier := range rules.Tiers() {
					for _, anyArgs := range []bool{false, true} {
						v := s.Decide(rules.Request{
							Surface: surface,
							Tool:    "remember",
							Class:   class,
							Tier:    tier,
							AnyCall: anyArgs,
						})
						require.NotNil(t, v.Rule, "%s %s %s", surface, class, tier)
					}
				}
			}
		}
		for _, unknown := range []rules.Request{
			{},
			{Surface: "moon", Class: rules.ClassRead, Tier: rules.TierRead},
			{Surface: rules.SurfaceOwner, Tier: rules.TierRead},
			{Surface: rules.SurfaceOwner, Class: rules.ClassRead, Tier: rules.TierRead, Hour: 24},
		} {
			require.Equal(t, rules.Deny, s.Decide(unknown).Decision, "what is not known is denied")
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(rules.DefaultText())
	for key, values := range map[string]string{
		"role": "owner contact [owner,contact]", "surface": "owner schedule mcp cli delegate webhook heartbeat contact",
		"agent": "sales s* multis", "can": "prices [code,prices]", "tool": "fetch_url read_* exec '*'",
		"class": "read outward files exec [memory,config]", "tier": "read confirm pin", "chat": "3 '#12' [1,2]",
		"path": "/srv/** ~/x /etc/* '/**/[a-z]*'", "domain": "example.com *.example.org example.com:8443 '*'",
		"argv": "ls 'git push **' 'curl *x* **'", "hours": "22-7 0-24 9-17", "tainted": "true false", "limit": "20/h 5/m 100/d",
		"reason": "Because",
	} {
		for value := range strings.FieldsSeq(values) {
			for _, decision := range []string{"allow", "confirm", "pin", "deny"} {
				f.Add([]byte("rules:\n  - {" + key + ": " + value + ", decision: " + decision + "}\n  - {tool: [a, b], " + key + ": " + value +
					", decision: deny}\n"))
			}
		}
	}
	for _, s := range []string{
		"rules: [{tool: a, decision: allow, limit: 1/h}]",
		"rules:\n - {path: '/**/[a-z]*', hours: 0-24, decision: deny}", "rules: [&a {argv: 'a *b* **', decision: pin}, *a]", "rules: [",
	} {
		f.Add([]byte(s))
	}
	r := rand.New(rand.NewPCG(1, 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := rules.Parse("f.yaml", data)
		if err != nil {
			require.Nil(t, all, "never half of a file")
			require.True(t, strings.HasPrefix(err.Error(), "f.yaml:"), err)
			return
		}
		require.LessOrEqual(t, len(all), bytes.Count(data, []byte("decision")), "every rule says what it decides")
		s, err := rules.New(all, rules.Vocabulary{})
		if err != nil {
			require.Nil(t, s)
			return
		}
		require.Len(t, s.Rules(), len(all)+len(parseRules(t).Rules()))
		for range 20 {
			q := randomRequest(r)
			v, tried := s.Explain(q)
			require.Equal(t, s.Decide(q), v)
			require.NotEmpty(t, tried)
			require.NotNil(t, v.Rule)
		}
	})
}

func ExampleSet_Decide() {
	own, _ := rules.Parse("rules.yaml", []byte("rules:\n  - {tool: fetch_url, domain: example.com, decision: allow}"))
	set, _ := rules.New(own, rules.Vocabulary{})
	q := rules.Request{
		Surface:  rules.SurfaceOwner,
		Tool:     "fetch_url",
		Class:    rules.ClassOutward,
		Tier:     rules.TierConfirm,
		Resource: rules.Resource{Domains: []string{"example.com:443"}},
	}
	fmt.Println(set.Decide(q).Sentence())
	// Output: allow: rules.yaml:2 for example.com:443
}
