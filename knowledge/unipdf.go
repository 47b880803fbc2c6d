package knowledge

import (
	"bytes"
	"context"
	"fmt"

	"github.com/unidoc/unipdf/v3/common/license"
	"github.com/unidoc/unipdf/v3/extractor"
	"github.com/unidoc/unipdf/v3/model"
)

// readUnipdf reads a PDF with unipdf, which checks its licence key on its maker's server.
func readUnipdf(ctx context.Context, src readRequest, watch watcher) (text pdfText, err error) {
	if err := license.SetMeteredKey(src.UnidocKey); err != nil {
		return pdfText{}, fmt.Errorf("%w: %w", ErrLicence, err)
	}
	watch.ready()
	file, err := model.NewPdfReader(bytes.NewReader(src.Data))
	if err != nil {
		return pdfText{}, ErrBroken
	}
	if locked, err := file.IsEncrypted(); err != nil {
		return pdfText{}, ErrBroken
	} else if locked {
		if open, err := file.Decrypt(nil); err != nil || !open {
			return pdfText{}, ErrPassword
		}
	}
	count, err := file.GetNumPages()
	switch {
	case err != nil:
		return pdfText{}, ErrBroken
	case count > maxPages:
		return pdfText{}, ErrTooManyPages
	}
	for i := range count {
		if ctx.Err() != nil {
			return pdfText{}, ctx.Err()
		}
		page, err := unipdfPage(file, i+1)
		if err != nil {
			return pdfText{}, err
		}
		text.pages = append(text.pages, page)
		watch.pageRead(i+1, count)
	}
	if outline, err := file.GetOutlines(); err == nil && outline != nil {
		left := maxBookmarks
		text.outline = unipdfOutline(nil, outline.Entries, 1, &left)
	}
	return text, nil
}

// unipdfPage reads one page, counted from 1. A broken page counts as blank.
func unipdfPage(file *model.PdfReader, number int) (string, error) {
	page, err := file.GetPage(number)
	if err != nil {
		return "", nil //nolint:nilerr // the other pages may be whole
	}
	reader, err := extractor.New(page)
	if err != nil {
		return "", nil //nolint:nilerr // as above
	}
	text, err := reader.ExtractText()
	if err != nil && license.GetLicenseKey() != nil && !license.GetLicenseKey().IsLicensed() {
		return "", fmt.Errorf("%w: %w", ErrLicence, err)
	}
	return text, nil
}

func unipdfOutline(list []bookmark, entries []*model.OutlineItem, level int, left *int) []bookmark {
	for _, e := range entries {
		if *left--; *left < 0 || level > maxDepth {
			*left = 0
			return nil
		}
		list = append(list, bookmark{title: e.Title, level: level, page: int(e.Dest.Page)})
		list = unipdfOutline(list, e.Entries, level+1, left)
	}
	return list
}
