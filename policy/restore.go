package policy

import "time"

// Restore is the state after a backup was restored. What the restored database would send may have been sent after the
// backup was made, so nothing is sent until the owner releases the hold. The zero value means that no backup was
// restored.
type Restore struct {
	BackupAt   time.Time `json:"backup_at"`            // when the backup was made
	RestoredAt time.Time `json:"restored_at"`          // when it was restored
	ReleasedAt time.Time `json:"released_at,omitzero"` // when the owner released the hold; zero until then
}

// OnHold reports whether nothing may be sent, because the owner has not released the hold yet.
func (r Restore) OnHold() bool { return !r.RestoredAt.IsZero() && r.ReleasedAt.IsZero() }

// forbidsAnswer reports whether a message sent at that time gets no answer: all messages from before the owner released the hold.
func (r Restore) forbidsAnswer(sentAt time.Time) bool {
	return r.OnHold() || sentAt.Before(r.ReleasedAt)
}

// forbidsCommand reports whether a command sent at that time is not executed. Commands from before the restore may have
// been executed before it.
func (r Restore) forbidsCommand(sentAt time.Time) bool { return sentAt.Before(r.RestoredAt) }

// InGap reports whether a time is between the backup and the restore. multis does not know what it sent in that time.
func (r Restore) InGap(at time.Time) bool {
	return !at.Before(r.BackupAt) && at.Before(r.RestoredAt)
}
