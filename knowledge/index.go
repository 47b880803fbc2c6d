package knowledge

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"multis/store/index"
)

// Index reads a file, cuts it into passages and replaces the passages of the same origin in one transaction. A document
// that is stored with another role is moved to f.Role, unless the stored role was set later, or the document is private
// and f.FoundInBulk is set. Report.Role is the resulting role.
func (l *Library) Index(ctx context.Context, f File) (Report, error) {
	report, err := l.index(ctx, f)
	if err != nil {
		return Report{}, fmt.Errorf("index %s: %w", f.Name, err)
	}
	return report, nil
}

// index is Index with errors that do not name the file.
func (l *Library) index(ctx context.Context, f File) (Report, error) {
	for {
		report, err := l.indexOnce(ctx, f)
		if !errors.Is(err, index.ErrRoleKept) {
			return report, err
		}
		// The role was changed while the file was read, so its passages were made for another role: index it once more.
	}
}

func (l *Library) indexOnce(ctx context.Context, f File) (Report, error) {
	t, err := l.targetOf(ctx, f)
	if err != nil {
		return Report{}, err
	}
	row, old := t.row, t.old
	if old.Role == row.Role && old.Hash == row.Hash {
		return Report{Name: old.Name, Role: row.Role, Chunks: old.Chunks, Unchanged: true}, index.ConfirmRole(ctx, l.st.Writer(), row)
	}
	content, err := l.read(ctx, f)
	if err != nil && old.ID != 0 && IsPermanent(err) {
		err = fmt.Errorf("%w; what was indexed of it before stays as it was", err)
	}
	if err != nil {
		return Report{}, err
	}
	row.Format = content.Format
	row.Title = cmp.Or(f.Title, titleOf(content.Sections))
	row.Notes = content.Notes
	report, err := l.write(ctx, t.scope, row, chunksOf(row, content.Sections))
	report.Pages, report.Notes = content.Pages, content.Notes
	return report, err
}
