// Package media turns attachments into text by a model: voice notes into transcripts, pictures into descriptions.
package media

import (
	"context"
	"io"

	"multis/policy"
	"multis/store"
)

// Files downloads attachments.
type Files interface {
	// Fetch writes a file to w. It fails if the file has more than limit bytes; then w has only a part of it.
	Fetch(ctx context.Context, as policy.SendAs, file store.Attachment, limit int64, w io.Writer) error
}
