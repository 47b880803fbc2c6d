// Package config reads config.yaml: defaults, then the file, then the environment, each overriding the one before.
//
// Every mistake is found in one go and told as one line that names the file, the line, the key, what is wrong
// and what to write instead. The table in fields.go is the whole list of keys; docs/configuration.md explains them.
package config

import (
	_ "embed"
	"fmt"
	"net"
	"os"
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

// Config is a checked configuration. It is safe to print: secrets show as "…".
type Config struct {
	Homeserver Homeserver
	Appservice Appservice
	Owner      id.UserID      // the one person this instance works for; always a user of Homeserver.Domain
	Operators  []id.UserID    // people who may look around in the admin room: chats, documents, searches; empty means nobody
	TimeZone   *time.Location // for text to people, and for where a day begins
	Name       string         // what the assistant is called, and what its replies are marked with
	Database   Database
	LLM        LLM
	Embeddings Embeddings
	Speech     Speech
	Media      Media
	Budget     Budget
	Chats      Chats
	Business   Business
	Documents  Documents
	Hooks      map[string]Hook  // by name
	Agents     map[string]Agent // by name; none: multis itself answers
	Skills     Skills
	Tasks      Tasks
	Shortcuts  []Shortcut
	Heartbeat  Heartbeat
	MCP        map[string]MCP // servers that bring tools, by name
	MCPServer  MCPServer
	Memory     Memory
	Watches    Watches
	Logging    Logging
}

// Homeserver is the Matrix server the bridges are on.
type Homeserver struct {
	Address string // where its client API is reached, without a slash at the end
	Domain  string // the part of Matrix ids after the colon
}

// Appservice is how the homeserver and multis know each other.
type Appservice struct {
	Address         string // where the homeserver reaches multis; defaults to this machine at Port
	Hostname        string // the interface to listen on
	Port            int
	ID              string // of the registration; unique on the homeserver
	Bot             Bot
	SenderLocalpart string // the registration's own user: random, never used, never the bot
	ASToken         Secret // what multis shows the homeserver; it opens the owner's account
	HSToken         Secret // what the homeserver shows multis
}

// Bot is the Matrix user that speaks in the admin room.
type Bot struct {
	Username    string // localpart
	DisplayName string
}

// Database says where Postgres is.
type Database struct {
	URL     Secret // empty: multis runs a Postgres of its own in DataDir
	DataDir string // everything multis keeps on disk
}

// The values of Budget.AtCap.
const (
	AtCapDocuments = "documents" // answer from documents only, as without a model
	AtCapEscalate  = "handover"  // a person takes over
)

// Media says what is kept of the files that contacts send.
type Media struct {
	Keep    policy.Keep
	MaxMB   int // of all that is kept
	MaxDays int
}

// Budget is the ceiling on money. Zero means that no paid call is made.
type Budget struct {
	PerDay      Money
	PerChatDay  Money
	PerAgentDay Money  // as PerDay unless it is set
	PerRun      Money  // for one task, with all it starts
	AtCap       string // what contacts get then: AtCapDocuments or AtCapEscalate
	Currency    string // three letters
	PerDollar   Money  // what a dollar costs, for prices that are known in dollars; zero: nobody said
}

// Chats are the defaults for chats with contacts.
type Chats struct {
	Profile policy.Profile
	// FirstDelivery is how answers go out in chats that the profile or their network answers: DeliveryDraft or DeliveryAuto.
	FirstDelivery policy.Delivery
	ReplyMaxAge   time.Duration // older messages are stored but not answered
	// DeleteAnswers: when a contact deletes what was asked, what was answered is deleted as well.
	DeleteAnswers bool
	AdminPause    time.Duration      // how long the assistant holds back after the owner wrote; zero is valid
	BurstQuiet    time.Duration      // silence after which a burst of messages is answered as one
	BurstMax      time.Duration      // how long a burst may go on before it is answered anyway
	ContactCaps   ContactCaps        // replies to one contact
	Networks      map[string]Network // by the name that stands in the file ("whatsapp"): a bridge may call it otherwise, see policy.Network
}

// ContactCaps limit how often one contact is answered.
type ContactCaps struct {
	PerMinute int
	PerDay    int
}

// Network overrides the defaults for all chats of one protocol.
type Network struct {
	Mode       policy.Mode // empty leaves it to the profile
	Disclosure bool        // whether replies as the owner begin with the assistant's name in brackets
}

// Network returns the settings under a name in the file: those configured, else no mode and disclosure on.
func (c Chats) Network(protocol string) Network {
	if n, ok := c.Networks[protocol]; ok {
		return n
	}
	return Network{Disclosure: true}
}

// Business is what contacts read that no document says.
type Business struct {
	Greeting       string // answer to a greeting; at most 500 characters
	EscalationText string // said once when a person has to take over
	Escalation     Escalation
}

// Escalation says when a person must answer, whatever the documents say.
type Escalation struct {
	Keywords []string // whole words or phrases, any case; empty means none
}

// Documents says which files may be indexed by path, and how files are read.
type Documents struct {
	Folder    string // only files below it; inside Database.DataDir unless given as an absolute path
	UnidocKey Secret // a metered licence key of unipdf, which then reads PDFs; empty means pdfium does
}

// Agent is somebody who answers in a manner, with tools and files of its own.
type Agent struct {
	Name         string // what people see; empty: the assistant's own
	Theme        string // its manner, in a few words
	Emoji        string // the reaction that says it has read a question
	Avatar       string // an mxc address
	Instructions string
	Mentions     []string      // what it is called by, beside its names
	Allow, Deny  []string      // patterns of tools; an empty Allow means all
	Model        string        // as LLM.Model; empty: that one
	APIKey       Secret        // of the provider of its model; empty: the provider's own
	Skills       []string      // those it has; empty: all that fit
	Capabilities []string      // capabilities: what it is good for
	Delegates    []string      // agents that it may have work; "*": all
	Workspace    string        // the folder of its files; inside Database.DataDir unless given as an absolute path
	ReadPaths    []string      // further folders it may read
	Rooms        []string      // where it answers: Matrix rooms,
	Senders      []string      // Matrix ids of contacts,
	Spaces       []string      // Matrix spaces that a chat's room is in,
	Accounts     []string      // logins of the bridge,
	Networks     []string      // protocols,
	Modes        []policy.Mode // modes of chats,
	Default      bool          // and everywhere else
	Heartbeat    Heartbeat
}

// Skills says where the files are that say how agents work.
type Skills struct {
	Folder string // those of all agents; inside Database.DataDir unless given as an absolute path
}

// Tasks says where the tasks are that are begun by name.
type Tasks struct {
	Folder string // a YAML file each; inside Database.DataDir unless given as an absolute path
}

// Shortcut is what the owner means by words of his own.
type Shortcut struct {
	Pattern string // a regular expression for a whole message
	Command string // which it means; $1 is what the first group matched
}

// MCP is a server that brings tools.
type MCP struct {
	Command []string // starts it; or URL is where it is
	Folder  string   // where it is started
	PassEnv []string // variables of our environment that it gets
	URL     Secret   // its path or query may be one
	Token   Secret   // opens URL
	// Login says that the server at URL wants the owner to log in (multis mcp login). ClientID and ClientSecret are how it knows multis,
	// where it does not let programs make themselves known.
	Login        bool
	ClientID     string
	ClientSecret Secret
	Timeout      time.Duration
	Allow        []string // patterns of its tools that are taken; empty: all
	Read         []string // of those that run without asking
	Pin          []string // of those that need the PIN
}

// MCPServer says where other programs may search, as the owner may.
type MCPServer struct {
	Hostname string // the interface to listen on
	Port     int    // 0: nobody can
	Token    Secret // what they show
}

// Hook is an address that is told what happens.
type Hook struct {
	URL     Secret // its path may be one
	Events  []policy.HookEvent
	Secret  Secret // signs what is told
	Private bool   // the address may be in a private network
}

// Watches says where other programs call in.
type Watches struct {
	Hostname string // the interface to listen on
	Port     int    // 0: nobody can call in
	Address  string // how others reach it, without a slash at the end; empty: the host and port above
}

// Memory says what is remembered, and for how long.
type Memory struct {
	CaptureThreshold   int           // new messages of a chat after which notes are taken of them
	CaptureQuiet       time.Duration // silence after which CaptureMinimum are enough
	CaptureMinimum     int
	CaptureSkill       string // a file that says what to take note of, if it exists
	MaxSections        int    // captures whose notes are in every prompt
	RecentWindow       int    // messages of a conversation that a model reads word for word
	SearchMessages     bool   // whether the messages themselves can be searched
	RetentionDays      int    // of contacts' messages and notes
	OwnerRetentionDays int    // of the owner's own
	LogRetentionDays   int    // of the daily log in an export
}

// Logging says what is logged and where.
type Logging struct {
	Level  zerolog.Level
	Format string // FormatJSON or FormatPretty
	File   string // empty means standard error
}

// defaults is what holds where neither the file nor the environment says anything. The example shows the same values.
func defaults() *Config {
	return &Config{
		Appservice: Appservice{
			Hostname: "127.0.0.1",
			Port:     29399,
			ID:       "multis",
			Bot:      Bot{Username: "multis", DisplayName: "multis"},
		},
		Operators:  []id.UserID{},
		Name:       "Nora",
		Database:   Database{DataDir: "data"},
		LLM:        LLM{Model: NoModel, Timeout: 30 * time.Second, Providers: map[string]Provider{}, Strategies: emptyStrategies(), Prices: []Price{}},
		Embeddings: Embeddings{Model: NoModel},
		Media:      Media{Keep: policy.KeepNone, MaxMB: 500, MaxDays: 90},
		Speech:     Speech{Model: NoModel, Timeout: time.Minute},
		Budget:     Budget{PerDay: 2_000_000, PerChatDay: 500_000, PerRun: 500_000, AtCap: AtCapDocuments, Currency: "EUR"},
		Chats: Chats{
			Profile: policy.ProfilePersonal, FirstDelivery: policy.DeliveryDraft,
			ReplyMaxAge: 10 * time.Minute,
			AdminPause:  30 * time.Minute,
			BurstQuiet:  4 * time.Second,
			BurstMax:    15 * time.Second,
			ContactCaps: ContactCaps{PerMinute: 10, PerDay: 100},
			Networks:    map[string]Network{},
		},
		Business: Business{
			Greeting:       "Hello! How can I help you?",
			EscalationText: "Let me check with the team and get back to you.",
			Escalation:     Escalation{Keywords: []string{"refund", "complaint", "urgent", "human", "manager"}},
		},
		Documents: Documents{Folder: "documents"},
		Hooks:     map[string]Hook{},
		Agents:    map[string]Agent{},
		Skills:    Skills{Folder: "skills"},
		Tasks:     Tasks{Folder: "tasks"},
		Shortcuts: []Shortcut{},
		Heartbeat: defaultHeartbeat(),
		MCP:       map[string]MCP{},
		MCPServer: MCPServer{Hostname: "127.0.0.1"},
		Memory: Memory{
			CaptureThreshold: 20, CaptureQuiet: 6 * time.Hour, CaptureMinimum: 6, CaptureSkill: "capture.md", MaxSections: 12, RecentWindow: 20,
			SearchMessages: true, RetentionDays: 90, OwnerRetentionDays: 365, LogRetentionDays: 30,
		},
		Watches: Watches{Hostname: "127.0.0.1"},
		Logging: Logging{Level: zerolog.InfoLevel, Format: FormatPretty},
	}
}

// Load reads the configuration at path and the environment of the process.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration (multis -e writes an example): %w", err)
	}
	return Parse(path, data, os.LookupEnv)
}

// Parse reads a configuration. name is the file's path: it names the file in errors, and relative paths start at its
// folder. Without a name there is no file to mend, and what is missing is asked of the environment. env looks up one variable of the environment; os.LookupEnv does.
//
// The error joins every problem found, a line each, and never holds a secret.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Config, error) {
	c := defaults()
	return c.parse(newReader(name, c), data, env)
}

func (c *Config) parse(r *reader, data []byte, env func(string) (string, bool)) (*Config, error) {
	if !r.readDocument(data) {
		return nil, r.err()
	}
	r.readEnvironment(env)
	r.reportMissing()
	c.check(r)
	if err := r.err(); err != nil {
		return nil, err
	}
	c.complete(filepath.Dir(r.file))
	return c, nil
}

// strongCurrencies are the currencies that a dollar never cost more than one of for long: counted as one, a cap holds.
var strongCurrencies = []string{"USD", "EUR", "GBP", "CHF"}

// complete fills what follows from other keys and makes paths independent of how they were written.
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
		a.Workspace = resolvePath(c.Database.DataDir, a.Workspace)
		for i, path := range a.ReadPaths {
			a.ReadPaths[i] = resolvePath(dir, path)
		}
		c.Agents[name] = a
	}
	c.Memory.CaptureSkill = resolvePath(dir, c.Memory.CaptureSkill)
	if c.Logging.File != "" {
		c.Logging.File = resolvePath(dir, c.Logging.File)
	}
}

// resolvePath is path, taken from dir when it is relative.
func resolvePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

//go:embed example.yaml
var example []byte

// Example is a config.yaml with every key explained. Its tokens say "generate"; Generate fills them.
func Example() []byte { return append([]byte(nil), example...) }
