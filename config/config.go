// Package config reads the configuration: defaults, then config.yaml, then settings made in chat, then the environment, where each
// overrides the one before.
//
// Parse reports all problems at once, one line each: the file, the line, the key, what is wrong and what to write
// instead. fields.go lists every key; docs/configuration.md explains them.
package config

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // containers often have no zone files, and time_zone is required

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// The values of Logging.Format.
const (
	FormatJSON   = "json"
	FormatPretty = "pretty"
)

// Config is a validated configuration. It is safe to print: secrets show as "…".
type Config struct {
	Homeserver Homeserver
	Appservice Appservice
	Owner      id.UserID // the user for whom multis works; always a user of Homeserver.Domain
	// OperatorsAnswer means that operators may write to contacts from the threads of escalations.
	OperatorsAnswer bool
	Operators       []id.UserID    // users with read access to the admin room's commands (chats, documents, searches); empty means none
	TimeZone        *time.Location // for times in messages and for the start of a day
	Name            string         // the assistant's name, which also marks its replies
	Database        Database
	Backup          Backup
	LLM             LLM
	Embeddings      Embeddings
	Speech          Speech
	Vision          Vision
	Media           Media
	Budget          Budget
	Chats           Chats
	Business        Business
	Documents       Documents
	Hooks           map[string]Hook        // by name
	CommandHooks    map[string]CommandHook // by name
	Monitors        map[string]Monitor     // by name
	Agents          map[string]Agent       // by name; empty means that only multis itself answers
	Skills          Skills
	Tasks           Tasks
	Shortcuts       []Shortcut
	Heartbeat       Heartbeat
	MCP             map[string]MCP // MCP servers with tools for the agents, by name
	MCPServer       MCPServer
	Memory          Memory
	Audit           Audit
	Exec            Exec
	Injection       Injection
	Answers         Answers
	SafeMode        SafeMode
	Watches         WebhookListener
	Tools           Tools
	Policy          Policy
	Ops             Ops
	Traces          Traces
	Logging         Logging

	// SecretFiles are the files that secrets were read from.
	SecretFiles []string
	places      places // where the values come from, for Problem
}

// Homeserver is the Matrix server on which the bridges are.
type Homeserver struct {
	Address string // base URL of its client-server API, without a trailing slash
	Domain  string // the part of Matrix ids after the colon
}

// Appservice holds the settings of the appservice registration.
type Appservice struct {
	Address         string // URL at which the homeserver reaches multis; defaults to http://127.0.0.1:Port
	Hostname        string // the interface to listen on
	Port            int    // the port to listen on
	ID              string // registration id, unique on the homeserver
	Bot             Bot
	SenderLocalpart string // the registration's own user: random, unused, and different from the bot
	ASToken         Secret // authenticates multis to the homeserver; whoever has it can use the owner's account
	HSToken         Secret // authenticates the homeserver to multis
}

// LocalAddr returns the host and port for connections to multis from its own machine.
func (a Appservice) LocalAddr() string {
	host := a.Hostname
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() { // multis listens on every interface
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(a.Port))
}

// Bot is the Matrix user that speaks in the admin room.
type Bot struct {
	Username    string // localpart
	DisplayName string
}

// Database configures Postgres and the data directory.
type Database struct {
	URL Secret // empty means that multis runs its own Postgres in DataDir
	// Direct is the address of Postgres itself, if URL is that of a pooler that gives each transaction another connection.
	Direct Secret
	// Connections is the maximum number of connections to URL.
	Connections int
	DataDir     string // folder of everything that multis stores on disk
}

// Backup configures the backups that multis makes by itself.
type Backup struct {
	Every  time.Duration // zero means that multis makes none
	Folder string        // a relative path starts at Database.DataDir
	Keep   int           // how many are kept
	MaxMB  int           // limit on the total size of the kept backups; the newest is always kept
}

// The values of Budget.AtCap.
const (
	AtCapDocuments = "documents" // answer with quoted passages, as without a model
	AtCapEscalate  = "escalate"  // escalate to the owner
)

// Media configures which of the files that contacts send are stored.
type Media struct {
	Keep    policy.Keep
	MaxMB   int // limit on the total size of stored files; the oldest are deleted first
	MaxDays int // how many days a file is stored
}

// Budget holds the caps on spending. With a cap of zero no paid call is made, except that a PerAgentDay of zero means PerDay.
type Budget struct {
	PerDay      Money
	PerChatDay  Money
	PerAgentDay Money  // zero means PerDay
	PerRun      Money  // for one task and everything it starts
	AtCap       string // how contacts' questions are handled after a cap is reached: AtCapDocuments or AtCapEscalate
	Currency    string // ISO 4217 code
	PerDollar   Money  // price of one dollar in Currency, which converts the built-in prices; zero means unknown
}

// Chats holds the defaults for chats with contacts.
type Chats struct {
	Profile policy.Profile
	// FirstDelivery is the delivery of answers in chats whose mode comes from the profile or the network:
	// DeliveryDraft or DeliveryAuto.
	FirstDelivery policy.Delivery
	ReplyMaxAge   time.Duration // older messages are stored but not answered
	// DeleteAnswers means that multis deletes its answer when the contact deletes the question.
	DeleteAnswers bool
	OwnerPause    time.Duration      // how long the assistant stays silent in a chat after the owner wrote there; zero means no pause
	BurstQuiet    time.Duration      // silence after which consecutive messages get one answer
	BurstMax      time.Duration      // longest time to wait for BurstQuiet
	ContactCaps   ContactCaps        // limits on replies to one contact
	Networks      map[string]Network // by their names in the file ("whatsapp"); a bridge may use another name, see policy.CanonicalNetwork
	Labels        []Label            // in the order of the file
}

// ContactCaps limits the number of replies to one contact.
type ContactCaps struct {
	PerMinute int
	PerDay    int
}

// Network overrides the defaults for all chats of one protocol.
type Network struct {
	Mode       policy.Mode // empty means the profile's mode
	Disclosure bool        // whether replies sent from the owner's account begin with the assistant's name in brackets
}

// Network returns the settings of the network with this name in the file. Without any, it returns no mode, and disclosure.
func (c Chats) Network(protocol string) Network {
	if n, ok := c.Networks[protocol]; ok {
		return n
	}
	return Network{Disclosure: true}
}

// Documents configures which files may be indexed by path and how PDFs are read.
type Documents struct {
	Folder    string // only files below it may be indexed; a relative path starts at Database.DataDir
	UnidocKey Secret // metered licence key of unipdf, which then reads PDFs; empty means pdfium
}

// Agent configures one agent: its style, tools, model, files and the chats it answers in.
type Agent struct {
	Name         string // display name; empty means Config.Name
	Theme        string // its style of writing, in a few words
	Emoji        string // reaction that it adds to a question that it has read
	Avatar       string // mxc:// URI
	Instructions string
	Mentions     []string      // further names by which messages address it
	Allow, Deny  []string      // patterns of tool names; an empty Allow means all tools
	Model        string        // same values as LLM.Model; empty means LLM.Model
	APIKey       Secret        // key for the provider of Model; empty means the provider's configured key
	Skills       []string      // names of its skills; empty means all that apply
	Capabilities []string      // what it can do, as other agents see it
	Delegates    []string      // agents it may delegate to; "*" means all
	Workspace    string        // folder of its files; a relative path starts at Database.DataDir
	ReadPaths    []string      // further folders it may read
	Rooms        []string      // Matrix rooms it answers in
	Senders      []string      // Matrix ids of contacts it answers
	Spaces       []string      // Matrix spaces in whose rooms it answers
	Logins       []string      // bridge logins in whose chats it answers
	Networks     []string      // networks in whose chats it answers
	Modes        []policy.Mode // chat modes in which it answers
	Default      bool          // whether it answers in all chats that no other agent matches
	Heartbeat    Heartbeat
	// Command makes it an external command-line agent that others delegate to: a program and its arguments; AgentPrompt stands for the task.
	Command []string
	Network bool              // whether the program may connect to public addresses by https
	Ports   []int             // the ports that it may connect to; defaults to 443
	Domains []string          // the domains that it may connect to; empty means all
	Env     map[string]Secret // environment variables of the program
	Timeout time.Duration     // how long it may work
}

// Skills configures the folder of skill files, which hold instructions for agents.
type Skills struct {
	Folder string // shared by all agents; a relative path starts at Database.DataDir
}

// Tasks configures the folder of named tasks, which /run starts.
type Tasks struct {
	Folder string // one YAML file per task; a relative path starts at Database.DataDir
}

// Shortcut maps messages of the owner to a command.
type Shortcut struct {
	Pattern string // regular expression that must match the whole message
	Command string // command to run; $1 is the text of the first group
}

// MCP configures one MCP server whose tools agents may use. Either Command or URL is set.
type MCP struct {
	Command []string          // program and arguments that start the server
	Folder  string            // working directory of Command; a relative path starts at Database.DataDir
	PassEnv []string          // environment variables of multis that are passed to Command
	Env     map[string]Secret // further environment variables of Command, by name
	Headers map[string]Secret // HTTP headers that are sent to URL, by name
	URL     Secret            // address of the server; secret because its path or query may hold a key
	Token   Secret            // bearer token for URL; empty means none
	// Login means that the server at URL requires an OAuth login by the owner (multis mcp login). ClientID and
	// ClientSecret are needed only if the server has no dynamic client registration.
	Login        bool
	ClientID     string
	ClientSecret Secret
	Timeout      time.Duration // timeout of one call
	Allow        []string      // name patterns of the tools to offer; empty means all
	Read         []string      // name patterns of tools that run without approval
	Pin          []string      // name patterns of tools that need the PIN
}

// MCPServer configures multis as an MCP server: other programs search with the owner's access.
type MCPServer struct {
	Hostname string // the interface to listen on
	Port     int    // zero means that the server is off
	Token    Secret // bearer token that clients must send
}

// Exec says what agents may do on this machine, in their workspaces.
type Exec struct {
	Enabled    bool // whether agents have the tools that run commands
	WriteFiles bool // whether agents have the tools that write files
}

// Hook configures an outgoing webhook.
type Hook struct {
	URL     Secret // secret because its path may hold a key
	Events  []policy.HookEvent
	Secret  Secret // signs the requests
	Private bool   // whether URL may be in a private network
}

// The values of CommandHook.Before.
const (
	BeforeTool = "tool"
	BeforeSend = "send"
)

// CommandHook configures a program that is asked before a tool call or a send, or that runs on events.
type CommandHook struct {
	Command []string // program and arguments
	Before  []string // BeforeTool, BeforeSend
	Tools   []string // name patterns of the tools that it is asked about; empty means all
	Events  []policy.HookEvent
}

// WebhookListener configures the listener for incoming webhooks (/watch inbox).
type WebhookListener struct {
	Hostname string // the interface to listen on
	Port     int    // zero means that the listener is off
	Address  string // its public base URL, without a trailing slash; defaults to http://Hostname:Port
}

// Memory configures captures (notes of a chat), search and retention.
type Memory struct {
	CaptureThreshold   int           // number of new messages in a chat that triggers a capture
	CaptureQuiet       time.Duration // silence after which CaptureMinimum new messages are enough
	CaptureMinimum     int           // number of new messages needed after CaptureQuiet
	CaptureSkill       string        // file with instructions for captures; the built-in ones are used if it does not exist
	MaxSections        int           // how many captures' notes are in every prompt
	RecentWindow       int           // how many messages of a conversation a prompt quotes in full
	SearchMessages     bool          // whether searches include the messages themselves
	RetentionDays      int           // how many days contacts' messages and notes are kept
	OwnerRetentionDays int           // how many days the messages and notes of the admin room are kept
	LogRetentionDays   int           // how many days the daily log of an export covers
}

// Audit configures the audit log.
type Audit struct {
	RetentionDays int // how many days its entries are kept
}

// Ops configures what other programs of this machine may ask about the state of multis, and the web page.
type Ops struct {
	Listen string // host and port, of this machine only; empty means off
	Web    string // how browsers reach the web page: scheme, host and port; empty means off
}

// Address returns the host and port of Listen; the port is zero if it is off.
func (o Ops) Address() (host string, port int) {
	host, text, _ := net.SplitHostPort(o.Listen) // an invalid one is reported when the configuration is read
	port, _ = strconv.Atoi(text)
	return host, port
}

// Logging configures the log.
type Logging struct {
	Level  zerolog.Level
	Format string // FormatJSON or FormatPretty
	File   string // empty means standard error
}

// BotID returns the Matrix id of the bot.
func (c *Config) BotID() id.UserID {
	return id.NewUserID(c.Appservice.Bot.Username, c.Homeserver.Domain)
}

// UnpairedOwner returns the placeholder for the owner until pairing by a code shows who the owner is. No such account exists.
func UnpairedOwner(domain string) id.UserID { return id.NewUserID("multis-unpaired", domain) }

// complete sets the values that are derived from other keys, and resolves relative paths. dir is the folder of the file.
func (c *Config) complete(dir string) {
	if c.Appservice.Address == "" {
		c.Appservice.Address = fmt.Sprintf("http://127.0.0.1:%d", c.Appservice.Port)
	}
	c.Embeddings.Local = c.Embeddings.Local || strings.HasPrefix(c.Embeddings.Model, ollamaPrefix)
	if c.Watches.Address == "" {
		c.Watches.Address = "http://" + net.JoinHostPort(c.Watches.Hostname, strconv.Itoa(c.Watches.Port))
	}
	if c.Budget.PerAgentDay == 0 {
		c.Budget.PerAgentDay = c.Budget.PerDay
	}
	if c.Budget.PerDollar == 0 && slices.Contains(strongCurrencies, c.Budget.Currency) {
		c.Budget.PerDollar = 1_000_000
	}
	c.Database.DataDir = resolvePath(dir, c.Database.DataDir)
	c.Backup.Folder = resolvePath(c.Database.DataDir, c.Backup.Folder)
	c.Documents.Folder = resolvePath(c.Database.DataDir, c.Documents.Folder)
	c.Skills.Folder = resolvePath(c.Database.DataDir, c.Skills.Folder)
	c.Tasks.Folder = resolvePath(c.Database.DataDir, c.Tasks.Folder)
	for name, m := range c.MCP {
		m.Folder = resolvePath(c.Database.DataDir, m.Folder)
		c.MCP[name] = m
	}
	for name, a := range c.Agents {
		if a.Workspace == "" {
			a.Workspace = filepath.Join("agents", name)
		}
		a.Workspace = absolutePath(resolvePath(c.Database.DataDir, a.Workspace))
		if len(a.Command) > 0 && a.Timeout == 0 {
			a.Timeout = maxProgramTime
		}
		for i, path := range a.ReadPaths {
			a.ReadPaths[i] = absolutePath(resolvePath(dir, path))
		}
		c.Agents[name] = a
	}
	for _, m := range c.Monitors {
		for i, path := range m.ReadPaths {
			m.ReadPaths[i] = absolutePath(resolvePath(dir, path))
		}
	}
	c.Memory.CaptureSkill = resolvePath(dir, c.Memory.CaptureSkill)
	if c.Logging.File != "" {
		c.Logging.File = resolvePath(dir, c.Logging.File)
	}
}

// absolutePath returns the path with which rules compare theirs. The name of the configuration, and so what is relative
// to it, may be relative.
func absolutePath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// resolvePath returns path cleaned. If it is relative, it is relative to dir.
func resolvePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
