package admin

import (
	"context"

	"multis/agent/mcp"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/store"
)

// Asker answers questions of the owner.
type Asker interface {
	// AskWithNote answers the question and marks its message as answered. It adds the note if no model reads it and nothing is found.
	AskWithNote(ctx context.Context, room store.Chat, message store.Message, question, note string) error
	// HasModel reports whether the agent that would answer the question in this room has a model.
	HasModel(room store.Chat, question string) bool
	// AnsweringAgent returns the id of the agent that answers in a chat, and what selected it. Both are empty if multis itself answers.
	AnsweringAgent(chat store.Chat) (agent, by string)
}

// Files downloads the files that are sent in the admin room.
type Files interface {
	// Download returns the content of a file. It fails if the file is larger than limit bytes, or does not exist any more.
	Download(ctx context.Context, file store.Attachment, limit int64) ([]byte, error)
}

// Planner starts tasks of several steps.
type Planner interface {
	// Plan starts the planning of a goal. The finished plan is carried out only after the owner approves it.
	Plan(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, goal string) error
	// ReplayWith starts a replay of a task with another model, whose calls cost money. The result is written to the room.
	ReplayWith(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, task store.Task, model string) error
}

// Replayer replays tasks.
type Replayer interface {
	// Replay replays a task from its stored steps, without calling a model or a tool, and returns the result as Markdown.
	Replay(ctx context.Context, task store.TaskID) (string, error)
}

// Toolbox lists the tools of the assistant.
type Toolbox interface {
	// OfferedTools returns the tools that a model may call for the owner in a room.
	OfferedTools(ctx context.Context, room store.Chat) ([]tools.Spec, error)
}

// ToolServers are the servers that provide further tools.
type ToolServers interface {
	States() []mcp.State
}

// SavedTasks lists and starts the tasks that have a file in the tasks folder.
type SavedTasks interface {
	Saved() []skills.SavedTask
	// Start starts the task with this name, and has the result written to the room. problem says why it cannot start; empty when it did.
	Start(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, name string) (problem string, err error)
}

// Skills lists the skill files: texts that tell agents how to work.
type Skills interface {
	// All returns the skills of an agent, given by its folder; those of multis itself without one.
	All(workspace string) []skills.Skill
}
