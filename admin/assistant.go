package admin

import (
	"context"

	"multis/store"
)

// Asker answers a question of the owner in the room where it was asked, and settles the message that asked it.
type Asker interface {
	Ask(ctx context.Context, room store.Chat, message store.Message, question string) error
	// Thinks tells whether whoever answers a question there has a model.
	Thinks(room store.Chat, question string) bool
	// Answers says which agent answers in a chat, and what decided that; empty: multis itself does.
	Answers(chat store.Chat) (agent, by string)
}

// Files fetches a file that was sent in the admin room, at most limit bytes. A larger one is an error, as is one that is gone.
type Files interface {
	Download(ctx context.Context, file store.Attachment, limit int64) ([]byte, error)
}

// Planner begins what takes its time. A plan is shown to the owner before any of it is done.
type Planner interface {
	Plan(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, goal string) error
	// ReplayWith goes through a task again with another model, whose calls are paid. What comes of it is said in the room.
	ReplayWith(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, task store.Task, model string) error
}

// Replayer goes through a task again and shows what came of it.
type Replayer interface {
	Replay(ctx context.Context, task store.TaskID) (string, error)
}

// Toolbox lists what a model may call for the owner who asks in a room, and how the servers are that bring tools.
type Toolbox interface {
	Tools(ctx context.Context, room store.Chat) ([]Tool, error)
	Sources() []ToolSource
}

// Tool is something that a model may call for the owner, as the room shows it.
type Tool struct {
	Name    string
	Summary string
	Asks    bool // before it is done
}

// ToolSource is where further tools come from, as the room shows it.
type ToolSource struct {
	Name    string
	Tools   int
	Skipped []string // tools that were not taken, with the reasons
	Problem string   // why it is not there; empty: it is
}

// SavedTasks lists the tasks that are begun by name, as their files are now, and begins one.
type SavedTasks interface {
	Saved() []Saved
	// Begin begins a task. What comes of it is said in the room; problem says why it cannot be begun after all.
	Begin(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, name string) (problem string, err error)
}

// Saved is a task that is begun by its name, as the room shows it.
type Saved struct {
	Name    string
	Prompt  string
	Agent   string // who does it; empty: whoever answers here
	Problem string // why it cannot be begun; empty: it can
}

// Skills lists the files that say how agents work.
type Skills interface {
	Skills() []Skill
}

// Skill is a file that says how an agent works, as the room shows it.
type Skill struct {
	Name    string
	Summary string
	Agent   string // whose own it is; empty: everybody's
	From    string
	// Owner and Contact say whose questions it is for.
	Owner, Contact bool
	Problem        string
}
