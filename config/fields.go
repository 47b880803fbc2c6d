package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"multis/business/catalog"
	"multis/policy"
	"multis/policy/rules"
)

// field is one key of the configuration.
type field struct {
	key   string             // full name, such as "llm.model"
	set   func(string) error // parses the text and stores it; its error says what is wrong and what to write
	clear func()             // empties a list before its items are set; nil for a key with a single value
	value func() any         // returns the current value in the Config
	// show returns the value as text, if it differs from what display writes; nil for most keys.
	show func() string
	// node reads the key's YAML if it is a list of sections; nil for other keys.
	node    func(file string, n *yaml.Node) []rules.ParseError
	example string // example value of a required key; empty for an optional key
	// entry returns the field of a name in a mapping whose names the user chooses; nil for other keys.
	entry        func(name string) (field, error)
	isSecret     bool // the value is a secret, or a reference to one
	isSecretFile bool // the value is the path of a file with a secret, but set gets the secret
}

// required makes a key required. The error about the missing key shows example.
func (f field) required(example string) field {
	f.example = example
	return f
}

// value returns the field of a key with a single value, stored in into.
func value[T any](key string, into *T, parse func(string) (T, error)) field {
	return field{
		key:      key,
		isSecret: reflect.TypeFor[T]() == reflect.TypeFor[Secret](),
		value:    func() any { return *into },
		set: func(text string) error {
			v, err := parse(text)
			if err == nil {
				*into = v
			}
			return err
		},
	}
}

// folder returns the field of a folder that has a default.
func folder(key string, into *string) field {
	usual := *into
	return value(key, into, func(text string) (string, error) {
		if text == "" {
			return "", fmt.Errorf("is empty; write a path, or leave the key out for the default, %s", usual)
		}
		return filePath(text)
	})
}

// inMinutes returns the field of a duration that is written as a whole number of minutes.
func inMinutes(key string, into *time.Duration) field {
	f := value(key, into, minutes)
	f.show = func() string { return strconv.Itoa(int(*into / time.Minute)) }
	return f
}

// durationOrOff returns the field of a duration that may also be off, which is stored as zero.
func durationOrOff(key string, into *time.Duration) field {
	f := value(key, into, orOff(positive))
	f.show = func() string {
		if *into == 0 {
			return "off"
		}
		return display(*into)
	}
	return f
}

// secretMap returns the field of a mapping of names to secrets, stored in into. checkName returns what is wrong with a name.
func secretMap(key string, into *map[string]Secret, checkName func(string) error) field {
	return field{
		key:   key,
		value: func() any { return *into },
		entry: func(name string) (field, error) {
			if *into == nil {
				*into = map[string]Secret{}
			}
			return field{key: key + "." + name, isSecret: true, set: func(text string) error {
				if text == "" || strings.ContainsFunc(text, unicode.IsControl) {
					return errors.New("is empty or has line ends; copy the secret again")
				}
				(*into)[name] = Secret(text)
				return nil
			}}, checkName(name)
		},
	}
}

// list returns the field of a list of values, stored in into.
func list[T any](key string, into *[]T, parse func(string) (T, error)) field {
	return field{
		key:   key,
		clear: func() { *into = []T{} },
		value: func() any { return *into },
		set: func(text string) error {
			v, err := parse(text)
			if err == nil {
				*into = append(*into, v)
			}
			return err
		},
	}
}

// fileSuffix is the suffix of keys that hold the path of a file with a secret.
const fileSuffix = "_file"

// secret returns the fields of the two keys for one secret: key has the value, key_file the path of a file with the value. Relative paths
// start at the folder of the configuration.
func secret(key string, into *Secret, parse func(string) (Secret, error)) [2]field {
	byFile := value(key+fileSuffix, into, parse)
	byFile.isSecret, byFile.isSecretFile = false, true
	return [2]field{value(key, into, parse), byFile}
}

// Placeholder values in example.yaml and in hints, for values that only the user knows.
const (
	exampleAddress = "https://matrix.example.com"
	exampleDomain  = "example.com"
	exampleOwner   = "@you:example.com"
)

// toGenerate is the example value of keys whose value is generated.
const toGenerate = Placeholder + ", and run multis -g"

// fields returns the fields of all keys with fixed names.
func (c *Config) fields() []field {
	return slices.Concat(c.serverFields(), c.modelFields(), c.chatFields(), c.policyFields())
}

// serverFields returns the fields about where multis runs, and for whom.
func (c *Config) serverFields() []field {
	asToken := secret("appservice.as_token", &c.Appservice.ASToken, token)
	hsToken := secret("appservice.hs_token", &c.Appservice.HSToken, token)
	databaseURL := secret("database.url", &c.Database.URL, optional(postgresURL))
	direct := secret("database.direct", &c.Database.Direct, optional(postgresURL))
	return []field{
		value("homeserver.address", &c.Homeserver.Address, webAddress(exampleAddress)).required(exampleAddress),
		value("homeserver.domain", &c.Homeserver.Domain, serverName).required(exampleDomain),

		value("appservice.address", &c.Appservice.Address, webAddress("http://127.0.0.1:29399")),
		value("appservice.hostname", &c.Appservice.Hostname, listenHost),
		value("appservice.port", &c.Appservice.Port, between(1, 65535)),
		value("appservice.id", &c.Appservice.ID, word),
		value("appservice.bot.username", &c.Appservice.Bot.Username, localpart),
		value("appservice.bot.displayname", &c.Appservice.Bot.DisplayName, lineOf(1, 100)),
		value("appservice.sender_localpart", &c.Appservice.SenderLocalpart, localpart).required(toGenerate),
		asToken[0].required(toGenerate), asToken[1],
		hsToken[0].required(toGenerate), hsToken[1],

		value("owner", &c.Owner, userID).required(`"` + exampleOwner + `"`),
		list("operators", &c.Operators, userID),
		value("operators_answer", &c.OperatorsAnswer, boolean),
		value("time_zone", &c.TimeZone, timeZone).required("Europe/Berlin"),
		value("name", &c.Name, assistantName),

		databaseURL[0], databaseURL[1],
		direct[0], direct[1],
		value("database.connections", &c.Database.Connections, between(4, 1000)),
		folder("database.data_dir", &c.Database.DataDir),
		durationOrOff("backup.every", &c.Backup.Every),
		folder("backup.folder", &c.Backup.Folder),
		value("backup.keep", &c.Backup.Keep, between(1, 1000)),
		value("backup.max_mb", &c.Backup.MaxMB, between(1, 100_000_000)),
	}
}

// modelFields returns the fields of models, media and the budget.
func (c *Config) modelFields() []field {
	apiKey := secret("llm.api_key", &c.LLM.APIKey, optional(token))
	embedKey := secret("embeddings.api_key", &c.Embeddings.APIKey, optional(token))
	speechKey := secret("speech.api_key", &c.Speech.APIKey, optional(token))
	return []field{
		value("llm.model", &c.LLM.Model, modelOrStrategy),
		value("llm.base_url", &c.LLM.BaseURL, optional(webAddress("http://localhost:11434/v1"))),
		apiKey[0], apiKey[1],
		value("llm.timeout", &c.LLM.Timeout, positive),
		value("llm.local", &c.LLM.Local, boolean),
		list("llm.strategies.cheap_first", &c.LLM.Strategies.CheapFirst, providerModel),
		list("llm.strategies.fast_first", &c.LLM.Strategies.FastFirst, providerModel),
		list("llm.strategies.powerful_first", &c.LLM.Strategies.PowerfulFirst, providerModel),
		list("llm.strategies.offline_first", &c.LLM.Strategies.OfflineFirst, providerModel),
		list("llm.strategies.custom", &c.LLM.Strategies.Custom, providerModel),
		list("llm.prices", &c.LLM.Prices, price),
		value("llm.max_tokens", &c.LLM.MaxTokens, between(256, 128_000)),
		list("llm.context", &c.LLM.Contexts, contextWindow),
		list("llm.small", &c.LLM.Small, providerModel),
		value("llm.rounds", &c.LLM.Rounds, between(2, 20)),
		value("llm.answer_timeout", &c.LLM.AnswerTimeout, timeBetween(time.Minute, time.Hour)),
		value("llm.unattended_timeout", &c.LLM.UnattendedTimeout, timeBetween(time.Minute, time.Hour)),

		value("embeddings.model", &c.Embeddings.Model, embeddingModel),
		value("embeddings.base_url", &c.Embeddings.BaseURL, optional(webAddress("http://localhost:11434/v1"))),
		embedKey[0], embedKey[1],
		value("embeddings.dimensions", &c.Embeddings.Dimensions, between(0, 4000)),
		value("embeddings.price_per_mtok", &c.Embeddings.PricePerMTok, ParseMoney),
		value("embeddings.local", &c.Embeddings.Local, boolean),
		value("speech.model", &c.Speech.Model, modelOrStrategy),
		value("speech.base_url", &c.Speech.BaseURL, optional(webAddress("http://localhost:8000/v1"))),
		speechKey[0], speechKey[1],
		value("speech.timeout", &c.Speech.Timeout, positive),
		value("speech.price_per_minute", &c.Speech.PricePerMinute, ParseMoney),
		value("speech.local", &c.Speech.Local, boolean),
		value("vision.model", &c.Vision.Model, modelOrStrategy),

		value("media.keep", &c.Media.Keep, oneOf(policy.KeepNone, policy.KeepVoice, policy.KeepAll)),
		value("media.max_mb", &c.Media.MaxMB, between(1, 100_000)),
		value("media.max_days", &c.Media.MaxDays, between(1, 3650)),

		value("budget.per_day", &c.Budget.PerDay, ParseMoney),
		value("budget.per_chat_day", &c.Budget.PerChatDay, ParseMoney),
		value("budget.per_agent_day", &c.Budget.PerAgentDay, ParseMoney),
		value("budget.per_run", &c.Budget.PerRun, ParseMoney),
		value("budget.at_cap", &c.Budget.AtCap, oneOf(AtCapDocuments, AtCapEscalate)),
		value("budget.per_dollar", &c.Budget.PerDollar, ParseMoney),
		value("budget.currency", &c.Budget.Currency, currency),
	}
}

// chatFields returns the fields of chats, documents, memory, servers and logging.
func (c *Config) chatFields() []field {
	unidocKey := secret("documents.unidoc_key", &c.Documents.UnidocKey, optional(token))
	mcpToken := secret("mcp_server.token", &c.MCPServer.Token, optional(token))
	chats := append(c.Heartbeat.fields("heartbeat"), []field{
		value("chats.profile", &c.Chats.Profile, oneOf(policy.ProfilePersonal, policy.ProfileBusiness)),
		value("chats.first_delivery", &c.Chats.FirstDelivery, oneOf(policy.DeliveryDraft, policy.DeliveryAuto, policy.DeliveryShadow)),
		value("chats.reply_max_age", &c.Chats.ReplyMaxAge, positive),
		value("chats.delete_answers", &c.Chats.DeleteAnswers, boolean),
		inMinutes("chats.admin_pause_minutes", &c.Chats.OwnerPause),
		value("chats.burst_quiet", &c.Chats.BurstQuiet, positive),
		value("chats.burst_max", &c.Chats.BurstMax, positive),
		value("chats.contact_caps.per_minute", &c.Chats.ContactCaps.PerMinute, between(1, 1000)),
		value("chats.contact_caps.per_day", &c.Chats.ContactCaps.PerDay, between(1, 100_000)),
	}...)
	return slices.Concat(chats, c.businessFields(), []field{
		folder("documents.folder", &c.Documents.Folder),
		unidocKey[0], unidocKey[1],
		folder("skills.folder", &c.Skills.Folder),
		folder("tasks.folder", &c.Tasks.Folder),
		list("shortcuts", &c.Shortcuts, shortcut),

		value("memory.capture_threshold", &c.Memory.CaptureThreshold, between(2, 60)),
		value("memory.capture_quiet", &c.Memory.CaptureQuiet, positive),
		value("memory.capture_minimum", &c.Memory.CaptureMinimum, between(1, 60)),
		value("memory.capture_skill", &c.Memory.CaptureSkill, filePath),
		value("memory.memory_max_sections", &c.Memory.MaxSections, between(1, 100)),
		value("memory.recent_window", &c.Memory.RecentWindow, between(4, 100)),
		value("memory.search_messages", &c.Memory.SearchMessages, boolean),
		value("memory.retention_days", &c.Memory.RetentionDays, between(1, 36_500)),
		value("memory.admin_retention_days", &c.Memory.OwnerRetentionDays, between(1, 36_500)),
		value("memory.log_retention_days", &c.Memory.LogRetentionDays, between(1, 36_500)),
		value("audit.retention_days", &c.Audit.RetentionDays, between(1, 36_500)),
		value("mcp_server.hostname", &c.MCPServer.Hostname, listenHost),
		value("mcp_server.port", &c.MCPServer.Port, between(0, 65535)),
		mcpToken[0], mcpToken[1],
		value("answers.judge", &c.Answers.Judge, judgeModel),
		value("injection.enabled", &c.Injection.Enabled, boolean),
		value("injection.judge", &c.Injection.Judge, boolean),
		value("injection.max_flags", &c.Injection.MaxFlags, between(1, 1000)),
		value("injection.hold_time", &c.Injection.HoldTime, positive),
		value("exec.enabled", &c.Exec.Enabled, boolean),
		value("exec.write_files", &c.Exec.WriteFiles, boolean),
		value("safe_mode.after_crashes", &c.SafeMode.AfterCrashes, between(0, 100)),
		value("watches.hostname", &c.Watches.Hostname, listenHost),
		value("watches.port", &c.Watches.Port, between(0, 65535)),
		value("watches.address", &c.Watches.Address, optional(webAddress("https://hooks.example.com"))),

		value("ops.listen", &c.Ops.Listen, optional(localAddress)),
		value("ops.web", &c.Ops.Web, optional(pageAddress)),
	}, c.Traces.fields(), []field{
		value("logging.level", &c.Logging.Level, logLevel),
		value("logging.format", &c.Logging.Format, oneOf(FormatJSON, FormatPretty)),
		value("logging.file", &c.Logging.File, optional(filePath)),
	})
}

// group is a section whose keys are names that the user chooses, such as agents. The value of each name is a section, all
// with the same keys. Environment variables cannot set these keys.
type group struct {
	section  string
	name     string // placeholder for the chosen name in the documentation
	expected string // description of a valid name, for the error about an invalid one
	// item returns the fields of one name. They store their values in a new struct, which keep then puts into the Config.
	item func(name string) (fields []field, keep func())
}

// groups returns the groups.
func (c *Config) groups() []group {
	return []group{
		{
			"chats.networks", "protocol", "the name of a network; write the bridge's protocol, such as whatsapp",
			func(protocol string) ([]field, func()) {
				n := c.Chats.Network(protocol)
				return n.fields("chats.networks." + protocol), func() { c.Chats.Networks[protocol] = n }
			},
		},
		{
			"chats.labels", "label", "the name of a label; write a word of small letters, digits and hyphens, such as wholesale",
			func(name string) ([]field, func()) {
				l := c.Chats.Label(name)
				return l.fields("chats.labels." + name), func() { c.Chats.Labels = withLabel(c.Chats.Labels, l) }
			},
		},
		{"llm.providers", "name", "the name of a provider; write a plain word without dots, such as groq", func(name string) ([]field, func()) {
			p := c.LLM.Providers[name]
			return p.fields("llm.providers." + name), func() { c.LLM.Providers[name] = p }
		}},
		{"business.texts", "language", "a language; write its code of two letters, such as de", func(name string) ([]field, func()) {
			t := c.Business.Texts[catalog.Lang(name)]
			return t.fields("business.texts." + name), func() { c.Business.Texts[catalog.Lang(name)] = t }
		}},
		{"hooks", "name", "the name of a hook; write a plain word, such as desk", func(name string) ([]field, func()) {
			h := c.Hooks[name]
			return h.fields("hooks." + name), func() { c.Hooks[name] = h }
		}},
		{"command_hooks", "name", "the name of a hook; write a plain word, such as guard", func(name string) ([]field, func()) {
			h := c.CommandHooks[name]
			return h.fields("command_hooks." + name), func() { c.CommandHooks[name] = h }
		}},
		{"monitors", "name", "the name of a monitor; write a plain word, such as shop", func(name string) ([]field, func()) {
			m, known := c.Monitors[name]
			if !known {
				m = defaultMonitor()
			}
			return m.fields("monitors." + name), func() { c.Monitors[name] = m }
		}},
		{
			"mcp", "name", "the name of a server; write a plain word of small letters and digits, such as github",
			func(name string) ([]field, func()) {
				m := c.MCP[name]
				return m.fields("mcp." + name), func() { c.MCP[name] = m }
			},
		},
		{"agents", "name", "the name of an agent; write a plain word, such as sales", func(name string) ([]field, func()) {
			a, known := c.Agents[name]
			if !known {
				a.Heartbeat = defaultHeartbeat()
			}
			return a.fields("agents." + name), func() { c.Agents[name] = a }
		}},
	}
}

// fields lists the keys of one provider.
func (p *Provider) fields(section string) []field {
	key := secret(section+".api_key", &p.APIKey, optional(token))
	return []field{
		value(section+".type", &p.Type, oneOf("anthropic", "openai", "gemini", "ollama")),
		value(section+".base_url", &p.BaseURL, webAddress("http://localhost:8000/v1")),
		key[0], key[1],
		value(section+".local", &p.Local, boolean),
	}
}

// fields lists the keys of one network.
func (n *Network) fields(section string) []field {
	return []field{
		value(section+".mode", &n.Mode, oneOf(policy.Modes()...)),
		value(section+".disclosure", &n.Disclosure, boolean),
	}
}

// fields lists the keys of one MCP server.
func (m *MCP) fields(section string) []field {
	key := secret(section+".token", &m.Token, optional(token))
	client := secret(section+".client_secret", &m.ClientSecret, optional(token))
	return []field{
		list(section+".command", &m.Command, lineOf(1, 1000)),
		value(section+".folder", &m.Folder, filePath),
		list(section+".pass_env", &m.PassEnv, lineOf(1, 100)),
		secretMap(section+".env", &m.Env, environmentName),
		secretMap(section+".headers", &m.Headers, headerName),
		value(section+".url", &m.URL, mcpURL),
		key[0], key[1],
		value(section+".login", &m.Login, boolean),
		value(section+".client_id", &m.ClientID, lineOf(1, 500)),
		client[0], client[1],
		value(section+".timeout", &m.Timeout, durationUpTo(time.Minute)),
		list(section+".allow", &m.Allow, toolPattern),
		list(section+".read", &m.Read, toolPattern),
		list(section+".pin", &m.Pin, toolPattern),
	}
}

// answeringModes returns the modes in which an agent can answer.
func answeringModes() []policy.Mode {
	return slices.DeleteFunc(policy.Modes(), func(m policy.Mode) bool { return !m.Answers() })
}

// fields lists the keys of one agent.
func (a *Agent) fields(section string) []field {
	key := secret(section+".api_key", &a.APIKey, optional(token))
	return append([]field{
		value(section+".name", &a.Name, assistantName),
		value(section+".theme", &a.Theme, lineOf(1, 100)),
		value(section+".emoji", &a.Emoji, lineOf(1, 8)),
		value(section+".avatar", &a.Avatar, lineOf(7, 255)),
		value(section+".instructions", &a.Instructions, textUpTo(4000)),
		list(section+".mentions", &a.Mentions, lineOf(1, 50)),
		list(section+".allow", &a.Allow, toolPattern),
		list(section+".deny", &a.Deny, toolPattern),
		value(section+".model", &a.Model, modelOrStrategy),
		key[0], key[1],
		list(section+".skills", &a.Skills, word),
		list(section+".can", &a.Capabilities, word),
		list(section+".delegates", &a.Delegates, lineOf(1, 100)),
		value(section+".workspace", &a.Workspace, filePath),
		list(section+".read_paths", &a.ReadPaths, filePath),
		list(section+".rooms", &a.Rooms, lineOf(1, 255)),
		list(section+".senders", &a.Senders, lineOf(1, 255)),
		list(section+".spaces", &a.Spaces, roomID),
		list(section+".accounts", &a.Logins, lineOf(1, 255)),
		list(section+".networks", &a.Networks, word),
		list(section+".modes", &a.Modes, oneOf(answeringModes()...)),
		value(section+".default", &a.Default, boolean),
		list(section+".command", &a.Command, lineOf(1, 1000)),
		value(section+".network", &a.Network, boolean),
		list(section+".ports", &a.Ports, between(1, 65535)),
		list(section+".domains", &a.Domains, serverName),
		secretMap(section+".env", &a.Env, environmentName),
		value(section+".timeout", &a.Timeout, durationUpTo(maxProgramTime)),
	}, a.Heartbeat.fields(section+".heartbeat")...)
}

// fields lists the keys of one command hook.
func (h *CommandHook) fields(section string) []field {
	return []field{
		list(section+".command", &h.Command, lineOf(1, 1000)).required("[python3, guard.py]"),
		list(section+".before", &h.Before, oneOf(BeforeTool, BeforeSend)),
		list(section+".tools", &h.Tools, toolPattern),
		list(section+".events", &h.Events, oneOf(policy.HookEvents()...)),
	}
}

// fields lists the keys of one hook.
func (h *Hook) fields(section string) []field {
	signing := secret(section+".secret", &h.Secret, signingSecret)
	return []field{
		value(section+".url", &h.URL, secretURL).required("https://example.com/multis"),
		list(section+".events", &h.Events, oneOf(policy.HookEvents()...)).required("[escalation]"),
		signing[0].required("whsec_... (openssl rand -base64 32)"), signing[1],
		value(section+".private", &h.Private, boolean),
	}
}

// EnvName returns the environment variable of a key.
func EnvName(key string) string {
	return "MULTIS_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
