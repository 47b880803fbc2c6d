package policy

import "time"

// Restore says what a restored backup forbids: it is the past, and what it would send may have been sent since. The zero value forbids
// nothing, because no backup was restored.
type Restore struct {
	BackupAt   time.Time `json:"backup_at"`            // when the backup was made
	RestoredAt time.Time `json:"restored_at"`          // when it was restored
	ReleasedAt time.Time `json:"released_at,omitzero"` // when the owner said that multis may go on; zero until then
}

// OnHold reports whether nothing may go out, because the owner has not said yet that multis may go on.
func (r Restore) OnHold() bool { return !r.RestoredAt.IsZero() && r.ReleasedAt.IsZero() }

// forbidsAnswer reports whether a message from a time gets no answer: everything from before the owner's word.
func (r Restore) forbidsAnswer(sentAt time.Time) bool {
	return r.OnHold() || sentAt.Before(r.ReleasedAt)
}

// forbidsCommand reports whether a command from a time is not carried out: those from before the restore were carried out then.
func (r Restore) forbidsCommand(sentAt time.Time) bool { return sentAt.Before(r.RestoredAt) }

// InGap reports whether a time is after the backup and before the restore. What multis sent then is unknown to it.
func (r Restore) InGap(at time.Time) bool {
	return !at.Before(r.BackupAt) && at.Before(r.RestoredAt)
}
