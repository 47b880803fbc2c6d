package tools

import (
	"context"
	_ "embed"

	"multis/policy/rules"
)

//go:embed message_contact.md
var messageContactText string

// MessageContactName is the name of the tool that drafts a message to a chat. The agent's turn makes the call itself,
// because a draft keeps what its task has read.
const MessageContactName = "message_contact"

// MessageContactArgs are the arguments of message_contact.
type MessageContactArgs struct {
	Chat string `json:"chat" jsonschema:"the name of the chat, with its network if several have that name, such as Ana · WhatsApp"`
	Text string `json:"text" jsonschema:"the words to send, in that person's language"`
}

// MessageContact is the tool that drafts a message to a chat.
type MessageContact struct{}

// Spec describes the tool. It needs no approval: the owner approves the draft before it is sent.
func (MessageContact) Spec() Spec {
	return Spec{
		Name:        MessageContactName,
		Description: messageContactText,
		Schema:      Schema[MessageContactArgs](),
		Tier:        Read,
		Class:       rules.ClassNotify,
		HasEffect:   true,
	}
}

// Run always refuses: where a draft is possible, the agent's turn handles the call before the registry does (see agent/messagecontact.go).
func (MessageContact) Run(context.Context, Call) (Result, error) {
	return Refused(CodeRefused, "No message can be drafted here."), nil
}
