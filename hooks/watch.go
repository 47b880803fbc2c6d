package hooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"multis/internal/fetch"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/store"
)

// LineExtractor extracts the lines of a page's text.
type LineExtractor interface {
	Lines(ctx context.Context, p fetch.Page) ([]string, error)
}

// PageWatcherOptions are what NewPageWatcher needs.
type PageWatcherOptions struct {
	Store  *store.Store
	Box    *outbox.Box
	Fetch  *fetch.Client
	Reader LineExtractor
}

// PageWatcher checks web pages for changes and notifies the owner of them.
type PageWatcher struct {
	PageWatcherOptions
	now func() time.Time
}

// NewPageWatcher returns a PageWatcher.
func NewPageWatcher(o PageWatcherOptions) *PageWatcher {
	return &PageWatcher{PageWatcherOptions: o, now: time.Now}
}

const (
	// maxFailures is how many times in a row a page may fail before the owner is notified.
	maxFailures = 3
	// maxInterval is the maximum time between checks after failures. It doubles with each failure.
	maxInterval = 24 * time.Hour
	// maxPageSize is how many bytes of a page are compared.
	maxPageSize = 256 << 10
)

// CheckPage checks a page if that is due, and returns jobs.Snooze with the time to the next check.
func (w *PageWatcher) CheckPage(ctx context.Context, watch store.WatchID) error {
	row, err := store.WatchByID(ctx, w.Store.DB(), watch)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	if wait := row.NextAt.Sub(w.now()); wait > 0 {
		return jobs.Snooze(wait)
	}
	due := row.NextAt
	n, err := w.check(ctx, &row)
	if err != nil {
		return err
	}
	err = w.Store.InTx(ctx, func(tx store.Tx) error {
		first, err := store.RecordPageCheck(ctx, tx, row, due, row.Failures == 0 && n.text != "")
		if err != nil {
			return err
		}
		if !first || n.text == "" {
			return nil
		}
		return w.Box.NotifyOwner(ctx, tx, n.kind, n.text)
	})
	if err != nil {
		return err
	}
	return jobs.Snooze(row.NextAt.Sub(w.now()))
}

// notice is a notice to the owner about a page. An empty text means that there is none.
type notice struct {
	kind outbox.NoticeKind
	text string
}

// check fetches a page, updates row and returns the notice about it. If the page cannot be read, row says so; the error
// is for failures of multis itself.
func (w *PageWatcher) check(ctx context.Context, row *store.Watch) (notice, error) {
	every := time.Duration(row.Interval) * time.Second
	page, err := w.Fetch.Get(ctx, row.Address, fetch.Validator(row.Validator))
	var lines []string
	if err == nil {
		lines, err = w.Reader.Lines(ctx, page)
	}
	failed := row.Failures >= maxFailures
	switch {
	case ctx.Err() != nil:
		return notice{}, ctx.Err()
	case errors.Is(err, fetch.ErrUnchanged):
		row.Failures, row.Error = 0, ""
	case err != nil:
		row.Failures, row.Error = row.Failures+1, err.Error()
		wait := every << min(row.Failures, 8)
		if status, ok := errors.AsType[fetch.StatusError](err); ok {
			wait = max(wait, status.RetryAfter) // the server asks to wait
		}
		row.NextAt = w.now().Add(min(wait, max(maxInterval, every)))
		if row.Failures != maxFailures {
			return notice{}, nil
		}
		return notice{
			outbox.Alert,
			fmt.Sprintf("⚠️ I could not read **%s** %d times in a row: %s. I keep trying, at least once a day; `/watch remove %s` ends it.",
				text.Escape(row.Name), maxFailures, text.Escape(row.Error), row.Name),
		}, nil
	}
	row.NextAt = w.now().Add(every)
	if errors.Is(err, fetch.ErrUnchanged) {
		forgetChanges(row)
		return recoveryNotice(failed, row.Name), nil
	}
	before := row.Seen
	text := clipLines(lines, maxPageSize)
	row.Seen = &text
	row.Validator = string(page.Validator)
	row.Failures = 0
	row.Error = ""
	if before == nil {
		return recoveryNotice(failed, row.Name), nil
	}
	d := diffLines(compared(strings.Split(*before, "\n"), row.LeftOut), compared(strings.Split(text, "\n"), row.LeftOut))
	if len(d.added)+len(d.removed) == 0 {
		forgetChanges(row)
		return recoveryNotice(failed, row.Name), nil
	}
	always := noteChange(row, d)
	return notice{outbox.Alert, changeText(*row, d) + alwaysText(*row, always)}, nil
}

// recoveryNotice returns the notice that a page can be read again. It is empty unless the owner was notified that the page failed.
func recoveryNotice(failed bool, name string) notice {
	if !failed {
		return notice{}
	}
	return notice{outbox.Quiet, "✅ I can read **" + text.Escape(name) + "** again."}
}

// The limits of the lines in a notice about a changed page.
const (
	maxAddedLines   = 8
	maxRemovedLines = 4
	maxLineLength   = 200
)

// changeText returns the text of a notice about a changed page: the added and removed lines.
func changeText(row store.Watch, d diff) string {
	lines := []string{fmt.Sprintf("👁 **%s** has changed: %s", text.Escape(row.Name), text.Escape(row.Address))}
	for _, line := range d.added[:min(len(d.added), maxAddedLines)] {
		lines = append(lines, "➕ "+text.Escape(text.Clip(line, maxLineLength)))
	}
	for _, line := range d.removed[:min(len(d.removed), maxRemovedLines)] {
		lines = append(lines, "➖ "+text.Escape(text.Clip(line, maxLineLength)))
	}
	if more := max(len(d.added)-maxAddedLines, 0) + max(len(d.removed)-maxRemovedLines, 0); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n\n")
}

// alwaysText says which lines of a page are left out from now on, because they change at every check; empty for none.
func alwaysText(row store.Watch, shapes []string) string {
	if len(shapes) == 0 {
		return ""
	}
	var lines []string
	for _, shape := range shapes[:min(len(shapes), maxRemovedLines)] {
		lines = append(lines, "“"+text.Escape(text.Clip(shape, maxLineLength))+"”")
	}
	if more := len(shapes) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("\n\n🔁 It has changed %d times in a row. From now on I leave out the lines of the form %s. To see them again: `/watch remove %s`, and add it again.",
		maxChanges, strings.Join(lines, ", "), row.Name)
}
