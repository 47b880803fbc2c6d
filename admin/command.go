package admin

import (
	"context"
	"slices"
	"strings"

	"multis/policy"
	"multis/store"
)

// command is one thing that can be asked for by name.
type command struct {
	name    string
	args    string // as shown in the help
	summary string
	help    string // Markdown: what more there is to know
	group   string
	// operators says that it only shows, so that operators may give it as well.
	operators bool
	run       func(ctx context.Context, r request, args string) (answer, error)
	// onChat goes on with the chat that was picked for the command; nil for one that asks for no chat. chatHint says what a number
	// does, after "Reply with a number".
	onChat   func(ctx context.Context, pick chatPick, chat store.Chat) (answer, error)
	chatHint func(pick chatPick) string
}

// chatPick is what a command is to do with the chat that is picked for it. It is stored with the question.
type chatPick struct {
	Mode     policy.Mode     `json:",omitempty"` // for /mode; empty asks for one
	Delivery policy.Delivery `json:",omitempty"` // for /delivery; empty shows the present one
	Agent    string          `json:",omitempty"` // for /agent; empty leaves it to the configuration
	Since    int64           `json:",omitempty"` // for /import: the day to read back to, in Unix seconds
	Asked    store.MessageID `json:",omitempty"` // for /export: the message that asked
	stale    bool            // the chat's mode is no longer the one that was shown
}

// commandTable is every command, in the order of the help.
type commandTable struct {
	commands []command
}

// allows tells whether the one who wrote may give the command.
func (c command) allows(r request) bool { return c.operators || r.isOwner() }

// refusal names the rule that keeps an operator from a command.
func refusal(name string) answer {
	return answer{
		text: "`/" + name + "` is the owner's: operators look, only the owner changes chats, documents and settings. " +
			"`/help` shows what you can do here; who is owner and who operator stands in config.yaml.",
		reason: "An operator may not give this command.",
	}
}

// The groups of the help, in its order.
const (
	groupAsk     = "Ask"
	groupMemory  = "Memory"
	groupChats   = "Chats"
	groupTime    = "Time"
	groupControl = "Control"
)

func (t *commandTable) lookup(name string) (command, bool) {
	i := slices.IndexFunc(t.commands, func(c command) bool { return c.name == name })
	if i < 0 {
		return command{}, false
	}
	return t.commands[i], true
}

func (c command) usage() string { return "`" + strings.TrimSpace("/"+c.name+" "+c.args) + "`" }
