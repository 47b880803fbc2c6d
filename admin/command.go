package admin

import (
	"context"
	"slices"
	"strings"
	"time"

	"multis/policy"
	"multis/store"
)

// command is an entry of the command table.
type command struct {
	name    string
	args    string // as shown in the help
	summary string
	help    string // Markdown: the details; empty when the summary says all
	group   string
	// aliases are names that people know from other programs. They are answered with hint, or with what the command does, and are not run.
	aliases []string
	hint    string // Markdown
	// alone says that its name or an alias alone, without a slash, is meant as the command, and not as a question.
	alone bool
	// takes reports whether the words after its name, typed without a slash, show that the command is meant; nil for the common words only.
	takes func(words []string) bool
	// secret says that its arguments are not repeated.
	secret bool
	// unavailable says what to do instead where the command cannot be used; run is nil then.
	unavailable string // Markdown
	// operators says that operators may use it, because it only shows things.
	operators bool
	// answerers says that operators who may answer contacts may use it.
	answerers bool
	run       func(ctx context.Context, r request, args string) (answer, error)
	// onChat continues with the chat that was picked; nil for a command that needs no chat. chatHint follows "Reply with a number" and
	// says what that does.
	onChat   func(ctx context.Context, pick chatPick, chat store.Chat) (answer, error)
	chatHint func(pick chatPick) string
}

// chatPick has the arguments of a command that continues when its chat is picked. It is stored with the question which chat is meant.
type chatPick struct {
	Mode     policy.Mode     `json:",omitempty"` // for /mode; empty asks for one
	Delivery policy.Delivery `json:",omitempty"` // for /delivery; empty shows the present one
	FollowUp string          `json:",omitempty"` // for /followup: a number of days, off or default; empty shows the present one
	// for /label: the label to add, or after removePrefix the one to remove; empty shows the chat's labels
	Label string          `json:",omitempty"`
	Agent string          `json:",omitempty"` // for /agent; empty leaves it to the configuration
	Since int64           `json:",omitempty"` // for /import: the day to read back to, in Unix seconds
	Asked store.MessageID `json:",omitempty"` // for /export: the message that asked
	Count int             `json:",omitempty"` // for /messages: how many are shown
	// for /send: the text, and whether it is sent without being shown first
	Text string `json:",omitempty"`
	Now  bool   `json:",omitempty"`
	// Until is for /pause: when it ends; nil for never
	Until *time.Time `json:",omitempty"`
	// HasUnreadTime is for /pause: it was to end at a time that nobody understands
	HasUnreadTime bool   `json:",omitempty"`
	Audit         string `json:",omitempty"` // for /audit: pickInjection or pickLift; empty shows the entries
	// Customers limits the command to chats of customers: those on business, and those with an open escalation. It is set
	// for requests of operators, and in rooms that operators can read.
	Customers bool `json:",omitempty"`
	stale     bool // the chat's mode was changed after the list was shown
}

// commandTable lists all commands, in the order of the help.
type commandTable struct {
	commands []command
}

// allows reports whether the sender of a request may use the command.
func (c command) allows(r request) bool {
	return c.operators || r.isOwner() || (c.answerers && r.mayAnswer)
}

// isTyped reports whether words without a slash, of which the first is its name or an alias, are meant as the command and
// not as a question: "agents list", "cancel 14", "mode silent Ana".
func (c command) isTyped(words []string) bool {
	switch {
	case len(words) == 1:
		return c.alone
	case len(words) > maxTypedWords:
		return false
	case slices.Contains(showWords, words[1]) || slices.Contains(changeWords, words[1]):
		return true
	case parseNumber(words[1]) > 0 && len(words) <= 3:
		return true
	default:
		return c.takes != nil && c.takes(words[1:])
	}
}

// alternative says what to use instead of an alias, or of a command that cannot be used here; empty for a command that can be used.
func (c command) alternative() string {
	switch {
	case c.run == nil:
		return c.unavailable
	case c.hint != "":
		return c.hint
	default:
		return c.usage() + " — " + c.summary + "."
	}
}

// maxTypedWords is the maximum number of words that may be meant as a command without its slash.
const maxTypedWords = 4

// The words after a command's name, typed without a slash, that show that any command is meant. A command without arguments shows things.
var (
	showWords   = []string{"list", "show", "status", "get"}
	changeWords = []string{"set", "add", "remove", "all"}
)

// notAllowedAnswer tells an operator that only the owner may use a command.
func notAllowedAnswer(name string) answer {
	return answer{
		text:   "Only the owner can use `/" + name + "`. `/help` lists what operators can do.",
		reason: "An operator may not give this command.", outcome: "refused",
	}
}

// The groups of the help.
const (
	groupDocuments = "documents"
	groupChats     = "chats"
	groupCustomers = "customers"
	groupTime      = "time"
	groupMemory    = "memory"
	groupAgents    = "agents"
	groupHealth    = "health"
	groupControl   = "control"
)

// helpGroups are the groups in the order of the help.
var helpGroups = []string{
	groupDocuments, groupChats, groupCustomers, groupTime, groupMemory, groupAgents, groupHealth, groupControl,
}

// Command describes a command of the admin room.
type Command struct {
	Name    string
	Args    string // as shown in the help
	Summary string
}

// Commands returns the commands of the owner, in the order of the help.
func (a *Admin) Commands() []Command {
	var list []Command
	for _, c := range a.table.commands {
		if c.run != nil {
			list = append(list, Command{Name: c.name, Args: c.args, Summary: c.summary})
		}
	}
	return list
}

// lookup returns the command with a name.
func (t *commandTable) lookup(name string) (command, bool) {
	return t.find(func(c command) bool { return c.run != nil && c.name == name })
}

// lookupAlias returns the command to use instead of a name: the command that has it as an alias, or that cannot be used here.
func (t *commandTable) lookupAlias(name string) (command, bool) {
	return t.find(func(c command) bool { return c.run == nil && c.name == name || slices.Contains(c.aliases, name) })
}

// allowed returns the commands that the sender of a request may use.
func (t *commandTable) allowed(r request) []command {
	return slices.DeleteFunc(slices.Clone(t.commands), func(c command) bool { return c.run == nil || !c.allows(r) })
}

// find returns the first command that matches.
func (t *commandTable) find(matches func(command) bool) (command, bool) {
	i := slices.IndexFunc(t.commands, matches)
	if i < 0 {
		return command{}, false
	}
	return t.commands[i], true
}

// usage returns the command with its arguments, as Markdown.
func (c command) usage() string { return "`" + strings.TrimSpace("/"+c.name+" "+c.args) + "`" }
