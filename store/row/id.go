package row

import "multis/policy"

// The ids of rows. They are aliases while the packages are converted, and become types of their own after that.
//
// Rows of outbox have a uuid.UUID, and rows that only this package refers to a plain int64.
type (
	// ChatID identifies a row of chats.
	ChatID = policy.ChatID
	// MessageID identifies a row of messages.
	MessageID = int64
	// DocumentID identifies a row of documents.
	DocumentID = int64
	// ChunkID identifies a passage of a document: a row of chunks.
	ChunkID = int64
	// TaskID identifies a row of tasks.
	TaskID = int64
	// ScheduleID identifies a row of schedules.
	ScheduleID = int64
	// RunID identifies a row of schedule_runs.
	RunID = int64
	// CommitmentID identifies a row of commitments.
	CommitmentID = int64
	// NoteID identifies a row of notes.
	NoteID = int64
)
