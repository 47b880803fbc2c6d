package tools

import (
	"context"
	_ "embed"
)

//go:embed sessions_list.md
var sessionsListText string

//go:embed sessions_history.md
var sessionsHistoryText string

//go:embed sessions_send.md
var sessionsSendText string

// The names of the tools that look at what agents worked on, and go on with it. Whoever runs the turn carries them out, as it knows whom the agent may ask.
const (
	SessionsListName    = "sessions_list"
	SessionsHistoryName = "sessions_history"
	SessionsSendName    = "sessions_send"
)

// SessionsHistoryArgs are the arguments of sessions_history.
type SessionsHistoryArgs struct {
	Session int64 `json:"session" jsonschema:"its number, as sessions_list shows it"`
}

// SessionsSendArgs are the arguments of sessions_send.
type SessionsSendArgs struct {
	Session int64  `json:"session" jsonschema:"its number, as sessions_list shows it"`
	Message string `json:"message" jsonschema:"what to say to the agent that did it"`
}

// SessionsList lists what an agent, and those that it may have work, worked on lately.
type SessionsList struct{}

// Spec describes it.
func (SessionsList) Spec() Spec {
	return Spec{Name: SessionsListName, Description: sessionsListText, Schema: Schema[struct{}](), Tier: Read, Can: []string{"agents"}}
}

// Run is for callers that are no turn.
func (SessionsList) Run(context.Context, Call) (Result, error) { return noSessions(), nil }

// SessionsHistory shows one of them.
type SessionsHistory struct{}

// Spec describes it.
func (SessionsHistory) Spec() Spec {
	return Spec{Name: SessionsHistoryName, Description: sessionsHistoryText, Schema: Schema[SessionsHistoryArgs](), Tier: Read, Can: []string{"agents"}}
}

// Run is for callers that are no turn.
func (SessionsHistory) Run(context.Context, Call) (Result, error) { return noSessions(), nil }

// SessionsSend writes to the agent that did one of them, and brings its answer.
type SessionsSend struct{}

// Spec describes it.
func (SessionsSend) Spec() Spec {
	return Spec{Name: SessionsSendName, Description: sessionsSendText, Schema: Schema[SessionsSendArgs](), Tier: Read, Can: []string{"agents"}}
}

// Run is for callers that are no turn.
func (SessionsSend) Run(context.Context, Call) (Result, error) { return noSessions(), nil }

func noSessions() Result { return Refused(CodeRefused, "There are no sessions here.") }
