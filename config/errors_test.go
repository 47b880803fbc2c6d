package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

// Lines 1 to 9 are those of least; what a case adds begins in line 10.
func TestEachMistakeIsOneLineThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		add  string            // after least
		swap [2]string         // inside least
		env  map[string]string // beside both
		want string
	}{
		"an unknown key that is nearly right": {
			add:  "chats:\n  reply_max_age: 5m\n  profil: business\n",
			want: `config.yaml:12: chats.profil: unknown key; did you mean "profile"?`,
		},
		"an unknown key at the top": {
			add:  "timezone: UTC\n",
			want: `config.yaml:10: timezone: unknown key; did you mean "time_zone"?`,
		},
		"an unknown section": {
			add:  "chat:\n  profile: business\n",
			want: `config.yaml:10: chat: unknown key; did you mean "chats"?`,
		},
		"the section of the networks misspelt": {
			add:  "chats:\n  network:\n    whatsapp: {mode: off}\n",
			want: `config.yaml:11: chats.network: unknown key; did you mean "networks"?`,
		},
		"a label by which a contact could have himself answered": {
			add:  "chats:\n  labels:\n    vip:\n      words: [please]\n      mode: business\n",
			want: `config.yaml:14: chats.labels.vip.mode: cannot be "business", because contacts choose their names and words; leave out names and words, and give the label with /label`,
		},
		"a label by which a contact could skip the drafts": {
			add:  "chats:\n  labels:\n    vip:\n      names: [VIP*]\n      delivery: auto\n",
			want: `config.yaml:14: chats.labels.vip.delivery: cannot be "auto", because contacts choose their names and words; leave out names and words, and give the label with /label`,
		},
		"a label with a capital letter": {
			add:  "chats:\n  labels:\n    Big.Shops:\n      mode: silent\n",
			want: `config.yaml:12: chats.labels.Big.Shops: is not the name of a label; write a word of small letters, digits and hyphens, such as wholesale`,
		},
		"a label for every name": {
			add:  "chats: {labels: {vip: {names: ['*']}}}\n",
			want: `config.yaml:10: chats.labels.vip.names[0]: fits every chat; write a part of the name, such as "ACME*"`,
		},
		"a label with too many words": {
			add:  "chats: {labels: {vip: {words: [" + strings.Repeat("money, ", 101) + "]}}}\n",
			want: `config.yaml:10: chats.labels.vip.words: has 101 items; write at most 100`,
		},
		"hours of a label that cannot be read": {
			add:  "chats: {labels: {vip: {hours: [always]}}}\n",
			want: `config.yaml:10: chats.labels.vip.hours[0]: cannot be read: "always" has no times; write it like mon-fri 9-12:30, 13:30-18`,
		},
		"an agent that has nobody work for it": {
			add:  "agents: {sales: {delegates: [sales]}}\n",
			want: `config.yaml:10: agents.sales.delegates: names sales, which is no other agent; write names of agents, or "*" for all`,
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
			want: `config.yaml:10: mcp.desk.timeout: "5m" is too long; write 1m0s at most`,
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
		"a key in the wrong section": {
			add:  "per_chat_day: 1\n",
			want: `config.yaml:10: per_chat_day: unknown key; did you mean "budget.per_chat_day"?`,
		},
		"a key like no other": {
			add:  "budget:\n  bitcoins: 1\n",
			want: `config.yaml:11: budget.bitcoins: unknown key; known here: per_day, per_chat_day, per_agent_day, per_run, at_cap, per_dollar, currency`,
		},
		"a key written with dots": {
			add:  "chats.profile: business\n",
			want: `config.yaml:10: chats.profile: unknown key; write a section, and the keys of that section below it`,
		},
		"an unknown key of a network": {
			add:  "chats: {networks: {whatsapp: {modus: off}}}\n",
			want: `config.yaml:10: chats.networks.whatsapp.modus: unknown key; did you mean "mode"?`,
		},
		"a network whose name cannot be one": {
			add:  "chats: {networks: {\"What's App\": {mode: off}}}\n",
			want: `config.yaml:10: chats.networks.What's App: is not the name of a network; write the bridge's protocol, such as whatsapp`,
		},
		"a key set twice": {
			add:  "name: Ada\nname: Eve\n",
			want: `config.yaml:11: name: is set a second time (first in line 10); keep one`,
		},
		"a section set twice": {
			add:  "homeserver: {domain: evil.org}\n",
			want: `config.yaml:10: homeserver: is set a second time (first in line 1); keep one`,
		},
		"a missing homeserver.address": {
			swap: [2]string{"  address: https://matrix.example.org\n", ""},
			want: `config.yaml:1: homeserver.address: is missing; write for example address: https://matrix.example.com`,
		},
		"a missing homeserver.domain": {
			swap: [2]string{"  domain: example.org\n", ""},
			want: `config.yaml:1: homeserver.domain: is missing; write for example domain: example.com`,
		},
		"a missing owner": {
			swap: [2]string{"owner: \"@you:example.org\"\n", ""},
			want: `config.yaml:1: owner: is missing; write for example owner: "@you:example.com"`,
		},
		"an owner with nothing after it": {
			swap: [2]string{"owner: \"@you:example.org\"", "owner:"},
			want: `config.yaml:1: owner: is missing; write for example owner: "@you:example.com"`,
		},
		"a missing time_zone": {
			swap: [2]string{"time_zone: Europe/Berlin\n", ""},
			want: `config.yaml:1: time_zone: is missing; write for example time_zone: Europe/Berlin`,
		},
		"a missing token": {
			swap: [2]string{"  as_token: as-secret\n", ""},
			want: `config.yaml:4: appservice.as_token: is missing; write generate as its value, and run multis -g`,
		},
		"a token never generated": {
			swap: [2]string{"hs-secret", "generate"},
			want: `config.yaml:7: appservice.hs_token: still says generate; run multis -g once to fill it`,
		},
		"a sender_localpart never generated": {
			swap: [2]string{"as_multis_7hq2c9xk", "generate"},
			want: `config.yaml:5: appservice.sender_localpart: still says generate; run multis -g once to fill it`,
		},
		"the same token twice": {
			swap: [2]string{"hs-secret", "as-secret"},
			want: `config.yaml:7: appservice.hs_token: is the same as as_token; write generate and run multis -g`,
		},
		"an empty token": {
			swap: [2]string{"as-secret", `""`},
			want: `config.yaml:6: appservice.as_token: is empty or has spaces or non-ASCII characters; copy the token again`,
		},
		"a bad time zone": {
			swap: [2]string{"Europe/Berlin", "Europe/Berln"},
			want: `config.yaml:9: time_zone: "Europe/Berln" is not a time zone; write an IANA name such as Europe/Berlin or UTC`,
		},
		"a time zone that differs from machine to machine": {
			swap: [2]string{"Europe/Berlin", "Local"},
			want: `config.yaml:9: time_zone: "Local" is not a time zone; write an IANA name such as Europe/Berlin or UTC`,
		},
		"an owner without a server": {
			swap: [2]string{`"@you:example.org"`, "you"},
			want: `config.yaml:8: owner: "you" is not a Matrix id; write it like "@you:example.com"`,
		},
		"an owner of another server": {
			swap: [2]string{`"@you:example.org"`, `"@you:matrix.org"`},
			want: `config.yaml:8: owner: is not a user of example.org; write the id you have there, or correct homeserver.domain`,
		},
		"an owner that is the bot": {
			swap: [2]string{`"@you:example.org"`, `"@multis:example.org"`},
			want: `config.yaml:8: owner: is the assistant's own user; write your id, or choose another appservice.bot.username`,
		},
		"a sender_localpart that is the bot": {
			swap: [2]string{"as_multis_7hq2c9xk", "multis"},
			want: `config.yaml:5: appservice.sender_localpart: is the bot, which homeservers cannot serve; write generate and run multis -g`,
		},
		"a sender_localpart that is the owner": {
			swap: [2]string{"as_multis_7hq2c9xk", "you"},
			want: `config.yaml:5: appservice.sender_localpart: is the owner; write generate and run multis -g`,
		},
		"an operator that is no Matrix id": {
			add:  "operators:\n  - \"@ann:example.org\"\n  - bob\n",
			want: `config.yaml:12: operators[1]: "bob" is not a Matrix id; write it like "@you:example.com"`,
		},
		"one value where a list belongs": {
			add:  "operators: \"@ann:example.org\"\n",
			want: `config.yaml:10: operators: is a single value; write a list, one "- item" a line`,
		},
		"a list where one value belongs": {
			add:  "name: [Ada]\n",
			want: `config.yaml:10: name: is a list; write a single value`,
		},
		"a value where a section belongs": {
			add:  "chats: personal\n",
			want: `config.yaml:10: chats: is a single value; write a section of "key: value" lines`,
		},
		"a section where one value belongs": {
			add:  "name:\n  first: Ada\n",
			want: `config.yaml:11: name: is a section; write a single value`,
		},
		"a reference to another place": {
			add:  "name: &n Ada\nlogging: {file: *n}\n",
			want: `config.yaml:11: logging.file: is a reference to another place; write a single value`,
		},
		"a tag of another program": {
			swap: [2]string{"as-secret", "!secret token"},
			want: `config.yaml:6: appservice.as_token: has a YAML tag (a word after !), which is not supported; write only the value, in quotes if it begins with !`,
		},
		"a number with a fraction": {
			add:  "chats:\n  admin_pause_minutes: 1.5\n",
			want: `config.yaml:11: chats.admin_pause_minutes: "1.5" is not possible here; write a whole number from 0 to 10080`,
		},
		"a negative number": {
			add:  "chats:\n  contact_caps:\n    per_day: -1\n",
			want: `config.yaml:12: chats.contact_caps.per_day: "-1" is not possible here; write a whole number from 1 to 100000`,
		},
		"a port that cannot be": {
			swap: [2]string{"appservice:\n", "appservice:\n  port: 99999\n"},
			want: `config.yaml:5: appservice.port: "99999" is not possible here; write a whole number from 1 to 65535`,
		},
		"a yes where true belongs": {
			add:  "llm:\n  local: yes\n",
			want: `config.yaml:11: llm.local: "yes" is neither true nor false; write one of these`,
		},
		"a length of time without its unit": {
			add:  "chats: {burst_quiet: 4}\n",
			want: `config.yaml:10: chats.burst_quiet: "4" is not a length of time; write it like 30s, 10m or 1h30m`,
		},
		"a burst that ends before it is quiet": {
			add:  "chats:\n  burst_max: 2s\n",
			want: `config.yaml:11: chats.burst_max: is shorter than burst_quiet; write at least 4s`,
		},
		"a burst that is never quiet, by default": {
			add:  "chats:\n  networks: {signal: {mode: off}}\n  burst_quiet: 16s\n",
			want: `config.yaml:10: chats.burst_max: is shorter than burst_quiet; write at least 16s`,
		},
		"an amount with too many decimals": {
			add:  "budget: {per_day: 0.0000001}\n",
			want: `config.yaml:10: budget.per_day: "0.0000001" is not an amount of money; write it like 2.50, with at most 6 decimals`,
		},
		"an amount in words": {
			add:  "budget: {per_day: unlimited}\n",
			want: `config.yaml:10: budget.per_day: "unlimited" is not an amount of money; write it like 2.50, with at most 6 decimals`,
		},
		"a currency by its sign": {
			add:  "budget: {currency: €}\n",
			want: `config.yaml:10: budget.currency: "€" is not a currency; write three capital letters such as EUR`,
		},
		"an unknown profile": {
			add:  "chats: {profile: private}\n",
			want: `config.yaml:10: chats.profile: "private" is not known here; write one of: personal, business`,
		},
		"an unknown mode": {
			add:  "chats: {networks: {signal: {mode: quiet}}}\n",
			want: `config.yaml:10: chats.networks.signal.mode: "quiet" is not known here; write one of: business, personal, silent, off`,
		},
		"a hook for something that does not happen": {
			add:  "hooks: {desk: {url: \"https://example.org\", events: [lunch], secret: \"twenty-four characters at least\"}}\n",
			want: `config.yaml:10: hooks.desk.events[0]: "lunch" is not known here; write one of: message:business, escalation, handoff, unclaimed, index, capture, approval, budget, bridge:down, cron:fail`,
		},
		"a hook without a secret": {
			add:  "hooks:\n  desk: {url: \"https://example.org\", events: [index]}\n",
			want: `config.yaml:11: hooks.desk.secret: is missing; write for example whsec_... (openssl rand -base64 32)`,
		},
		"a hook's secret that can be guessed": {
			add:  "hooks: {desk: {url: \"https://example.org\", events: [index], secret: hunter2}}\n",
			want: `config.yaml:10: hooks.desk.secret: has 7 characters; write at least 24, such as whsec_ and what openssl rand -base64 32 prints`,
		},
		"an unknown log level": {
			add:  "logging: {level: loud}\n",
			want: `config.yaml:10: logging.level: "loud" is not known here; write one of: trace, debug, info, warn, error`,
		},
		"the example's address": {
			swap: [2]string{"https://matrix.example.org", "https://matrix.example.com"},
			want: `config.yaml:2: homeserver.address: is still the example's; write where multis reaches your homeserver, such as http://127.0.0.1:8008`,
		},
		"the example's domain and owner": {
			swap: [2]string{`"@you:example.org"`, `"@you:example.com"`},
			env:  map[string]string{"MULTIS_HOMESERVER_DOMAIN": "example.com", "MULTIS_OWNER": "@ann:example.com"},
			want: `environment MULTIS_HOMESERVER_DOMAIN: homeserver.domain: is still the example's; write what stands after the colon in your Matrix id`,
		},
		"a model's server without its scheme": {
			add:  "llm: {base_url: localhost}\n",
			want: `config.yaml:10: llm.base_url: is not a web address; write it like http://localhost:11434/v1`,
		},
		"an address without its scheme": {
			swap: [2]string{"https://matrix.example.org", "matrix.example.org"},
			want: `config.yaml:2: homeserver.address: is not a web address; write it like https://matrix.example.com`,
		},
		"a domain that is an address": {
			swap: [2]string{"domain: example.org", "domain: https://example.org"},
			want: `config.yaml:3: homeserver.domain: "https://example.org" is not a server name; write what stands after the colon in your Matrix id, such as example.com`,
		},
		"a bot's whole id": {
			swap: [2]string{"appservice:\n", "appservice:\n  bot: {username: \"@multis:example.org\"}\n"},
			want: `config.yaml:5: appservice.bot.username: "@multis:example.org" is not the first half of a Matrix id; write small letters, digits or ._=-/ without @`,
		},
		"a registration id with spaces": {
			swap: [2]string{"appservice:\n", "appservice:\n  id: my multis\n"},
			want: `config.yaml:5: appservice.id: "my multis" is not a plain word; write small letters, digits, dot, dash or underscore`,
		},
		"an interface that is a web address": {
			swap: [2]string{"appservice:\n", "appservice:\n  hostname: http://0.0.0.0\n"},
			want: `config.yaml:5: appservice.hostname: "http://0.0.0.0" is not an address to listen on; write 127.0.0.1, or 0.0.0.0 for every interface`,
		},
		"a name in brackets": {
			add:  "name: \"[Nora]\"\n",
			want: `config.yaml:10: name: "[Nora]" is not a name; write letters, without brackets, such as Nora`,
		},
		"a name of one letter": {
			add:  "name: N\n",
			want: `config.yaml:10: name: has a length of 1; write 2 to 100 characters`,
		},
		"a name over two lines": {
			add:  "name: \"No\\nra\"\n",
			want: `config.yaml:10: name: has line breaks, control characters or spaces around it; write one plain line`,
		},
		"a name that is shown as another": {
			add:  "name: \"N\\u202eora\"\n",
			want: `config.yaml:10: name: has invisible characters or marks of the writing direction; write it without them`,
		},
		"a greeting that is a speech": {
			add:  "business: {greeting: " + strings.Repeat("ha", 300) + "}\n",
			want: `config.yaml:10: business.greeting: is 600 characters long; write at most 500`,
		},
		"a blank greeting": {
			add:  "business: {greeting: \" \"}\n",
			want: `config.yaml:10: business.greeting: is empty; write a text, or leave the key out`,
		},
		"a question back without the two things": {
			add:  "business: {greeting: ~, escalation: {text: \"\"}, texts: {de: {clarify: \"{first}?\"}}}\n",
			want: `config.yaml:10: business.texts.de.clarify: does not name the two things; write {first} and {second} where they go`,
		},
		"an away text without the opening": {
			add:  "business: {greeting: ~, escalation: {text: \"\"}, texts: {de: {away: Wir haben zu.}}}\n",
			want: `config.yaml:10: business.texts.de.away: does not say when you open again; write {opening} where that goes`,
		},
		"a text in an unknown language": {
			add:  "business: {texts: {xx: {greeting: Hm}}}\n",
			want: `config.yaml:10: business.texts.xx: "xx" is not known here; write one of: en, de, fr, es, pt, it, nl, ru, tr, ar`,
		},
		"hours that are none": {
			add:  "business: {hours: [mon-fri 9-25]}\n",
			want: `config.yaml:10: business.hours[0]: cannot be read: there is no time 25:00`,
		},
		"a holiday that is none": {
			add:  "business: {hours: [mon-fri 9-17], holidays: [Christmas]}\n",
			want: `config.yaml:10: business.holidays[0]: "Christmas" is not a holiday; write it like 2026-12-25 or 2026-12-24..2027-01-02`,
		},
		"a calendar that is none": {
			add:  "business: {hours: [mon-fri 9-17], holiday_calendar: testdata/rules.yaml}\n",
			want: `config.yaml:10: business.holiday_calendar: cannot be read: this is no calendar in iCalendar form: malformed calendar; expected begin`,
		},
		"an answer outside of no hours": {
			add:  "business: {outside_hours: away}\n",
			want: `config.yaml:10: business.outside_hours: has no effect without business.hours; write them, such as [mon-fri 9-18, sat 10-14]`,
		},
		"the former name of a text": {
			add:  "business: {handover: One moment.}\n",
			want: `config.yaml:10: business.handover: unknown key; it is called business.escalation.text here: the same text`,
		},
		"an empty folder": {
			add:  "documents: {folder: \"\"}\n",
			want: `config.yaml:10: documents.folder: is not a path; write one, absolute or relative`,
		},
		"a model without a provider": {
			add:  "llm: {model: gpt-5}\n",
			want: `config.yaml:10: llm.model: "gpt-5" is not a model; write none, PROVIDER/NAME such as anthropic/claude-haiku-4-5, or a strategy such as cheap_first`,
		},
		"a strategy without models": {
			add:  "llm: {model: cheap_first}\n",
			want: `config.yaml:10: llm.model: is a strategy without models; write them as a list into llm.strategies.cheap_first`,
		},
		"a strategy with a model that is none": {
			add:  "llm:\n  strategies:\n    custom:\n      - gpt-5\n",
			want: `config.yaml:13: llm.strategies.custom[0]: "gpt-5" is not a model; write PROVIDER/NAME such as anthropic/claude-haiku-4-5`,
		},
		"a strategy with the key of one": {
			add:  "llm: {model: custom, api_key: k, strategies: {custom: [openai/gpt-5]}}\n",
			want: `config.yaml:10: llm.model: names several models, and base_url, api_key and local beside it are for one; write them into llm.providers`,
		},
		"a key in two places": {
			add:  "llm: {model: openai/gpt-5, api_key: k, providers: {openai: {api_key: l}}}\n",
			want: `config.yaml:10: llm.model: has its base_url or api_key both here and in llm.providers.openai; keep one of the two`,
		},
		"a provider of a type nobody knows": {
			add:  "llm: {providers: {desk: {type: grpc}}}\n",
			want: `config.yaml:10: llm.providers.desk.type: "grpc" is not known here; write one of: anthropic, openai, gemini`,
		},
		"half a price": {
			add:  "llm:\n  prices: [openai/gpt-5 1 0]\n",
			want: `config.yaml:11: llm.prices: has a zero price for openai/gpt-5; write what a million tokens cost, for both input and output`,
		},
		"a shortcut that means nothing": {
			add:  "shortcuts: [stop]\n",
			want: `config.yaml:10: shortcuts[0]: "stop" is not a shortcut; write words and the command that they mean, such as stop everything => /pause all`,
		},
		"a shortcut that cannot be read": {
			add:  "shortcuts: [\"( => /pause all\"]\n",
			want: `config.yaml:10: shortcuts[0]: "(" is not a regular expression; write one of RE2's, or plain words`,
		},
		"a price of one amount": {
			add:  "llm:\n  prices: [openai/gpt-5 1]\n",
			want: `config.yaml:11: llm.prices[0]: "openai/gpt-5 1" is not a price; write the model and what a million tokens cost in and out, such as openai/gpt-5-mini 0.25 2.00`,
		},
		"a price that is none": {
			add:  "llm:\n  prices: [openai/gpt-5 cheap 2]\n",
			want: `config.yaml:11: llm.prices[0]: "cheap" is not an amount of money; write it like 2.50, with at most 6 decimals`,
		},
		"a cap that does something nobody knows": {
			add:  "budget: {at_cap: stop}\n",
			want: `config.yaml:10: budget.at_cap: "stop" is not known here; write one of: documents, escalate`,
		},
		"a model for vectors that nobody serves": {
			add:  "embeddings: {model: voyage/large}\n",
			want: `config.yaml:10: embeddings.model: "voyage/large" is not a model; write none, openai/NAME for any OpenAI-compatible server, or ollama/NAME`,
		},
		"a paid model for vectors without its price": {
			add:  "embeddings: {model: openai/text-embedding-3-small, api_key: k}\n",
			want: `config.yaml:10: embeddings.price_per_mtok: is missing for a paid model; write what a million tokens cost, or embeddings.local: true if they cost nothing`,
		},
		"OpenAI's vectors without a key": {
			add:  "embeddings: {model: openai/text-embedding-3-small, price_per_mtok: 0.02}\n",
			want: `config.yaml:10: embeddings.api_key: is missing; write the key, or embeddings.base_url if you run a server that wants none`,
		},
		"a paid transcriber without its price": {
			add:  "speech: {model: openai/whisper-1, api_key: k}\n",
			want: `config.yaml:10: speech.price_per_minute: is missing for a paid model; write what a minute costs, or speech.local: true if it costs nothing`,
		},
		"a key of many letters and lines": {
			add:  "\"" + strings.Repeat("long\\n", 100) + "\": 1\n",
			want: `config.yaml:10: ` + strings.Repeat("long ", 24) + `…: unknown key; known here: homeserver, appservice, owner, operators, operators_answer, time_zone, name, database, backup, llm, embeddings, speech, media, budget, heartbeat, chats, business, documents, skills, tasks, shortcuts, memory, audit, mcp_server, injection, exec, safe_mode, watches, logging, tools, policy, hooks, command_hooks, mcp, agents`,
		},
		"a database that is not Postgres": {
			add:  "database: {url: mysql://h/d}\n",
			want: `config.yaml:10: database.url: is not a Postgres address; write it like postgres://multis@localhost/multis, with a colon and the password behind the name (special characters in it as %XX), or leave it empty`,
		},
		"a secret file that is not there": {
			add:  "llm:\n  api_key_file: /nowhere/key\n",
			want: `config.yaml:11: llm.api_key_file: is not readable: no such file or directory; write the path of a file that multis may read`,
		},
		"a secret file that is a folder": {
			add:  "llm: {api_key_file: .}\n",
			want: `config.yaml:10: llm.api_key_file: is not a plain file; write the path of a file with only the secret in it`,
		},
		"a secret file that never ends": {
			add:  "llm: {api_key_file: /dev/zero}\n",
			want: `config.yaml:10: llm.api_key_file: is not a plain file; write the path of a file with only the secret in it`,
		},
		"a secret and its file": {
			swap: [2]string{"  as_token: as-secret\n", "  as_token: as-secret\n  as_token_file: as\n"},
			want: `config.yaml:7: appservice.as_token_file: is set, and so is as_token; keep one of the two`,
		},
		"a bad value in the environment": {
			env:  map[string]string{"MULTIS_LLM_TIMEOUT": "soon"},
			want: `environment MULTIS_LLM_TIMEOUT: llm.timeout: "soon" is not a length of time; write it like 30s, 10m or 1h30m`,
		},
		"a bad item in the environment": {
			env:  map[string]string{"MULTIS_OPERATORS": "@ann:example.org,bob"},
			want: `environment MULTIS_OPERATORS: operators: "bob" is not a Matrix id; write it like "@you:example.com"`,
		},
		"a foreign owner from the environment": {
			env:  map[string]string{"MULTIS_OWNER": "@you:matrix.org"},
			want: `environment MULTIS_OWNER: owner: is not a user of example.org; write the id you have there, or correct homeserver.domain`,
		},
		"a second document": {
			add:  "---\nname: Ada\n",
			want: `config.yaml:10: a second document starts here and would be ignored; remove the line with ---`,
		},
		"an id without its quotes": {
			swap: [2]string{`"@you:example.org"`, "@you:example.org"},
			want: `config.yaml:8: is not YAML: found character that cannot start any token; a value that begins with @ or a special character needs quotes, and lines are indented by spaces, not tabs`,
		},
		"a text with a colon and without quotes": {
			add:  "name: Nora: the first\n",
			want: `config.yaml:10: is not YAML: mapping values are not allowed in this context; a value that holds ": " needs quotes, and keys of one section start in the same column`,
		},
		"a value that begins with a star": {
			swap: [2]string{"as-secret", "*secret"},
			want: `config.yaml:1: is not YAML: a value begins with *; put it in quotes`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := least + c.add
			if c.swap[0] != "" {
				require.Contains(t, data, c.swap[0])
				data = strings.Replace(data, c.swap[0], c.swap[1], 1)
			}
			got, err := Parse("config.yaml", []byte(data), envOf(c.env))
			require.Nil(t, got)
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Equal(t, c.want, lines[0])
			require.Equal(t, c.want, policy.Redact(c.want), "its advice is hidden where it is printed")
			require.Len(t, lines, 1, "one mistake, one line")
		})
	}
}
