package admin

import (
	"context"
	"strings"

	"multis/internal/text"
	"multis/store"
)

// Policy shows the rules about tools.
type Policy interface {
	// Rules returns the owner's own rules, a line each, in the order in which they are tried.
	Rules() []string
	// Explain returns what happens with a call in a room, in lines. args is a JSON object, or empty for any call. The error is for the owner.
	Explain(room store.Chat, agent, tool, args string) (string, error)
}

// policyCommands shows the rules, and explains what they say about a call.
type policyCommands struct {
	base

	policy Policy
}

// commands returns the commands about rules.
func (p *policyCommands) commands() []command {
	return []command{{
		name: "policy", args: "[explain AGENT TOOL]", group: groupControl, run: p.run,
		summary: "which tools may run, and why",
		aliases: []string{"policies", "rules"},
		hint:    "`/policy` shows the rules about tools; `/mode` says what I do in a chat.",
		help: "`/policy explain multis fetch_url {\"url\": \"https://example.com\"}` says what happens with that call: which rule decides, where it is written, and which were tried. " +
			"`multis` is the assistant itself; without arguments it is about the mildest call. Rules are written in config.yaml under `policy`.",
	}}
}

// run shows the rules or explains a call.
func (p *policyCommands) run(_ context.Context, r request, args string) (answer, error) {
	words := strings.SplitN(strings.TrimSpace(args), " ", 4)
	switch {
	case p.policy == nil:
		return answer{text: "There are no rules here."}, nil
	case words[0] == "":
		return answer{text: p.list()}, nil
	case words[0] != "explain" || len(words) < 3:
		return answer{text: "Write `/policy`, or `/policy explain multis fetch_url` with an agent and a tool. `/agents` and `/tools` list them."},
			nil
	}
	called := ""
	if len(words) == 4 {
		called = strings.Trim(strings.TrimSpace(words[3]), "'") // as it is written in a shell
	}
	said, err := p.policy.Explain(r.room, words[1], words[2], called)
	if err != nil {
		return answer{text: "⚠️ Not explained: " + esc(err.Error())}, nil
	}
	decision, tried, _ := strings.Cut(said, "\n")
	if tried != "" {
		tried = "\n" + codeBlock(tried)
	}
	return answer{text: "**" + esc(decision) + "**" + tried}, nil
}

// list shows the owner's rules.
func (p *policyCommands) list() string {
	own := p.policy.Rules()
	if len(own) == 0 {
		return "You have no rules of your own. The default ones let tools that only read run, ask you before anything changes, and deny the rest. " +
			"`multis policy show` prints them; `/help policy` explains a call."
	}
	lines := []string{"**" + text.Count(len(own), "rule") + " of yours**, tried before the default ones"}
	for _, one := range own {
		lines = append(lines, code(one))
	}
	return strings.Join(lines, "\n")
}
