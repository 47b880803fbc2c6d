package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"maunium.net/go/mautrix/id"

	"multis/business/catalog"
	"multis/business/hours"
	"multis/policy"
	"multis/policy/rules"
)

// least has what is required and nothing else.
const least = `homeserver:
  address: https://matrix.example.org
  domain: example.org
appservice:
  sender_localpart: as_multis_7hq2c9xk
  as_token: as-secret
  hs_token: hs-secret
owner: "@you:example.org"
time_zone: Europe/Berlin
`

func noEnv(string) (string, bool) { return "", false }

func envOf(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := variables[name]
		return text, ok
	}
}

func parse(t *testing.T, data string) *Config {
	t.Helper()
	c, err := Parse("config.yaml", []byte(data), noEnv)
	require.NoError(t, err)
	c.places = places{} // which a Config that a test writes down has not
	return c
}

func TestParse_SecretFileBesideEmptyValue(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte("from-the-file\n"), 0o600))
	for _, lines := range []string{"  api_key: \"\"\n  api_key_file: " + key + "\n", "  api_key_file: " + key + "\n  api_key: \"\"\n"} {
		t.Run(lines, func(t *testing.T) {
			require.Equal(t, "from-the-file", parse(t, least+"llm:\n"+lines).LLM.APIKey.Value())
		})
	}
}

func TestParse_RequiredKeysSuffice(t *testing.T) {
	t.Parallel()
	c := parse(t, least)
	require.Equal(t, "https://matrix.example.org", c.Homeserver.Address)
	require.Equal(t, "example.org", c.Homeserver.Domain)
	require.Equal(t, id.UserID("@you:example.org"), c.Owner)
	require.Equal(t, "Europe/Berlin", c.TimeZone.String())
	require.Equal(t, "as-secret", c.Appservice.ASToken.Value())
	require.Equal(t, "hs-secret", c.Appservice.HSToken.Value())
	require.Equal(t, "http://127.0.0.1:29399", c.Appservice.Address, "follows the port")
	require.Equal(t, NoModel, c.LLM.Model)
	require.Equal(t, policy.ProfilePersonal, c.Chats.Profile)
	require.Equal(t, "2.00", c.Budget.PerDay.String())
	require.Equal(t, filepath.Join("data", "documents"), c.Documents.Folder)
}

func TestAgents_FoldersAreAbsolute(t *testing.T) {
	t.Parallel()
	c := parse(t, least+"agents: {shop: {read_paths: [prices]}}\n")
	folder, err := filepath.Abs(".")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(folder, "data/agents/shop"), c.Agents["shop"].Workspace)
	require.Equal(t, []string{filepath.Join(folder, "prices")}, c.Agents["shop"].ReadPaths)
}

// everything sets each key to something else than its default.
const everything = `homeserver: {address: "https://matrix.other.org/", domain: other.org}
appservice:
  address: http://multis:8080/
  hostname: 0.0.0.0
  port: 8080
  id: multis-2
  bot: {username: nora, displayname: Nora (assistant)}
  sender_localpart: as_other
  as_token: as-other
  hs_token: hs-other
owner: "@me:other.org"
operators: ["@ann:other.org", "@bob:elsewhere.org"]
operators_answer: true
time_zone: America/Lima
name: Ada Lovelace
database: {url: "postgres://multis:pw@localhost:6432/multis", direct: "postgres://multis:pw@localhost/multis", connections: 12, data_dir: /var/lib/multis}
backup: {every: off, folder: /backups, keep: 3, max_mb: 10}
llm:
  model: openai/meta-llama/llama-4
  base_url: http://localhost:11434/v1/
  api_key: key
  timeout: 1m30s
  local: true
  providers:
    anthropic: {api_key: other-key}
    desk: {type: gemini, base_url: "http://desk:8000/", local: true}
  strategies:
    cheap_first: [ollama/qwen3:8b, desk/small]
    fast_first: [groq/a]
    powerful_first: [anthropic/b, openai/c]
    offline_first: [ollama/d]
    custom: [openai/e]
  prices: [openai/meta-llama/llama-4 0.15 0.000001, desk/small 1 2 0.5 3]
  max_tokens: 2048
  context: [desk/small 16384]
  small: [ollama/qwen3:4b]
  rounds: 6
  answer_timeout: 20m
  unattended_timeout: 30m
embeddings: {model: ollama/nomic-embed-text, base_url: "http://localhost:11434/v1", api_key: embed-key, dimensions: 256, price_per_mtok: 0.02, local: true}
speech: {model: openai/whisper-1, base_url: http://localhost:8000/v1, api_key: key, timeout: 30s, price_per_minute: 0.006, local: true}
vision: {model: anthropic/claude-haiku-4-5}
answers: {judge: desk/small}
media: {keep: voice, max_mb: 10, max_days: 7}
budget: {per_day: 0, per_chat_day: 12, per_agent_day: 1, per_run: 2, at_cap: escalate, per_dollar: 4.05, currency: PLN}
chats:
  profile: business
  first_delivery: auto
  reply_max_age: 1h
  admin_pause_minutes: 0
  delete_answers: true
  burst_quiet: 500ms
  burst_max: 20s
  contact_caps: {per_minute: 1, per_day: 2}
  labels:
    vip: {networks: [whatsapp], names: [ACME*], words: [lawyer], mode: silent, delivery: draft}
    weekend: {hours: [sat 9-12], follow_up_days: off, ask_rating: true}
  networks:
    whatsapp: {mode: silent}
    signal: {disclosure: false}
business:
  name: Piano House
  topics: [prices]
  rules: ["Prices include tax, always"]
  tone: brief
  pages: ["https://piano.org/help"]
  greeting: |
    Hi,
    what can I do?
  escalation: {keywords: [], text: One moment., claim_within: off, on_call: ["@bob:elsewhere.org"], room: true}
  language: de
  texts: {fr: {greeting: Salut, away: "Revenez {opening}.", clarify: "{first} ou {second} ?", follow_up: "Alors ?", rating: "👍 ou 👎 ?"}}
  hours: [mon-fri 9-18]
  holidays: [2026-12-25]
  holiday_calendar: testdata/holidays.ics
  outside_hours: away
  follow_up_days: 3
  ask_rating: true
documents: {folder: /srv/shelf, unidoc_key: "0123456789abcdef"}
hooks:
  desk: {url: "https://example.org/x?y=z", events: [escalation, index], secret: "twenty-four characters at least", private: true}
agents:
  sales: {name: Sam, theme: brief, emoji: "👀", avatar: "mxc://x/y", instructions: Know the shop., mentions: [shop], allow: ["search_*"], deny: [fetch_url], model: desk/small, api_key: agents-key, skills: [files], can: [prices], delegates: ["*"], workspace: desk,
    read_paths: [/srv/a], rooms: ["!r:x"], senders: ["@a:x"], spaces: ["!s:x"], accounts: [l1], networks: [whatsapp], modes: [business], default: true}
skills: {folder: /srv/skills}
tasks: {folder: /srv/tasks}
shortcuts: ["stop (all|everything) => /pause all"]
safe_mode: {after_crashes: 5}
command_hooks: {guard: {command: [python3, guard.py], before: [tool, send], tools: ["exec*"], events: [escalation]}}
monitors: {shop: {url: "https://shop.example.org/", private: true, status: [200-299], certificate_days: 14, contains: ok, lacks: error, every: 2m, timeout: 5s, failures: 3, cooldown: 1h, room: operators}, disk: {command: [df, /], read_paths: [/srv/logs]}}
mcp: {github: {command: [gh, stdio], folder: gh, pass_env: [TOKEN], env: {GH_HOST: gh.example.org}, token: gh-token, timeout: 5s, allow: [a], read: [b], pin: [c]}, far: {url: "http://far/mcp", headers: {X-Key: "file:testdata/token"}, login: true, client_id: us, client_secret: our-secret}}
mcp_server: {hostname: 0.0.0.0, port: 8082, token: twenty-four-characters-or-more}
memory: {capture_threshold: 30, capture_quiet: 2h, capture_minimum: 3, capture_skill: /srv/skill.md, memory_max_sections: 5, recent_window: 8, search_messages: false, retention_days: 10, admin_retention_days: 20, log_retention_days: 5}
audit: {retention_days: 7}
heartbeat: {enabled: true, every: 2h, active_from: 9, active_until: 18, checklist: [angry customers], checks_per_day: 2, tasks: true, drafts: true, per_day: 0.10}
exec: {enabled: true, write_files: true}
injection: {enabled: false, judge: true, max_flags: 5, hold_time: 12h}
watches: {hostname: 0.0.0.0, port: 8081, address: "https://hooks.example.org/"}
ops: {listen: "127.0.0.1:29400", web: "https://multis.example.com/"}
traces: {endpoint: "http://127.0.0.1:4318/", authorization: Bearer abc}
logging: {level: debug, format: json, file: logs/multis.log}
tools: {deny: [remember]}
policy: {file: testdata/rules.yaml, rules: [{tool: fetch_url, decision: deny}]}
`

func TestKeys_AreAllRead(t *testing.T) {
	t.Parallel()
	c := parse(t, everything)
	lima, err := time.LoadLocation("America/Lima")
	require.NoError(t, err)
	christmas, err := hours.ParseDays("2026-12-25")
	require.NoError(t, err)
	newYear, err := hours.ParseDays("2027-01-01")
	require.NoError(t, err)
	yes := true
	require.Equal(t, &Config{
		Homeserver: Homeserver{Address: "https://matrix.other.org", Domain: "other.org"},
		Appservice: Appservice{
			Address: "http://multis:8080", Hostname: "0.0.0.0", Port: 8080, ID: "multis-2",
			Bot:             Bot{Username: "nora", DisplayName: "Nora (assistant)"},
			SenderLocalpart: "as_other", ASToken: "as-other", HSToken: "hs-other",
		},
		Owner:           "@me:other.org",
		OperatorsAnswer: true,
		Operators:       []id.UserID{"@ann:other.org", "@bob:elsewhere.org"},
		TimeZone:        lima,
		Name:            "Ada Lovelace",
		Database: Database{
			URL: "postgres://multis:pw@localhost:6432/multis", Direct: "postgres://multis:pw@localhost/multis",
			Connections: 12, DataDir: "/var/lib/multis",
		},
		Backup: Backup{Folder: "/backups", Keep: 3, MaxMB: 10},
		Embeddings: Embeddings{
			Model: "ollama/nomic-embed-text", BaseURL: "http://localhost:11434/v1", APIKey: "embed-key", Dimensions: 256, PricePerMTok: 20_000,
			Local: true,
		},
		LLM: LLM{
			Model: "openai/meta-llama/llama-4", BaseURL: "http://localhost:11434/v1", APIKey: "key", Timeout: 90 * time.Second,
			Local: true, Providers: map[string]Provider{
				"anthropic": {APIKey: "other-key"}, "desk": {Type: "gemini", BaseURL: "http://desk:8000", Local: true},
			},
			Strategies: Strategies{
				CheapFirst: []string{"ollama/qwen3:8b", "desk/small"}, FastFirst: []string{"groq/a"},
				PowerfulFirst: []string{"anthropic/b", "openai/c"},
				OfflineFirst:  []string{"ollama/d"}, Custom: []string{"openai/e"},
			},
			Prices: []Price{
				{Model: "openai/meta-llama/llama-4", In: 150_000, Out: 1},
				{Model: "desk/small", In: 1_000_000, Out: 2_000_000, CacheRead: 500_000, CacheWrite: 3_000_000},
			},
			MaxTokens: 2048, Contexts: []ContextWindow{{Model: "desk/small", Tokens: 16_384}}, Small: []string{"ollama/qwen3:4b"}, Rounds: 6,
			AnswerTimeout: 20 * time.Minute, UnattendedTimeout: 30 * time.Minute,
		},
		Budget: Budget{
			PerDay: 0, PerChatDay: 12_000_000, PerAgentDay: 1_000_000, PerRun: 2_000_000, AtCap: AtCapEscalate, Currency: "PLN",
			PerDollar: 4_050_000,
		},
		Media:  Media{Keep: policy.KeepVoice, MaxMB: 10, MaxDays: 7},
		Vision: Vision{Model: "anthropic/claude-haiku-4-5"},
		Speech: Speech{
			Model: "openai/whisper-1", BaseURL: "http://localhost:8000/v1", APIKey: "key", Timeout: 30 * time.Second, PricePerMinute: 6000,
			Local: true,
		},
		Chats: Chats{
			Profile: policy.ProfileBusiness, FirstDelivery: policy.DeliveryAuto, ReplyMaxAge: time.Hour, OwnerPause: 0, DeleteAnswers: true,
			BurstQuiet: 500 * time.Millisecond, BurstMax: 20 * time.Second,
			ContactCaps: ContactCaps{PerMinute: 1, PerDay: 2},
			Labels: []Label{{
				Name: "vip", Networks: []string{"whatsapp"}, Names: []string{"ACME*"}, Words: []string{"lawyer"}, Mode: policy.ModeSilent,
				Delivery: policy.DeliveryDraft,
			}, {Name: "weekend", Hours: []string{"sat 9-12"}, FollowUpDays: new(int), AskRating: &yes}},
			Networks: map[string]Network{"whatsapp": {Mode: policy.ModeSilent, Disclosure: true}, "signal": {}},
		},
		Business: Business{
			Name: "Piano House", Topics: []string{"prices"}, Rules: []string{"Prices include tax, always"}, Tone: "brief",
			Pages:    []string{"https://piano.org/help/"},
			Greeting: "Hi,\nwhat can I do?\n", Escalation: Escalation{
				Keywords: []string{}, OnCall: []id.UserID{"@bob:elsewhere.org"},
				Text: "One moment.", Room: true,
			}, Language: catalog.German,
			Texts: map[catalog.Lang]Texts{catalog.French: {
				Greeting: "Salut", Away: "Revenez {opening}.", Clarify: "{first} ou {second} ?",
				FollowUp: "Alors ?", Rating: "👍 ou 👎 ?",
			}}, Hours: []string{"mon-fri 9-18"},
			Holidays: []hours.Days{christmas}, HolidayCalendar: "testdata/holidays.ics", OutsideHours: OutsideHoursAway, FollowUpDays: 3,
			AskRating: true, CalendarHolidays: []hours.Days{newYear},
		},
		Documents: Documents{Folder: "/srv/shelf", UnidocKey: "0123456789abcdef"},
		Hooks: map[string]Hook{"desk": {
			URL: "https://example.org/x?y=z", Events: []policy.HookEvent{"escalation", "index"}, Secret: "twenty-four characters at least",
			Private: true,
		}},
		Agents: map[string]Agent{"sales": {
			Name: "Sam", Theme: "brief", Emoji: "👀", Avatar: "mxc://x/y", Instructions: "Know the shop.", Mentions: []string{"shop"},
			Allow: []string{"search_*"}, Deny: []string{"fetch_url"},
			Model: "desk/small", APIKey: "agents-key", Skills: []string{"files"}, Capabilities: []string{"prices"}, Delegates: []string{"*"},
			Workspace: "/var/lib/multis/desk", ReadPaths: []string{"/srv/a"}, Rooms: []string{"!r:x"}, Senders: []string{"@a:x"},
			Spaces: []string{"!s:x"}, Logins: []string{"l1"},
			Networks: []string{"whatsapp"}, Modes: []policy.Mode{policy.ModeBusiness}, Default: true, Heartbeat: defaultHeartbeat(),
		}},
		CommandHooks: map[string]CommandHook{"guard": {
			Command: []string{"python3", "guard.py"}, Before: []string{BeforeTool, BeforeSend}, Tools: []string{"exec*"},
			Events: []policy.HookEvent{policy.HookEscalation},
		}},
		Monitors: map[string]Monitor{
			"shop": {
				URL:             "https://shop.example.org/",
				Private:         true,
				Status:          []StatusRange{{200, 299}},
				CertificateDays: 14,
				Contains:        "ok",
				Lacks:           "error",
				Every:           2 * time.Minute,
				Timeout:         5 * time.Second,
				Failures:        3,
				Cooldown:        time.Hour,
				Room:            MonitorOperators,
			},
			"disk": {
				Command:   []string{"df", "/"},
				ReadPaths: []string{"/srv/logs"},
				Every:     time.Minute,
				Timeout:   10 * time.Second,
				Failures:  2,
				Cooldown:  5 * time.Minute,
				Room:      MonitorAdmin,
			},
		},
		Skills: Skills{Folder: "/srv/skills"}, Tasks: Tasks{Folder: "/srv/tasks"},
		Shortcuts: []Shortcut{{Pattern: "stop (all|everything)", Command: "/pause all"}},
		MCP: map[string]MCP{
			"github": {
				Command: []string{"gh", "stdio"}, Folder: "/var/lib/multis/gh", PassEnv: []string{"TOKEN"},
				Env: map[string]Secret{"GH_HOST": "gh.example.org"}, Token: "gh-token", Timeout: 5 * time.Second,
				Allow: []string{"a"}, Read: []string{"b"}, Pin: []string{"c"},
			},
			"far": {
				URL: "http://far/mcp", Headers: map[string]Secret{"X-Key": "gh-token"}, Folder: "/var/lib/multis", Login: true, ClientID: "us",
				ClientSecret: "our-secret",
			},
		},
		MCPServer: MCPServer{Hostname: "0.0.0.0", Port: 8082, Token: "twenty-four-characters-or-more"},
		Heartbeat: Heartbeat{
			Enabled: true, Every: 2 * time.Hour, ActiveFrom: 9, ActiveUntil: 18, Checklist: []string{"angry customers"},
			ChecksPerDay: 2, Tasks: true, Drafts: true, PerDay: 100_000,
		},
		Memory: Memory{
			CaptureThreshold: 30, CaptureQuiet: 2 * time.Hour, CaptureMinimum: 3, CaptureSkill: "/srv/skill.md", MaxSections: 5, RecentWindow: 8,
			RetentionDays: 10, OwnerRetentionDays: 20, LogRetentionDays: 5,
		},
		Audit:     Audit{RetentionDays: 7},
		Exec:      Exec{Enabled: true, WriteFiles: true},
		Answers:   Answers{Judge: "desk/small"},
		Injection: Injection{Judge: true, MaxFlags: 5, HoldTime: 12 * time.Hour},
		SafeMode:  SafeMode{AfterCrashes: 5},
		Watches:   WebhookListener{Hostname: "0.0.0.0", Port: 8081, Address: "https://hooks.example.org"},
		Traces:    Traces{Endpoint: "http://127.0.0.1:4318", Authorization: "Bearer abc"},
		Ops:       Ops{Listen: "127.0.0.1:29400", Web: "https://multis.example.com"},
		Tools:     Tools{Deny: []string{"remember"}},
		Policy: Policy{Rules: []rules.Rule{{
			File: c.Policy.Rules[0].File, Line: c.Policy.Rules[0].Line, Tools: []string{"fetch_url"},
			Decision: rules.Deny,
		}}, File: "testdata/rules.yaml", FileRules: c.Policy.FileRules},
		Logging: Logging{Level: zerolog.DebugLevel, Format: FormatJSON, File: "logs/multis.log"},

		SecretFiles: []string{"testdata/token"},
	}, c)
	require.Equal(t, Network{Mode: policy.ModeSilent, Disclosure: true}, c.Chats.Network("whatsapp"))
	require.Equal(t, Network{Disclosure: true}, c.Chats.Network("telegram"), "a network nobody configured")
}

func TestEmoji_AcceptsFlagOfScotland(t *testing.T) {
	t.Parallel()
	const flag = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	require.Equal(t, flag, parse(t, least+"agents: {sales: {default: true, emoji: "+flag+"}}\n").Agents["sales"].Emoji)
}

func TestParse_ProblemNamesPlace(t *testing.T) {
	t.Parallel()
	c, err := Parse("config.yaml", []byte("# mine\nname: Nora\n"+least), noEnv)
	require.NoError(t, err)
	require.EqualError(t, c.Problem("name", "is\ntaken"), "config.yaml:2: name: is taken")
	require.EqualError(t, c.Problem("llm.model", "is odd"), "config.yaml:1: llm.model: is odd", "not in the file")
}

// A field that no key sets could not be changed by anybody.
func TestFields_HaveKeys(t *testing.T) {
	t.Parallel()
	was, is := leafFields(reflect.ValueOf(*defaults())), leafFields(reflect.ValueOf(*parse(t, everything)))
	for name := range is {
		require.NotEqual(t, was[name], is[name], name)
	}
}

// leafFields returns the fields that are not structs, by their paths.
func leafFields(v reflect.Value) map[string]any {
	found := map[string]any{}
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if v.Field(i).Kind() != reflect.Struct {
			found[name] = v.Field(i).Interface()
			continue
		}
		for inner, value := range leafFields(v.Field(i)) {
			found[name+"."+inner] = value
		}
	}
	return found
}

func TestPaths_RelativeToFile(t *testing.T) {
	t.Parallel()
	c, err := Parse("/etc/multis/config.yaml", []byte(least+"logging: {file: multis.log}\n"), noEnv)
	require.NoError(t, err)
	require.Equal(t, "/etc/multis/data", c.Database.DataDir)
	require.Equal(t, "/etc/multis/data/documents", c.Documents.Folder)
	require.Equal(t, "/etc/multis/multis.log", c.Logging.File)
}

func TestParse_EmptyKeyKeepsDefault(t *testing.T) {
	t.Parallel()
	require.Equal(t, parse(t, least), parse(t, least+"name:\nchats:\nbusiness:\n  greeting: ~\n"))
}

func TestEnvironment_OverridesFile(t *testing.T) {
	t.Parallel()
	c, err := Parse("config.yaml", []byte(least+"operators: [\"@ann:example.org\"]\nname: Ada\n"), envOf(map[string]string{
		"MULTIS_APPSERVICE_AS_TOKEN":           "from-env",
		"MULTIS_OPERATORS":                     "@bob:example.org, @eve:example.org",
		"MULTIS_CHATS_CONTACT_CAPS_PER_MINUTE": "3",
		"MULTIS_NAME":                          "", // compose passes on what is not set as empty
	}))
	require.NoError(t, err)
	require.Equal(t, "from-env", c.Appservice.ASToken.Value())
	require.Equal(t, []id.UserID{"@bob:example.org", "@eve:example.org"}, c.Operators)
	require.Equal(t, 3, c.Chats.ContactCaps.PerMinute)
	require.Equal(t, "Ada", c.Name)
}

func TestEnvironment_AloneSuffices(t *testing.T) {
	t.Parallel()
	c, err := Parse("config.yaml", nil, envOf(map[string]string{
		"MULTIS_HOMESERVER_ADDRESS": "https://matrix.example.org", "MULTIS_HOMESERVER_DOMAIN": "example.org",
		"MULTIS_APPSERVICE_SENDER_LOCALPART": "as_multis_7hq2c9xk", "MULTIS_APPSERVICE_AS_TOKEN": "as-secret",
		"MULTIS_APPSERVICE_HS_TOKEN": "hs-secret", "MULTIS_OWNER": "@you:example.org", "MULTIS_TIME_ZONE": "Europe/Berlin",
	}))
	require.NoError(t, err)
	c.places = places{}
	require.Equal(t, parse(t, least), c)
}

func TestSecrets_ComeFromFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "as"), []byte("in-a-file\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "hs"), []byte("in-another\r\n"), 0o600))
	data := strings.Replace(least, "as_token: as-secret", "as_token_file: as", 1)

	c, err := Parse(filepath.Join(dir, "config.yaml"), []byte(data), envOf(map[string]string{
		"MULTIS_APPSERVICE_HS_TOKEN_FILE": filepath.Join(dir, "hs"),
	}))
	require.NoError(t, err)
	require.Equal(t, "in-a-file", c.Appservice.ASToken.Value(), "a relative path starts at the configuration's folder")
	require.Equal(t, "in-another", c.Appservice.HSToken.Value(), "a file named by the environment replaces a token in config.yaml")
}

func TestLoad_ExplainsMissingFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	_, err := Load(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "multis -e writes an example")

	require.NoError(t, os.WriteFile(path, []byte(least), 0o600))
	c, err := Load(path)
	require.NoError(t, err)
	require.Equal(t, id.UserID("@you:example.org"), c.Owner)
}

func TestSecret_IsNeverPrinted(t *testing.T) {
	t.Parallel()
	c := parse(t, least+"database: {url: 'postgres://u:db-secret@h/d'}\nllm: {api_key: llm-secret}\n")
	var logged strings.Builder
	logger := zerolog.New(&logged)
	logger.Info().Interface("config", c).Stringer("token", c.Appservice.ASToken).Any("as", c.Appservice).Msg("loaded")
	asJSON, err := json.Marshal(c)
	require.NoError(t, err)
	asYAML, err := yaml.Marshal(c.Appservice)
	require.NoError(t, err)
	wrapped := fmt.Errorf("with %w and %v", errors.New("cause"), c.Database)

	printed := []string{logged.String(), string(asJSON), string(asYAML), wrapped.Error(), c.LLM.APIKey.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		printed = append(printed, fmt.Sprintf(verb, *c), fmt.Sprintf(verb, c.Appservice.ASToken))
	}
	for _, text := range printed {
		t.Run(text, func(t *testing.T) {
			require.NotContains(t, text, "secret")
			require.NotContains(t, text, fmt.Sprintf("%x", "secret"))
			require.NotContains(t, text, fmt.Sprintf("%X", "secret"))
		})
	}
	require.Contains(t, fmt.Sprintf("%v", *c), "…")
}

func TestModels_UsedFirstNamedOnce(t *testing.T) {
	t.Parallel()
	l := LLM{Model: FastFirst, Strategies: Strategies{CheapFirst: []string{"a/1", "b/2"}, FastFirst: []string{"b/2", "c/3"}}}
	require.Equal(t, []string{"b/2", "c/3", "a/1"}, l.AllModels())
	l.Model = "d/4"
	require.Equal(t, []string{"d/4", "a/1", "b/2", "c/3"}, l.AllModels())
	require.Empty(t, (&LLM{Model: NoModel}).AllModels())
}
