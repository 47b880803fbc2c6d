package row

import "multis/policy"

// The ids of rows. A row of outbox has a uuid.UUID. A row that no other table and no job refers to has a plain int64.
type (
	// ChatID identifies a row of chats.
	ChatID = policy.ChatID
	// MessageID identifies a row of messages.
	MessageID int64
	// DocumentID identifies a row of documents.
	DocumentID int64
	// ChunkID identifies a passage of a document: a row of chunks.
	ChunkID int64
	// TaskID identifies a row of tasks.
	TaskID int64
	// ScheduleID identifies a row of schedules.
	ScheduleID int64
	// ExecutionID identifies a row of schedule_executions.
	ExecutionID int64
	// CommitmentID identifies a row of commitments.
	CommitmentID int64
	// NoteID identifies a row of notes.
	NoteID int64
	// SectionID identifies a row of note_sections.
	SectionID int64
	// WatchID identifies a row of watches.
	WatchID int64
	// MonitorID identifies a row of monitors.
	MonitorID int64
	// ForgettingID identifies a row of forgettings.
	ForgettingID int64
	// EscalationID identifies a row of escalations.
	EscalationID int64
)
