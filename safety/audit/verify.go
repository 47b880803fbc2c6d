package audit

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/store"
)

var (
	// ErrBroken is returned by Verify if the log was changed. The error names the first wrong entry.
	ErrBroken = errors.New("the audit log was changed")
	// ErrPruned is returned by VerifyAgainst if the saved link is older than the log. The rest of the log was not checked.
	ErrPruned = errors.New("it was pruned, so it cannot be compared; take a newer one from the admin room (audit.retention_days says how long entries are kept)")
)

// Report is the result of Verify.
type Report struct {
	Entries int              // how many were checked
	First   time.Time        // of the oldest entry; zero if there is none
	Head    store.AuditPoint // the last link; see VerifyAgainst
	Pruned  int64            // how many entries before the first were pruned
}

// Verify reads the whole log and checks each link. It returns ErrBroken if an entry was changed, added, removed or moved,
// or if this log did not sign a checkpoint, or if a trigger that writes entries is switched off.
func (l Log) Verify(ctx context.Context, st *store.Store) (Report, error) {
	return l.VerifyAgainst(ctx, st, store.AuditPoint{})
}

// VerifyAgainst is Verify and also compares the log with one of its links that was saved elsewhere, because whoever
// controls the database can cut off the end of the log, or write a whole log whose links fit. saved.Hash may be the
// beginning of a hash, as ShortHash returns it. VerifyAgainst returns ErrPruned if that link was pruned.
func (l Log) VerifyAgainst(ctx context.Context, st *store.Store, saved store.AuditPoint) (Report, error) {
	v := verifier{log: l, saved: saved}
	off, err := store.DisabledAuditTriggers(ctx, st.DB())
	if err != nil {
		return v.report, err
	}
	if len(off) > 0 {
		return v.report, fmt.Errorf("%w: entries are missing from some moment on, because these triggers are switched off: %s", ErrBroken,
			strings.Join(off, ", "))
	}
	switch err := st.ReadAudit(ctx, store.AuditReader{Start: v.start, Link: v.verifyLink}); {
	case errors.Is(err, store.ErrNotFound):
		return v.report, fmt.Errorf("%w: its end is gone", ErrBroken)
	case err != nil:
		return v.report, err
	}
	return v.report, v.end()
}

// verifier checks the chain link by link.
type verifier struct {
	log         Log
	saved       store.AuditPoint // zero if the log is compared with no saved link
	checkpoints []store.AuditCheckpoint
	last        store.AuditPoint
	report      Report
}

func (v *verifier) start(checkpoints []store.AuditCheckpoint, head store.AuditPoint) error {
	v.checkpoints, v.report.Head = checkpoints, head
	for _, c := range checkpoints {
		if !hmac.Equal(c.Signature, v.log.signPoint(c.AuditPoint)) {
			return fmt.Errorf("%w: the checkpoint at entry %d is not signed with this installation's key (was as_token changed?)", ErrBroken, c.Seq)
		}
	}
	if n := len(checkpoints); n > 0 {
		v.last = checkpoints[n-1].AuditPoint
		v.report.Pruned = v.last.Seq
	}
	if v.saved.Seq > 0 && v.saved.Seq < v.last.Seq {
		return fmt.Errorf("link %d: %w", v.saved.Seq, ErrPruned)
	}
	return v.compare(v.last)
}

// compare returns ErrBroken if a link is the saved one and has another hash.
func (v *verifier) compare(p store.AuditPoint) error {
	if v.saved.Seq == 0 || p.Seq != v.saved.Seq || bytes.HasPrefix(p.Hash, v.saved.Hash) {
		return nil
	}
	return fmt.Errorf("%w: link %d is %x and should be %x, so the log up to there was written again, unless the letters were mistyped",
		ErrBroken, p.Seq, ShortHash(p), v.saved.Hash)
}

func (v *verifier) verifyLink(l store.AuditLink) error {
	switch {
	case l.Seq == 0:
		return fmt.Errorf("%w: entry with the id %d of %s is not in the chain", ErrBroken, l.ID, l.At.UTC().Format(time.RFC3339))
	case l.Seq != v.last.Seq+1:
		return fmt.Errorf("%w: after entry %d comes %d", ErrBroken, v.last.Seq, l.Seq)
	case l.ID == 0:
		return fmt.Errorf("%w: entry %d is gone", ErrBroken, l.Seq)
	case !bytes.Equal(l.Hash, linkHash(v.last.Hash, l)):
		return fmt.Errorf("%w: entry %d of %s does not have the hash of its link", ErrBroken, l.Seq, l.At.UTC().Format(time.RFC3339))
	}
	if v.report.Entries == 0 {
		v.report.First = l.At
	}
	v.report.Entries++
	v.last = store.AuditPoint{Seq: l.Seq, Hash: l.Hash}
	return v.compare(v.last)
}

func (v *verifier) end() error {
	if v.last.Seq != v.report.Head.Seq || !bytes.Equal(v.last.Hash, v.report.Head.Hash) {
		return fmt.Errorf("%w: it ends at entry %d and should end at %d", ErrBroken, v.last.Seq, v.report.Head.Seq)
	}
	if v.last.Seq < v.saved.Seq {
		return fmt.Errorf("%w: it ends at entry %d, and there was a link %d", ErrBroken, v.last.Seq, v.saved.Seq)
	}
	return nil
}

// linkHash returns the hash of a link, given the hash of the previous one. It equals that of the SQL functions audit_link and audit_bytes.
func linkHash(previous []byte, l store.AuditLink) []byte {
	b := make([]byte, 0, 512)
	b = append(b, previous...)
	number := func(n int64) { b = binary.BigEndian.AppendUint64(b, uint64(n)) } //nolint:gosec // the bits count
	part := func(p []byte) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(p))) //nolint:gosec // entries are short
		b = append(b, p...)
	}
	number(l.Seq)
	number(l.ID)
	number(l.At.UnixMicro())
	part([]byte(l.Kind))
	part([]byte(l.Actor))
	part(l.Person)
	part([]byte(l.Agent))
	number(int64(l.ChatID))
	number(int64(l.MessageID))
	number(int64(l.TaskID))
	for _, s := range []string{l.Ref, l.Action, l.Outcome, l.Rule} {
		part([]byte(s))
	}
	part(l.Content)
	sum := sha256.Sum256(b)
	return sum[:]
}
