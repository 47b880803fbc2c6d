package config

import (
	"testing"
)

func TestParse_ExplainsAgentMistakes(t *testing.T) {
	t.Parallel()
	testMistakes(t, map[string]mistake{
		"an agent that has nobody work for it": {
			add:  "agents: {sales: {delegates: [sales]}}\n",
			want: `config.yaml:10: agents.sales.delegates: names sales, which is not another agent; write names of agents, or "*" for all`,
		},
		"two agents that both are the default": {
			add:  "agents: {sales: {default: true}, desk: {default: true}, shop: {}}\n",
			want: `config.yaml:10: agents.sales.default: is true for desk as well; set it for only one agent`,
		},
		"tools that are denied by a broken pattern": {
			add:  "agents: {sales: {deny: [\"[exec\"]}}\n",
			want: `config.yaml:10: agents.sales.deny[0]: "[exec" is not a tool name or pattern; write a name such as fetch_url, or a pattern such as "github__get_*"`,
		},
		"tools that are denied by two names in one": {
			add:  "agents: {sales: {deny: [\"exec, fetch_url\"]}}\n",
			want: `config.yaml:10: agents.sales.deny[0]: "exec, fetch_url" is not a tool name or pattern; write a name such as fetch_url, or a pattern such as "github__get_*"`,
		},
		"a pattern of a server's tools that is broken": {
			add:  "mcp: {desk: {command: [desk], pin: [wipe, \"[a-\"]}}\n",
			want: `config.yaml:10: mcp.desk.pin[1]: "[a-" is not a tool name or pattern; write a name such as fetch_url, or a pattern such as "github__get_*"`,
		},
		"a call that may take longer than any": {
			add:  "mcp: {desk: {command: [desk], timeout: 5m}}\n",
			want: `config.yaml:10: mcp.desk.timeout: "5m" is too long; write at most 1m0s`,
		},
		"a server of tools whose name begins no tool's": {
			add:  "mcp: {1st: {url: \"https://tools.example.com/mcp\"}}\n",
			want: `config.yaml:10: mcp.1st: is not a valid server name; write up to 20 small letters, digits or dashes, a letter first, such as github`,
		},
		"a server of tools that is nowhere": {
			add:  "mcp: {desk: {timeout: 5s}}\n",
			want: `config.yaml:10: mcp.desk: needs either command or url; write exactly one of them`,
		},
		"a login to a program": {
			add:  "mcp: {desk: {command: [desk], login: true}}\n",
			want: `config.yaml:10: mcp.desk.login: only works with a url; set url, or remove login`,
		},
		"a login and a token": {
			add:  "mcp: {desk: {url: \"https://tools.example.com/mcp\", login: true, token: t}}\n",
			want: `config.yaml:10: mcp.desk.login: replaces the token; remove one of the two`,
		},
		"a client of no login": {
			add:  "mcp: {desk: {url: \"https://tools.example.com/mcp\", client_id: us}}\n",
			want: `config.yaml:10: mcp.desk.client_id: only works with login: true; set it, or remove client_id and client_secret`,
		},
		"a door for other programs that is open": {
			add:  "mcp_server: {port: 8082, token: short}\n",
			want: `config.yaml:10: mcp_server.token: is missing or short, and would open your documents; write one of 24 characters or more (openssl rand -hex 24)`,
		},
		"a heartbeat at odd times": {
			add:  "heartbeat: {every: 45m}\n",
			want: `config.yaml:10: heartbeat.every: is not a valid interval; write one of 10m, 15m, 20m, 30m, 1h, 2h, 3h, 4h, 6h, 12h`,
		},
		"a heartbeat of no hours": {
			add:  "heartbeat: {active_from: 9, active_until: 9}\n",
			want: `config.yaml:10: heartbeat.active_until: is the same as active_from; write 0 and 24 for the whole day, or enabled: false`,
		},
		"a hook for something that does not happen": {
			add:  "hooks: {desk: {url: \"https://example.org\", events: [lunch], secret: \"twenty-four characters at least\"}}\n",
			want: `config.yaml:10: hooks.desk.events[0]: "lunch" is not known here; write one of: message:business, escalation, resolved, unclaimed, index, capture, approval, budget, bridge:down, cron:fail`,
		},
		"a hook without a secret": {
			add:  "hooks:\n  desk: {url: \"https://example.org\", events: [index]}\n",
			want: `config.yaml:11: hooks.desk.secret: is missing; write for example whsec_... (openssl rand -base64 32)`,
		},
		"a hook's secret that can be guessed": {
			add:  "hooks: {desk: {url: \"https://example.org\", events: [index], secret: hunter2}}\n",
			want: `config.yaml:10: hooks.desk.secret: has 7 characters; write at least 24, such as whsec_ and what openssl rand -base64 32 prints`,
		},
		"an empty folder": {
			add:  "documents: {folder: \"\"}\n",
			want: `config.yaml:10: documents.folder: is empty; write a path, or leave the key out for the default, documents`,
		},
		"a shortcut that means nothing": {
			add:  "shortcuts: [stop]\n",
			want: `config.yaml:10: shortcuts[0]: "stop" is not a shortcut; write words and the command that they mean, such as stop everything => /pause all`,
		},
		"a shortcut that cannot be read": {
			add:  "shortcuts: [\"( => /pause all\"]\n",
			want: `config.yaml:10: shortcuts[0]: "(" is not a regular expression; write one of RE2's, or plain words`,
		},
	})
}
