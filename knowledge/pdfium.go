package knowledge

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
)

const (
	wasmPages     = 8192 // the memory limit of pdfium, in pages of 64 KB
	engineTimeout = time.Minute
)

// readPdfium reads a PDF with pdfium in a WebAssembly runtime, which has its own memory and no files. The compiled module is cached in
// src.CacheDir, because compiling takes seconds.
func readPdfium(ctx context.Context, src readRequest, watch watcher) (text pdfText, err error) {
	runtime := wazero.NewRuntimeConfig().WithMemoryLimitPages(wasmPages)
	if src.CacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(src.CacheDir)
		if err != nil {
			return pdfText{}, err
		}
		defer cache.Close(ctx)
		runtime = runtime.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(pdfiumConfig(runtime))
	if err != nil {
		return pdfText{}, err
	}
	defer pool.Close()
	engine, err := pool.GetInstance(engineTimeout)
	if err != nil {
		return pdfText{}, err
	}
	defer engine.Close()
	watch.ready()
	return pdfiumText(ctx, engine, src.Data, watch)
}

// pdfiumConfig allows pdfium one instance, no files and no terminal. Without FSConfig it could read all files.
func pdfiumConfig(runtime wazero.RuntimeConfig) webassembly.Config {
	return webassembly.Config{
		MaxIdle:       1,
		MaxTotal:      1,
		RuntimeConfig: runtime,
		FSConfig:      wazero.NewFSConfig(),
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	}
}

func pdfiumText(ctx context.Context, engine pdfium.Pdfium, data []byte, watch watcher) (text pdfText, err error) {
	opened, err := engine.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword), errors.Is(err, pdfiumerrors.ErrSecurity):
		return pdfText{}, ErrPassword
	case err != nil:
		return pdfText{}, ErrBroken
	}
	defer func() { _, _ = engine.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: opened.Document}) }()
	pages, err := engine.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	switch {
	case err != nil:
		return pdfText{}, ErrBroken
	case pages.PageCount > maxPages:
		return pdfText{}, ErrTooManyPages
	}
	file := pdfiumFile{engine: engine, doc: opened.Document, boxes: maxBoxes, objects: maxObjects}
	text.pages, err = file.pages(ctx, pages.PageCount, watch)
	if err != nil {
		return pdfText{}, err
	}
	text.scans, text.unseen = file.scans, file.unseen
	text.isUnchecked = file.objects < 0
	text.outline = pdfiumOutline(engine, opened.Document)
	return text, nil
}

// pdfiumFile reads the pages of an open file.
type pdfiumFile struct {
	engine  pdfium.Pdfium
	doc     references.FPDF_DOCUMENT
	boxes   int   // the number of characters that may still be measured
	objects int   // the number of objects that may still be examined
	scans   []int // pages, from 1, that are pictures with the text of a text recognition
	unseen  unseen
}

// pages reads the pages one by one. A broken page counts as blank; a file with only broken pages is broken.
func (f *pdfiumFile) pages(ctx context.Context, count int, watch watcher) ([]string, error) {
	pages := make([]string, count)
	size := 0
	broken := 0
	for i := range pages {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		page, err := f.page(i)
		if err != nil {
			broken++
		}
		if size += len(page); size > maxText {
			return nil, ErrTooBig
		}
		pages[i] = page
		watch.pageRead(i+1, count)
	}
	if broken > 0 && broken == count {
		return nil, ErrBroken
	}
	return pages, nil
}

// page reads what is seen of one page: its text with tables, forms and annotations.
func (f *pdfiumFile) page(index int) (string, error) {
	page, err := f.engine.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: f.doc, Index: index})
	if err != nil {
		return "", err
	}
	ref := page.Page
	defer func() { _, _ = f.engine.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: ref}) }()
	said, drawn, isChanged := f.annotations(requests.Page{ByReference: &ref})
	if isChanged {
		again, err := f.engine.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: f.doc, Index: index})
		if err != nil {
			return "", err
		}
		_, _ = f.engine.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: ref})
		ref = again.Page
	}
	unseen := f.unseen.lines
	if f.removeUnseen(requests.Page{ByReference: &ref}) {
		f.scans = append(f.scans, index+1)
	}
	text, err := f.pageText(requests.Page{ByReference: &ref})
	if err != nil {
		return "", err
	}
	if f.unseen.lines == unseen {
		said = append(said, undrawn(drawn, text)...)
	}
	if len(said) == 0 {
		return text, nil
	}
	return strings.TrimLeft(text+"\n"+strings.Join(said, "\n"), "\n"), nil
}

// pageText returns the text of a page with its tables.
func (f *pdfiumFile) pageText(page requests.Page) (string, error) {
	text, err := f.engine.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return "", err
	}
	defer func() { _, _ = f.engine.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	count, err := f.engine.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return "", err
	}
	if count.Count <= 0 {
		return "", nil
	}
	got, err := f.engine.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: min(count.Count, maxText)})
	if err != nil {
		return "", err
	}
	measure := func(at int) (box, bool) {
		if f.boxes--; f.boxes < 0 {
			return box{}, false
		}
		return pdfiumBox(f.engine, text.TextPage, at)
	}
	return newPositionedText(strings.TrimRight(got.Text, "\x00"), measure).tables(), nil
}

// pdfiumBox returns the position of a character of a page's text. pdfium's index also counts characters that are not in the text.
func pdfiumBox(engine pdfium.Pdfium, page references.FPDF_TEXTPAGE, at int) (box, bool) {
	char, err := engine.FPDFText_GetCharIndexFromTextIndex(&requests.FPDFText_GetCharIndexFromTextIndex{TextPage: page, NTextIndex: at})
	if err != nil {
		return box{}, false
	}
	if char.CharIndex < 0 {
		return box{}, false
	}
	b, err := engine.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: page, Index: char.CharIndex})
	if err != nil {
		return box{}, false
	}
	return box{left: b.Left, right: b.Right, bottom: b.Bottom, top: b.Top}, true
}

// pdfiumOutline returns the outline of a file; empty if there is none or it is cyclic.
func pdfiumOutline(engine pdfium.Pdfium, doc references.FPDF_DOCUMENT) []bookmark {
	left := maxBookmarks
	if !pdfiumOutlineEnds(engine, doc, nil, 1, &left) {
		return nil
	}
	tree, err := engine.GetBookmarks(&requests.GetBookmarks{Document: doc})
	if err != nil {
		return nil
	}
	var outline []bookmark
	var walk func(entries []responses.GetBookmarksBookmark, level int)
	walk = func(entries []responses.GetBookmarksBookmark, level int) {
		for _, e := range entries {
			if e.DestInfo != nil {
				outline = append(outline, bookmark{title: strings.TrimRight(e.Title, "\x00"), level: level, page: e.DestInfo.PageIndex})
			}
			walk(e.Children, level+1)
		}
	}
	walk(tree.Bookmarks, 1)
	return outline
}

// pdfiumOutlineEnds reports whether an outline is finite. pdfium itself never stops in a cyclic one.
func pdfiumOutlineEnds(engine pdfium.Pdfium, doc references.FPDF_DOCUMENT, parent *references.FPDF_BOOKMARK, level int, left *int) bool {
	child, err := engine.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: doc, Bookmark: parent})
	if err != nil {
		return false
	}
	for at := child.Bookmark; at != nil; {
		if *left--; *left < 0 || level > maxDepth || !pdfiumOutlineEnds(engine, doc, at, level+1, left) {
			return false
		}
		next, err := engine.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: doc, Bookmark: *at})
		if err != nil {
			return false
		}
		at = next.Bookmark
	}
	return true
}
