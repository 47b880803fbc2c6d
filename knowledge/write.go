package knowledge

import (
	"context"

	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// write replaces what was indexed from the origin of a document.
func (l *Library) write(ctx context.Context, scope policy.Scope, row index.Document, chunks []index.Chunk) (Report, error) {
	switch {
	case len(chunks) == 0:
		return Report{}, ErrEmpty
	case len(chunks) > maxChunks:
		return Report{}, ErrTooBig
	}
	report := Report{Name: row.Name, Role: row.Role, Chunks: len(chunks)}
	err := l.st.AsOwner(ctx, scope, func(tx store.Tx) error {
		changed, err := index.AddDocument(ctx, tx, row, chunks)
		report.Unchanged = !changed
		if err != nil {
			return err
		}
		if !changed {
			return nil
		}
		if l.options.Vectors {
			if err := jobs.Enqueue(ctx, tx, jobs.EmbedArgs{}); err != nil {
				return err
			}
		}
		return jobs.EmitHookEvent(ctx, tx, policy.HookIndex, row.Origin)
	})
	return report, err
}
