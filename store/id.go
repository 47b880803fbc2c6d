package store

// The ids of rows. They are aliases while the packages are converted, and become types of their own after that.
type (
	// ChatID identifies a row of chats.
	ChatID = int64
	// MessageID identifies a row of messages.
	MessageID = int64
	// DocumentID identifies a row of documents.
	DocumentID = int64
	// ChunkID identifies a passage of a document: a row of chunks.
	ChunkID = int64
	// TaskID identifies a row of tasks.
	TaskID = int64
	// OutboxID identifies a row of outbox.
	OutboxID = int64
	// ScheduleID identifies a row of schedules.
	ScheduleID = int64
	// CommitmentID identifies a row of commitments.
	CommitmentID = int64
)
