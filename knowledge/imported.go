package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// ImportedDocument is a document that another program had indexed. Only its passages are available, not the file.
type ImportedDocument struct {
	Name     string // as cited
	Origin   string // where the document was. Indexing it from there replaces the imported passages.
	Format   string // pdf, docx, md or txt
	Role     policy.Role
	Passages []ImportedPassage
}

// ImportedPassage is a passage of an imported document.
type ImportedPassage struct {
	Headings         []string // the outermost first
	PageFrom, PageTo int      // from 1; 0 if there are no pages
	Text             string
	Used             index.Usage
}

// ImportDocument adds an imported document to the library. If the library has a document of the same origin, that is kept and reported as
// unchanged, because a document that multis read itself has pages and lines.
func (l *Library) ImportDocument(ctx context.Context, p ImportedDocument) (Report, error) {
	report, err := l.importDocument(ctx, p)
	if err != nil {
		return Report{}, fmt.Errorf("adopt %s: %w", p.Name, err)
	}
	return report, nil
}

func (l *Library) importDocument(ctx context.Context, p ImportedDocument) (Report, error) {
	scope, err := scopeOf(p.Role)
	if err != nil {
		return Report{}, err
	}
	old, err := index.DocumentByOrigin(ctx, l.st.DB(), p.Origin)
	if err == nil {
		return Report{Name: old.Name, Role: old.Role, Chunks: old.Chunks, Unchanged: true}, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return Report{}, err
	}
	size := 0
	sections := make([]section, len(p.Passages))
	for i, passage := range p.Passages {
		text := tableRows(strings.TrimSpace(passage.Text))
		size += len(text)
		sections[i] = section{Path: passage.Headings, Text: text, Used: passage.Used}
		if passage.PageFrom > 0 {
			sections[i].Pages = []pageMark{{At: 0, Page: passage.PageFrom}, {At: len(text) - 1, Page: max(passage.PageFrom, passage.PageTo)}}
		}
	}
	read, err := sanitize(document{Sections: sections})
	if err != nil {
		return Report{}, err
	}
	row := index.Document{
		Origin: p.Origin,
		Name:   p.Name,
		Role:   p.Role,
		Kind:   index.KindKnowledge,
		Format: p.Format,
		Size:   int64(size),
		Hash:   digest("pieces", p.Origin),
	}
	return l.write(ctx, scope, row, chunksOf(row, read.Sections))
}
