package knowledge

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"multis/knowledge/knowledgetest"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
)

// pdfFile writes small PDFs: pages of lines, and an outline.
type pdfFile struct {
	objects []string
	trailer string
}

// entry is an entry of an outline.
type entry struct {
	title    string
	page     int // from 0
	children []entry
}

// add appends a PDF object and returns its number.
func (f *pdfFile) add(format string, args ...any) int {
	f.objects = append(f.objects, fmt.Sprintf(format, args...))
	return len(f.objects)
}

func (f *pdfFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(f.objects))
	for i, object := range f.objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, f.trailer, table)
	return b.Bytes()
}

// columnWidth is the distance between the columns of a line with tabs, in points.
const columnWidth = 120

// newPDF returns a PDF with the given pages, each a text of several lines. A tab moves to the next column.
func newPDF(pages []string, outline ...entry) *pdfFile {
	f := &pdfFile{}
	f.add("") // the catalogue and the page tree, filled in below
	f.add("")
	font := f.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	var kids []string
	numbers := make([]int, len(pages))
	for i, text := range pages {
		var content strings.Builder
		if text != "" {
			content.WriteString("BT /F1 12 Tf 14 TL 72 770 Td\n")
			for line := range strings.Lines(text) {
				line = strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`).Replace(strings.TrimSuffix(line, "\n"))
				cells := strings.Split(line, "\t")
				fmt.Fprintf(&content, "(%s) Tj %d 0 Td T*\n", strings.Join(cells, fmt.Sprintf(") Tj %d 0 Td (", columnWidth)),
					-columnWidth*(len(cells)-1))
			}
			content.WriteString("ET\n")
		}
		stream := f.add("<< /Length %d >>\nstream\n%sendstream", content.Len(), content.String())
		numbers[i] = f.add("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 %d 0 R >> >> >>",
			stream, font)
		kids = append(kids, fmt.Sprintf("%d 0 R", numbers[i]))
	}
	catalogue := "<< /Type /Catalog /Pages 2 0 R >>"
	if len(outline) > 0 {
		root := f.add("")
		first, last := f.entries(outline, root, numbers)
		f.objects[root-1] = fmt.Sprintf("<< /Type /Outlines /First %d 0 R /Last %d 0 R >>", first, last)
		catalogue = fmt.Sprintf("<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R >>", root)
	}
	f.objects[0] = catalogue
	f.objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	return f
}

func (f *pdfFile) entries(list []entry, parent int, pages []int) (first, last int) {
	numbers := make([]int, len(list))
	for i := range list {
		numbers[i] = f.add("")
	}
	for i, e := range list {
		dict := fmt.Sprintf("/Title (%s) /Parent %d 0 R /Dest [%d 0 R /Fit]", e.title, parent, pages[e.page])
		if i > 0 {
			dict += fmt.Sprintf(" /Prev %d 0 R", numbers[i-1])
		}
		if i < len(list)-1 {
			dict += fmt.Sprintf(" /Next %d 0 R", numbers[i+1])
		}
		if len(e.children) > 0 {
			below, end := f.entries(e.children, numbers[i], pages)
			dict += fmt.Sprintf(" /First %d 0 R /Last %d 0 R", below, end)
		}
		f.objects[numbers[i]-1] = "<< " + dict + " >>"
	}
	return numbers[0], numbers[len(numbers)-1]
}

// noopWatcher is a watcher that does nothing.
type noopWatcher struct{}

func (noopWatcher) ready()            {}
func (noopWatcher) pageRead(int, int) {}

func readFile(t *testing.T, name string, data []byte) (document, error) {
	t.Helper()
	return read(t.Context(), readRequest{Name: name, Data: data, CacheDir: knowledgetest.EngineCache(t)}, noopWatcher{})
}

func TestPDF_CutByOutline(t *testing.T) {
	t.Parallel()
	file := newPDF([]string{
		"Bakery Handbook\nWelcome.\n1 Prices\nBread costs 3 euro.",
		"More about prices.\n2 Delivery\nWe deliver until noon.\n2.1 Sundays\nNo delivery.",
		"On Sundays we bake.",
	},
		entry{title: "Prices", page: 0},
		entry{title: "Delivery", page: 1, children: []entry{{title: "2.1 Sundays", page: 1}, {title: "Baking", page: 2}}},
	)
	doc, err := readFile(t, "handbook.pdf", file.bytes())
	require.NoError(t, err)
	require.Equal(t, "pdf", doc.Format)
	require.Equal(t, 3, doc.Pages)
	require.Equal(t, []section{
		{Text: "Bakery Handbook\nWelcome.\n", Pages: []pageMark{{0, 1}}},
		{Path: []string{"Prices"}, Text: "Bread costs 3 euro.\n\nMore about prices.\n", Pages: []pageMark{{0, 1}, {21, 2}}},
		{Path: []string{"Delivery"}, Text: "We deliver until noon.\n", Pages: []pageMark{{0, 2}}},
		{Path: []string{"Delivery", "2.1 Sundays"}, Text: "No delivery.\n\n", Pages: []pageMark{{0, 2}}},
		{Path: []string{"Delivery", "Baking"}, Text: "On Sundays we bake.\n\n", Pages: []pageMark{{0, 3}}},
	}, doc.Sections)
}

func TestPDF_WithoutOutlineSplitByPage(t *testing.T) {
	t.Parallel()
	doc, err := readFile(t, "pages.txt", newPDF([]string{"First.", "", "Third (and last)."}).bytes())
	require.NoError(t, err)
	require.Equal(t, document{
		Format: "pdf", Pages: 3, Notes: []string{"Page 2 has no text layer (a scan, or nothing on it)."},
		Sections: []section{
			{Text: "First.", Pages: []pageMark{{0, 1}}}, {Text: "Third (and last).", Pages: []pageMark{{0, 3}}},
		},
	}, doc)
}

func TestPDF_CyclicOutlineIsIgnored(t *testing.T) {
	t.Parallel()
	file := newPDF([]string{"One.", "Two."}, entry{title: "A", page: 0}, entry{title: "B", page: 1})
	for i, object := range file.objects {
		if strings.Contains(object, "/Title (B)") {
			file.objects[i] = strings.Replace(object, "/Prev", "/Next", 1)
		}
	}
	doc, err := readFile(t, "circle.pdf", file.bytes())
	require.NoError(t, err)
	require.Len(t, doc.Sections, 2)
	require.Empty(t, doc.Sections[0].Path)
}

func TestPDF_UnreadableSaysWhy(t *testing.T) {
	t.Parallel()
	good := newPDF([]string{"Text."}).bytes()
	locked := newPDF([]string{"Text."})
	key := strings.Repeat("ab", 32)
	locked.trailer = "/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + key + "> /U <" + key + "> >>"
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"locked with a password", locked.bytes(), ErrPassword},
		{"pictures of pages", newPDF([]string{"", ""}).bytes(), ErrScan},
		{"cut off in its first lines", good[:40], ErrBroken},
		{"too many pages", newPDF(make([]string, maxPages+1)).bytes(), ErrTooManyPages},
		{"nothing but a first line", []byte("%PDF-1.7\n"), ErrBroken},
	} {
		_, err := readFile(t, "a.pdf", test.data)
		require.ErrorIs(t, err, test.want, test.name)
	}
}

func TestPDF_JoinsHyphensAtLineEnds(t *testing.T) {
	t.Parallel()
	said := wordsOf([]string{"Check your bikes in at the desk, to be found in Berlin."})
	for text, want := range map[string]string{
		"We deli\x02\r\nver bread\r\ntoday.": "We deliver bread\ntoday.",
		"We deli\ufffever":                   "We deliver",
		"ready-to\ufffewear":                 "ready-to-wear",
		"the check\ufffein desk":             "the check-in desk",
		"COVID\ufffe19":                      "COVID-19",
		"Berlin\ufffeMitte":                  "Berlin-Mitte",
		"OPEN\ufffeING":                      "OPENING",
	} {
		require.Equal(t, want, unwrapHyphens(text, said))
	}
}

func TestPDF_KeepsRealHyphens(t *testing.T) {
	t.Parallel()
	doc, err := readFile(t, "a.pdf", newPDF([]string{"The shop has ready-to-\nwear helmets."}).bytes())
	require.NoError(t, err)
	require.Equal(t, "The shop has ready-to-wear helmets.", doc.Sections[0].Text)
}

func TestPDF_TitleIsWholeLine(t *testing.T) {
	t.Parallel()
	const page = "About delivery and prices\n3. Delivery:\nText\nOpening\nhours\nMore"
	for _, test := range []struct {
		title, rest string
		found       bool
	}{
		{"Delivery", "Text\nOpening\nhours\nMore", true},
		{"3 DELIVERY", "Text\nOpening\nhours\nMore", true},
		{"Opening hours", "More", true},
		{"More", "", true},
		{"About", "", false},
		{"Mor", "", false},
		{"...", "", false},
	} {
		at, size := findTitle(page, test.title)
		require.Equal(t, test.found, size > 0, test.title)
		if test.found {
			require.Equal(t, test.rest, page[at+size:], test.title)
		}
	}
}

func TestPDF_PagesOfSection(t *testing.T) {
	t.Parallel()
	s := section{Pages: []pageMark{{0, 3}, {10, 4}, {20, 6}}}
	for at, page := range map[int]int{0: 3, 9: 3, 10: 4, 19: 4, 20: 6, 99: 6} {
		require.Equal(t, page, s.pageAt(at))
	}
	require.Zero(t, section{}.pageAt(5))
}

// drawnPDF returns a PDF with one page whose content is given, and a picture named Im.
func drawnPDF(content string) []byte {
	f := newPDF([]string{""})
	picture := f.add("<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\nA\nendstream")
	stream := f.add("<< /Length %d >>\nstream\n%s\nendstream", len(content)+1, content)
	for i, o := range f.objects {
		if strings.Contains(o, "/Type /Page ") {
			f.objects[i] = fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /Im %d 0 R >> /ExtGState << /Clear << /ca 0 >> >> >> >>",
				stream, picture)
		}
	}
	return f.bytes()
}

func TestPDF_LeavesOutHiddenText(t *testing.T) {
	t.Parallel()
	const seen = "BT /F1 12 Tf 72 770 Td (The room is 90 EUR.) Tj ET\n"
	const picture = "q 595 0 0 842 0 0 cm /Im Do Q\n"
	for name, c := range map[string]struct {
		content string
		isSeen  bool
	}{
		"without ink":            {"BT /F1 12 Tf 3 Tr 72 700 Td (Our floor is 60 EUR.) Tj ET", false},
		"white":                  {"1 g BT /F1 12 Tf 72 700 Td (Our floor is 60 EUR.) Tj ET", false},
		"white on a white area":  {"1 g 0 0 595 842 re f BT /F1 12 Tf 72 700 Td (Our floor is 60 EUR.) Tj ET", false},
		"beside the page":        {"BT /F1 12 Tf 720 -100 Td (Our floor is 60 EUR.) Tj ET", false},
		"too small":              {"BT /F1 0.4 Tf 72 700 Td (Our floor is 60 EUR.) Tj ET", false},
		"over a small picture":   {"q 90 0 0 90 72 690 cm /Im Do Q BT /F1 12 Tf 3 Tr 72 700 Td (Our floor is 60 EUR.) Tj ET", false},
		"white on black":         {"0 g 60 690 400 40 re f 1 g BT /F1 12 Tf 72 700 Td (Our floor is 60 EUR.) Tj ET", true},
		"white on a picture":     {picture + "1 g BT /F1 12 Tf 72 700 Td (Our floor is 60 EUR.) Tj ET", true},
		"transparent":            {"BT /F1 12 Tf /Clear gs 72 700 Td (Our floor is 60 EUR.) Tj ET", false},
		"outlined":               {"1 g BT /F1 12 Tf 1 Tr 72 700 Td (Our floor is 60 EUR.) Tj ET", true},
		"small font, made large": {"BT /F1 1 Tf 12 0 0 12 72 700 Tm (Our floor is 60 EUR.) Tj ET", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := readFile(t, "a.pdf", drawnPDF(seen+c.content))
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(doc.Sections), "90 EUR")
			if c.isSeen {
				require.Contains(t, fmt.Sprint(doc.Sections), "60 EUR")
				require.Empty(t, doc.Notes)
				return
			}
			require.NotContains(t, fmt.Sprint(doc.Sections), "60 EUR")
			require.Equal(t, []string{"1 line of it cannot be seen, so I left it out: “Our floor is 60 EUR.”."}, doc.Notes)
		})
	}
}

// formPDF returns a PDF with one page that draws a form with the given content, which is drawn in turn by so many other forms.
func formPDF(content string, depth int) []byte {
	f := newPDF([]string{""})
	const form = "<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> %s >> /Length %d >>\n" +
		"stream\n%s\nendstream"
	inner := f.add(form, "", len(content)+1, content)
	for range depth {
		inner = f.add(form, fmt.Sprintf("/XObject << /Fm %d 0 R >>", inner), len("/Fm Do")+1, "/Fm Do")
	}
	for i, o := range f.objects {
		if strings.Contains(o, "/Type /Page ") {
			stream := f.add("<< /Length %d >>\nstream\n/Fm Do\nendstream", len("/Fm Do")+1)
			f.objects[i] = fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "+
				"/Resources << /XObject << /Fm %d 0 R >> >> >>", stream, inner)
		}
	}
	return f.bytes()
}

func TestPDF_LeavesOutHiddenFormText(t *testing.T) {
	t.Parallel()
	const content = "BT /F1 12 Tf 72 770 Td (The room is 90 EUR.) Tj 3 Tr 0 -70 Td (Our floor is 60 EUR.) Tj ET"
	for depth := range 3 {
		doc, err := readFile(t, "a.pdf", formPDF(content, depth))
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(doc.Sections), "90 EUR")
		require.NotContains(t, fmt.Sprint(doc.Sections), "60 EUR", depth)
		require.Equal(t, []string{"1 line of it cannot be seen, so I left it out: “Our floor is 60 EUR.”."}, doc.Notes)
	}
}

// newEngine returns an instance of pdfium, and what measures how much of its memory is in use: the address of a block that fits in no gap.
func newEngine(t testing.TB) (engine pdfium.Pdfium, inUse func() uint64) {
	t.Helper()
	cache, err := wazero.NewCompilationCacheWithDir(knowledgetest.EngineCache(t))
	require.NoError(t, err)
	pool, err := webassembly.Init(pdfiumConfig(wazero.NewRuntimeConfig().WithCompilationCache(cache)))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, pool.Close())
		require.NoError(t, cache.Close(context.Background()))
	})
	engine, err = pool.GetInstance(engineTimeout)
	require.NoError(t, err)
	instance, isInstance := engine.(interface{ GetImplementation() any })
	require.True(t, isInstance)
	heap, isHeap := instance.GetImplementation().(interface {
		Malloc(size uint64) (uint64, error)
		Free(address uint64) error
	})
	require.True(t, isHeap)
	return engine, func() uint64 {
		address, err := heap.Malloc(8 << 20)
		require.NoError(t, err)
		require.NoError(t, heap.Free(address))
		return address
	}
}

func TestPDF_EngineFreesRemovedText(t *testing.T) {
	t.Parallel()
	engine, inUse := newEngine(t)
	const seen = "BT /F1 12 Tf 72 770 Td (The room is 90 EUR.) Tj ET\n"
	hidden := strings.Repeat("BT /F1 12 Tf 3 Tr 72 700 Td (Our floor is 60 EUR.) Tj ET\n", 500)
	for name, data := range map[string][]byte{"page": drawnPDF(seen + hidden), "form": formPDF(seen+hidden, 1)} {
		before := uint64(0)
		for i := range 5 {
			text, err := pdfiumText(t.Context(), engine, data, noopWatcher{})
			require.NoError(t, err)
			require.NotZero(t, text.unseen.lines)
			if i == 1 {
				before = inUse()
			}
		}
		require.LessOrEqual(t, inUse(), before, name)
	}
}

func TestPDF_ScanWithTextIsNamed(t *testing.T) {
	t.Parallel()
	for name, ink := range map[string]string{"without ink": "3 Tr", "transparent": "/Clear gs"} {
		doc, err := readFile(t, "a.pdf", drawnPDF("q 595 0 0 842 0 0 cm /Im Do Q BT /F1 12 Tf "+ink+" 72 700 Td (The room is 90 EUR.) Tj ET"))
		require.NoError(t, err, name)
		require.Contains(t, fmt.Sprint(doc.Sections), "90 EUR", name)
		require.Equal(t, []string{"Page 1 is a scan; the words come from text recognition (OCR), which makes mistakes."}, doc.Notes, name)
	}
}

func TestPDF_GarbledPagesAreNamed(t *testing.T) {
	t.Parallel()
	shifted := strings.Repeat("7KH SULFH RI D URRP LV QLQHWB HXUR DQG EUHDNIDVW FRVWV QLQH.\n", 6)
	require.True(t, isGarbled(shifted))
	require.True(t, isGarbled(strings.Repeat("\ue001\ue002 \ue003", 20)))
	for _, text := range []string{
		"The price of a room is ninety euro and breakfast costs nine.", "Cena pokoje je devadesát eur, snídaně stojí devět eur, čtvrtek zavřeno.",
		"Цена номера девяносто евро", "部屋の料金は九十ユーロです。",
		"1.80 € 2.20 € 3.50 €", "",
	} {
		require.False(t, isGarbled(strings.Repeat(text, 5)), text)
	}
	doc, err := readFile(t, "a.pdf", newPDF([]string{"Our prices.", shifted}).bytes())
	require.NoError(t, err)
	require.Equal(t, []string{"The text layer of page 2 is not readable, so I left it out."}, doc.Notes)
	require.NotContains(t, fmt.Sprint(doc.Sections), "7KH")
	_, err = readFile(t, "a.pdf", newPDF([]string{shifted}).bytes())
	require.ErrorIs(t, err, ErrGarbled)
}

// annotate adds an annotation to the first page.
func (f *pdfFile) annotate(annotation int) {
	for i, o := range f.objects {
		f.objects[i] = strings.Replace(o, "/Type /Page ", fmt.Sprintf("/Type /Page /Annots [%d 0 R] ", annotation), 1)
	}
}

func TestPDF_ReadsFormsAndAnnotations(t *testing.T) {
	t.Parallel()
	const content = "/Tx BMC BT /F1 12 Tf 2 4 Td (50 EUR) Tj ET EMC\n"
	const look = "<< /Type /XObject /Subtype /Form /BBox [0 0 100 20] /Resources << /Font << /F1 3 0 R >> >> /Length %d >>\nstream\n%sendstream"
	for name, c := range map[string]struct {
		annotation, want string
		notes            []string
	}{
		"field": {
			annotation: "/Subtype /Widget /FT /Tx /T (Deposit) /V (50 EUR) /F 4 /AP << /N %d 0 R >>",
			want:       "Deposit:\n50 EUR",
		},
		"field without a look": {annotation: "/Subtype /Widget /FT /Tx /T (Deposit) /V (50 EUR) /F 4 /X %d", want: "Deposit:\nDeposit: 50 EUR"},
		"field with a look that is not there": {
			annotation: "/Subtype /Widget /FT /Tx /T (Deposit) /V (50 EUR) /F 4 /AP << >> /X %d", want: "Deposit:\nDeposit: 50 EUR",
		},
		"written on the page": {annotation: "/Subtype /FreeText /Contents (50 EUR) /F 4 /AP << /N %d 0 R >>", want: "Deposit:\n50 EUR"},
		"comment":             {annotation: "/Subtype /Text /Contents (50 EUR) /F 4 /X %d", want: "Deposit:\n50 EUR"},
		"hidden field": {
			annotation: "/Subtype /Widget /FT /Tx /T (Deposit) /V (50 EUR) /F 2 /AP << /N %d 0 R >>", want: "Deposit:",
			notes: []string{"1 line of it cannot be seen, so I left it out: “Deposit: 50 EUR”."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newPDF([]string{"Rental contract\nDeposit:"})
			n := f.add(look, len(content), content)
			f.annotate(f.add("<< /Type /Annot /Rect [150 750 250 770] "+c.annotation+" >>", n))
			doc, err := readFile(t, "a.pdf", f.bytes())
			require.NoError(t, err)
			require.Equal(t, strings.Fields("Rental contract "+c.want), strings.Fields(doc.Sections[0].Text))
			require.Equal(t, c.notes, doc.Notes)
		})
	}
}
