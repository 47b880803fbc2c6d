package store

import (
	"multis/store/row"
)

// The ids of rows.
type (
	// ChatID identifies a row of chats.
	ChatID = row.ChatID
	// MessageID identifies a row of messages.
	MessageID = row.MessageID
	// DocumentID identifies a row of documents.
	DocumentID = row.DocumentID
	// ChunkID identifies a passage of a document: a row of chunks.
	ChunkID = row.ChunkID
	// TaskID identifies a row of tasks.
	TaskID = row.TaskID
	// ScheduleID identifies a row of schedules.
	ScheduleID = row.ScheduleID
	// ExecutionID identifies a row of schedule_executions.
	ExecutionID = row.ExecutionID
	// CommitmentID identifies a row of commitments.
	CommitmentID = row.CommitmentID
	// NoteID identifies a row of notes.
	NoteID = row.NoteID
	// SectionID identifies a row of note_sections.
	SectionID = row.SectionID
	// WatchID identifies a row of watches.
	WatchID = row.WatchID
	// MonitorID identifies a row of monitors.
	MonitorID = row.MonitorID
	// ForgettingID identifies a row of forgettings.
	ForgettingID = row.ForgettingID
	// EscalationID identifies a row of escalations.
	EscalationID = row.EscalationID
)
