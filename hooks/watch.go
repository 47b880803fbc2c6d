package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/fetch"
	"multis/jobs"
	"multis/outbox"
	"multis/store"
	"multis/text"
)

// Reader gives the text of a page line by line, without what is not its content.
type Reader interface {
	Lines(ctx context.Context, p fetch.Page) ([]string, error)
}

// WatchOptions are what a watch works with.
type WatchOptions struct {
	Store  *store.Store
	Box    *outbox.Box
	Fetch  *fetch.Client
	Reader Reader
}

// Watch looks at pages that the owner wants to hear of, and tells what changed.
type Watch struct {
	WatchOptions
	now func() time.Time
}

// NewWatch makes a Watch.
func NewWatch(o WatchOptions) *Watch { return &Watch{WatchOptions: o, now: time.Now} }

const (
	// failuresToTell is how often a page may fail before the owner hears of it: servers have bad moments.
	failuresToTell = 3
	// longestEvery bounds the pauses after failures, which double.
	longestEvery = 24 * time.Hour
	// mostSeen is how much of a page is compared, in bytes.
	mostSeen = 256 << 10
)

// CheckPage looks at a page once its time has come, and asks to come back for the next time.
func (w *Watch) CheckPage(ctx context.Context, watch int64) error {
	row, err := store.WatchByID(ctx, w.Store.DB(), watch)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil {
		return err
	}
	if wait := row.NextAt.Sub(w.now()); wait > 0 {
		return jobs.Later(wait)
	}
	told, err := w.look(ctx, &row)
	if err != nil {
		return err
	}
	err = w.Store.InTx(ctx, func(tx store.Tx) error {
		if err := store.NoteWatch(ctx, tx, row, row.Failures == 0 && told.text != ""); err != nil || told.text == "" {
			return err
		}
		return w.Box.NotifyOwner(ctx, tx, told.kind, told.text)
	})
	if err != nil {
		return err
	}
	return jobs.Later(row.NextAt.Sub(w.now()))
}

// news is what there is to tell of a page; an empty text is nothing.
type news struct {
	kind outbox.NoticeKind
	text string
}

// look fetches the page, writes into the row what came of it and returns what there is to tell. An error is one of this
// machine, not of the page.
func (w *Watch) look(ctx context.Context, row *store.Watch) (news, error) {
	every := time.Duration(row.Every) * time.Second
	page, err := w.Fetch.Get(ctx, row.Address, fetch.Validator(row.Validator))
	var lines []string
	if err == nil {
		lines, err = w.Reader.Lines(ctx, page)
	}
	failed := row.Failures >= failuresToTell
	switch {
	case ctx.Err() != nil:
		return news{}, ctx.Err()
	case errors.Is(err, fetch.ErrUnchanged):
		row.Failures, row.Error = 0, ""
	case err != nil:
		row.Failures, row.Error = row.Failures+1, err.Error()
		wait := every << min(row.Failures, 8)
		if status, ok := errors.AsType[fetch.StatusError](err); ok {
			wait = max(wait, status.After) // it asks to be left alone
		}
		row.NextAt = w.now().Add(min(wait, max(longestEvery, every)))
		if row.Failures != failuresToTell {
			return news{}, nil
		}
		return news{outbox.Ring, fmt.Sprintf("⚠️ I could not read **%s** %d times in a row: %s. I go on trying, once a day at least; `/watch remove %s` ends it.",
			text.Escape(row.Name), failuresToTell, text.Escape(row.Error), row.Name)}, nil
	}
	row.NextAt = w.now().Add(every)
	if errors.Is(err, fetch.ErrUnchanged) {
		return again(failed, row.Name), nil
	}
	before := row.Seen
	text := clipLines(lines, mostSeen)
	row.Seen, row.Validator, row.Failures, row.Error = &text, string(page.Validator), 0, ""
	if before == nil {
		return again(failed, row.Name), nil
	}
	d := difference(strings.Split(*before, "\n"), strings.Split(text, "\n"))
	if len(d.added)+len(d.removed) == 0 {
		return again(failed, row.Name), nil
	}
	return news{outbox.Ring, changed(*row, d)}, nil
}

// again says that a page can be read after the owner was told that it cannot.
func again(failed bool, name string) news {
	if !failed {
		return news{}
	}
	return news{outbox.Quiet, "✅ I can read **" + text.Escape(name) + "** again."}
}

// How much of a change is shown.
const (
	shownAdded   = 8
	shownRemoved = 4
	shownLine    = 200
)

// changed says what is new on a page, and what is gone from it.
func changed(row store.Watch, d diff) string {
	lines := []string{fmt.Sprintf("👁 **%s** has changed: %s", text.Escape(row.Name), text.Escape(row.Address))}
	for _, line := range d.added[:min(len(d.added), shownAdded)] {
		lines = append(lines, "➕ "+text.Escape(text.Clip(line, shownLine)))
	}
	for _, line := range d.removed[:min(len(d.removed), shownRemoved)] {
		lines = append(lines, "➖ "+text.Escape(text.Clip(line, shownLine)))
	}
	if more := max(len(d.added)-shownAdded, 0) + max(len(d.removed)-shownRemoved, 0); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n\n")
}
