package tools

import (
	"context"
	_ "embed"

	"multis/policy/rules"
	"multis/store"
)

//go:embed sessions_list.md
var sessionsListText string

//go:embed sessions_history.md
var sessionsHistoryText string

//go:embed sessions_send.md
var sessionsSendText string

// The names of the tools that read and continue other agents' tasks. The agent's turn makes these calls itself, because
// it knows which agents it may ask.
const (
	SessionsListName    = "sessions_list"
	SessionsHistoryName = "sessions_history"
	SessionsSendName    = "sessions_send"
)

// SessionsHistoryArgs are the arguments of sessions_history.
type SessionsHistoryArgs struct {
	Session store.TaskID `json:"session" jsonschema:"its number, as sessions_list shows it"`
}

// SessionsSendArgs are the arguments of sessions_send.
type SessionsSendArgs struct {
	Session store.TaskID `json:"session" jsonschema:"its number, as sessions_list shows it"`
	Message string       `json:"message" jsonschema:"what to say to the agent that did it"`
}

// SessionsList is the tool that lists the latest tasks of an agent and of the agents to which it may delegate.
type SessionsList struct{}

// Spec describes the tool.
func (SessionsList) Spec() Spec {
	return Spec{
		Name:        SessionsListName,
		Description: sessionsListText,
		Schema:      Schema[struct{}](),
		Tier:        Read,
		Class:       rules.ClassRead,
		Foreign:     true,
	}
}

// Run refuses: an agent's turn carries the call out itself.
func (SessionsList) Run(context.Context, Call) (Result, error) { return noSessions(), nil }

// SessionsHistory is the tool that shows one of the tasks that sessions_list lists.
type SessionsHistory struct{}

// Spec describes the tool.
func (SessionsHistory) Spec() Spec {
	return Spec{
		Name:        SessionsHistoryName,
		Description: sessionsHistoryText,
		Schema:      Schema[SessionsHistoryArgs](),
		Tier:        Read,
		Class:       rules.ClassRead,
		Foreign:     true,
	}
}

// Run refuses: an agent's turn carries the call out itself.
func (SessionsHistory) Run(context.Context, Call) (Result, error) { return noSessions(), nil }

// SessionsSend is the tool that continues one of the tasks that sessions_list lists with a message, and returns the agent's answer.
type SessionsSend struct{}

// Spec describes the tool.
func (SessionsSend) Spec() Spec {
	return Spec{
		Name:        SessionsSendName,
		Description: sessionsSendText,
		Schema:      Schema[SessionsSendArgs](),
		Tier:        Read,
		Class:       rules.ClassDelegate,
		Foreign:     true,
	}
}

// Run refuses: an agent's turn carries the call out itself.
func (SessionsSend) Run(context.Context, Call) (Result, error) { return noSessions(), nil }

func noSessions() Result { return Refused(CodeRefused, "There are no sessions here.") }
