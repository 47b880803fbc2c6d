package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

// mistake is a configuration with one mistake, and the error that it gets. Lines 1 to 9 are those of least; what is added
// begins in line 10.
type mistake struct {
	add  string            // after least
	swap [2]string         // inside least
	env  map[string]string // beside both
	want string
}

// testMistakes checks that each mistake is explained in one line, which no output masks as a secret.
func testMistakes(t *testing.T, mistakes map[string]mistake) {
	t.Helper()
	for name, c := range mistakes {
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

func TestParse_ExplainsMistakesOfForm(t *testing.T) {
	t.Parallel()
	testMistakes(t, map[string]mistake{
		"an unknown key at the top": {
			add:  "timezone: UTC\n",
			want: `config.yaml:10: timezone: unknown key; did you mean "time_zone"?`,
		},
		"an unknown section": {
			add:  "chat:\n  profile: business\n",
			want: `config.yaml:10: chat: unknown key; did you mean "chats"?`,
		},
		"a key in the wrong section": {
			add:  "per_chat_day: 1\n",
			want: `config.yaml:10: per_chat_day: unknown key; did you mean "budget.per_chat_day"?`,
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
		"a port that cannot be": {
			swap: [2]string{"appservice:\n", "appservice:\n  port: 99999\n"},
			want: `config.yaml:5: appservice.port: "99999" is not possible here; write a whole number from 1 to 65535`,
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
		"a name with a letter of another alphabet": {
			add:  "name: N\u043era\n",
			want: `config.yaml:10: name: "Nоra" mixes Latin and Cyrillic letters in one word (о is Cyrillic), so nobody could type it; write each word in one alphabet`,
		},
		"a name of one letter": {
			add:  "name: N\n",
			want: `config.yaml:10: name: is 1 character long; write 2 to 100 characters`,
		},
		"a name over two lines": {
			add:  "name: \"No\\nra\"\n",
			want: `config.yaml:10: name: has line breaks, control characters or spaces around it; write one plain line`,
		},
		"a name that is shown as another": {
			add:  "name: \"N\\u202eora\"\n",
			want: `config.yaml:10: name: has invisible characters or marks of the writing direction; write it without them`,
		},
		"a key of many letters and lines": {
			add: "\"" + strings.Repeat("long\\n", 100) + "\": 1\n",
			want: `config.yaml:10: ` + strings.Repeat("long ", 24) +
				`…: unknown key; known here: homeserver, appservice, owner, operators, operators_answer, time_zone, name, database, backup, llm, embeddings, speech, vision, media, budget, heartbeat, chats, business, documents, skills, tasks, shortcuts, memory, audit, mcp_server, answers, injection, exec, safe_mode, watches, ops, traces, logging, tools, policy, hooks, command_hooks, monitors, mcp, agents`,
		},
		"a database that is not Postgres": {
			add:  "database: {url: mysql://h/d}\n",
			want: `config.yaml:10: database.url: is not a Postgres address; write it like postgres://multis@localhost/multis, with a colon and the password after the name (special characters in it as %XX), or leave it empty`,
		},
		"a secret and its file": {
			swap: [2]string{"  as_token: as-secret\n", "  as_token: as-secret\n  as_token_file: as\n"},
			want: `config.yaml:7: appservice.as_token_file: is set, and so is as_token; keep one of the two`,
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
		"a quote that is not closed": {
			add:  "time_zone: \"Europe/Vienna\nname: \"Nora\"\n",
			want: `config.yaml:10: is not YAML: did not find expected key; look for a missing colon, quote or wrong indentation in this line or the next`,
		},
		"a blank before a key": {
			add:  "name: Nora\n time_zone: UTC\nlogging:\n  level: info\n",
			want: `config.yaml:11: is not YAML: mapping values are not allowed in this context; a value that holds ": " needs quotes, and keys of one section start in the same column`,
		},
		"a value that begins with a star": {
			swap: [2]string{"as-secret", "*secret"},
			want: `config.yaml:1: is not YAML: a value begins with *; put it in quotes`,
		},
	})
}
