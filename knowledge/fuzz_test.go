package knowledge

import (
	"context"
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// checkDocument checks what every reader guarantees.
func checkDocument(t *testing.T, doc document) {
	t.Helper()
	require.NotEmpty(t, doc.Sections)
	for _, s := range doc.Sections {
		require.True(t, utf8.ValidString(s.Text))
		require.NotContains(t, s.Text, "\x00")
		require.NotEmpty(t, s.Text)
		for _, title := range s.Path {
			require.LessOrEqual(t, len(title), maxHeading)
		}
		at, page := -1, 0
		for _, mark := range s.Pages {
			require.Greater(t, mark.At, at)
			require.Greater(t, mark.Page, page)
			require.LessOrEqual(t, mark.Page, doc.Pages)
			at, page = mark.At, mark.Page
		}
		checkCutText(t, s.Text)
	}
}

// fuzzReader fuzzes a reader. The reader may fail only with an error of sentinels.
func fuzzReader(f *testing.F, read func(t *testing.T, data []byte) (document, error)) {
	f.Helper()
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := read(t, data)
		if err != nil {
			require.True(t, IsPermanent(err), err)
			return
		}
		if doc, err = sanitize(doc); err == nil {
			checkDocument(t, doc)
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add([]byte("caf\xe9"))
	f.Add([]byte("\xff\xfea\x00"))
	f.Add([]byte("<!doctype html><p>x"))
	f.Add([]byte("{\\rtf1 x}"))
	fuzzReader(f, func(_ *testing.T, data []byte) (document, error) {
		return readText(readRequest{Name: "a", Data: data}, false)
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,\"2\n3\"\n"))
	f.Add([]byte("a;b\r\n;;\n"))
	f.Add([]byte("\"a"))
	fuzzReader(f, func(_ *testing.T, data []byte) (document, error) {
		text, err := decode(data, "")
		sections, _ := csvRows(text)
		return document{Format: "txt", Sections: sections}, err
	})
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte("<html><body><article><h1>A</h1><p>b</p><table><tr><td>1</td></tr></table></article>"))
	f.Add([]byte("<div hidden><a href=x><img>y</a></div><ul><li>1<li>2"))
	f.Add([]byte("<h1><h2></h1>x"))
	f.Add([]byte("<h1>#</h1><h2>Costs <a href='#costs'>¶</a></h2>x"))
	fuzzReader(f, func(_ *testing.T, data []byte) (document, error) {
		text, err := decode(data, "")
		if err != nil {
			return document{}, err
		}
		return readHTML(text)
	})
}

// FuzzDOCX fuzzes the unpacked body of a file, because the fuzzer cannot see through the compression.
func FuzzDOCX(f *testing.F) {
	f.Add([]byte(paragraph("berschrift1", "One")+paragraph("", "a")), []byte(wordStyles))
	f.Add([]byte("<w:tbl><w:tr><w:tc>"+paragraph("", "a")+"</w:tc></w:tr></w:tbl>"), []byte("<w:styles/>"))
	f.Add([]byte("<w:del></w:p></w:tr></w:tr>"), []byte(""))
	f.Fuzz(func(t *testing.T, body, styles []byte) {
		doc, err := readDOCX(zipOf(t, map[string]string{
			"word/document.xml": "<w:document>" + string(body) + "</w:document>",
			"word/styles.xml":   string(styles),
		}))
		if err != nil {
			require.True(t, IsPermanent(err), err)
			return
		}
		if doc, err = sanitize(doc); err == nil {
			checkDocument(t, doc)
		}
	})
}

func FuzzPackedDOCX(f *testing.F) {
	f.Add(docx(f, paragraph("", "a")))
	fuzzReader(f, func(_ *testing.T, data []byte) (document, error) { return readDOCX(data) })
}

func FuzzPDF(f *testing.F) {
	f.Add(newPDF([]string{"One.", "Two."}, entry{title: "A", page: 0}, entry{title: "B", page: 1}).bytes())
	f.Add(newPDF([]string{""}).bytes())
	f.Add(newPDF([]string{"Bike\t1 day\nCity\t12\nE-bike\t19\nready-to-\nwear"}).bytes())
	engine, _ := newEngine(f)
	fuzzReader(f, func(t *testing.T, data []byte) (document, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		text, err := pdfiumText(ctx, engine, data, noopWatcher{})
		if errors.Is(err, context.DeadlineExceeded) {
			return document{}, ErrTooSlow
		}
		if err != nil {
			return document{}, err
		}
		return pdfDocument(text)
	})
}

// FuzzOutline checks that cutting pages by an outline neither loses nor repeats text.
func FuzzOutline(f *testing.F) {
	f.Add("One\nDelivery\nText", "Two\nDelivery", "Delivery", 0, 1)
	f.Add("", "x", "", -1, 9)
	f.Fuzz(func(t *testing.T, first, second, title string, from, to int) {
		text := pdfText{pages: []string{first, second}, outline: []bookmark{{title, 1, from}, {title, 3, to}, {title + "x", 2, from}}}
		size := 0
		for _, s := range outlineSections(text) {
			size += len(s.Text)
			require.GreaterOrEqual(t, s.pageAt(0), 1)
			require.LessOrEqual(t, s.pageAt(len(s.Text)), 2)
		}
		require.LessOrEqual(t, size, len(first)+len(second)+4)
	})
}
