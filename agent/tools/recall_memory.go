package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"multis/memory"
	"multis/policy/rules"
)

//go:embed recall_memory.md
var recallMemoryText string

// maxRecalled is how many passages one call returns. It is more than maxPassages, because messages are short.
const maxRecalled = 10

// RecallMemory is the tool that searches notes and messages: for a contact those of the contact's chat, for the owner the
// owner's notes and the chats that the question names.
type RecallMemory struct{ Memory *memory.Memory }

type recallMemoryArgs struct {
	Query string `json:"query" jsonschema:"what to look for, with the name of the person and the time if they were named"`
}

// Spec describes the tool.
func (RecallMemory) Spec() Spec {
	return Spec{
		Name:        "recall_memory",
		Description: recallMemoryText,
		Schema:      Schema[recallMemoryArgs](),
		Tier:        Read,
		Class:       rules.ClassRead,
	}
}

// Run searches within the caller's scope, which no argument extends.
func (t RecallMemory) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[recallMemoryArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	if strings.TrimSpace(args.Query) == "" {
		return Refused(CodeArguments, "query is empty"), nil
	}
	found, err := t.Memory.Recall(ctx, memory.Question{Text: args.Query, AsOwner: c.Owner, Scope: c.Scope, Limit: maxRecalled})
	if err != nil {
		return Result{}, err
	}
	if len(found.Hits) == 0 {
		return Result{
			ForLLM:  "Nothing of that kind is remembered.",
			ForUser: fmt.Sprintf("looked into the memory for “%s”: nothing", args.Query),
		}, nil
	}
	return Result{Passages: found.Hits, ForUser: fmt.Sprintf("looked into the memory for “%s”: %d passages", args.Query, len(found.Hits))}, nil
}
