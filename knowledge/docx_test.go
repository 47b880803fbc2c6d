package knowledge

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const wordStyles = `<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="H2"><w:name w:val="Heading 2"/></w:style><w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="H2"/></w:style>
<w:style w:styleId="Level"><w:name w:val="Clause"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>
<w:style w:styleId="A"><w:basedOn w:val="B"/></w:style><w:style w:styleId="B"><w:basedOn w:val="A"/></w:style></w:styles>`

func zipOf(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{
		"[Content_Types].xml", "word/document.xml", "word/styles.xml", "word/footnotes.xml", "word/endnotes.xml",
		"a.txt",
	} {
		content, found := files[name]
		if !found {
			continue
		}
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// docx makes a Word file around a body.
func docx(t testing.TB, body string) []byte {
	t.Helper()
	return zipOf(t, map[string]string{
		"[Content_Types].xml": "<Types/>",
		"word/document.xml":   `<w:document xmlns:w="w" xmlns:mc="mc"><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml":     wordStyles,
	})
}

// paragraph returns a paragraph with a style.
func paragraph(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

func TestDocx_CutAtHeadings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		want       []section
	}{
		{
			"headings by their name, by the style below theirs, and by their level",
			paragraph("", "Intro") + paragraph("berschrift1", "One") + paragraph("", "a") + paragraph("Own", "Two") + paragraph("", "b") +
				paragraph("Level", "Three") + paragraph("", "c") + paragraph("H2", "Four") + paragraph("A", "d"),
			[]section{
				{Text: "Intro\n\n"},
				{Path: []string{"One"}, Text: "a\n\n"},
				{Path: []string{"One", "Two"}, Text: "b\n\n"},
				{Path: []string{"One", "Two", "Three"}, Text: "c\n\n"},
				{Path: []string{"One", "Four"}, Text: "d\n\n"},
			},
		},
		{
			"a heading above others only stands in their paths, and one with nothing below it is a text",
			paragraph("berschrift1", "One") + paragraph("H2", "Two") + paragraph("H2", "Three") + paragraph("", "x"),
			[]section{{Path: []string{"One", "Two"}, Text: "Two"}, {Path: []string{"One", "Three"}, Text: "x\n\n"}},
		},
		{
			"lists and tables",
			paragraph("", "Prices:") +
				`<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Bread</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Rolls</w:t></w:r></w:p>` +
				`<w:tbl><w:tr><w:tc>` + paragraph("", "Item") + `</w:tc><w:tc>` + paragraph("", "Price | €") + `</w:tc></w:tr><w:tr><w:tc>` +
				paragraph("", "Bread") + paragraph("", "white") +
				`</w:tc><w:tc>` + paragraph("", "3") + `</w:tc></w:tr></w:tbl>` + paragraph("", "End."),
			[]section{{Text: "Prices:\n\n- Bread\n- Rolls\n\n\n| Item: Bread white; Price / €: 3\n\nEnd.\n\n"}},
		},
		{
			"what was deleted, or stands twice, is not read; runs, tabs and breaks are joined",
			`<w:p><w:r><w:t>We de</w:t></w:r><w:del><w:r><w:t>part</w:t><w:delText>part</w:delText></w:r></w:del><w:r><w:t>liver</w:t><w:tab/><w:t>now</w:t><w:br/><w:t>&amp; here</w:t></w:r>` +
				`<mc:AlternateContent><mc:Choice><w:r><w:t>!</w:t></w:r></mc:Choice><mc:Fallback><w:r><w:t>!</w:t></w:r></mc:Fallback></mc:AlternateContent></w:p>`,
			[]section{{Text: "We deliver now\n& here!\n\n"}},
		},
	} {
		doc, err := readFile(t, "a.docx", docx(t, test.body))
		require.NoError(t, err, test.name)
		require.Equal(t, document{Format: "docx", Sections: test.want}, doc, test.name)
	}
}

func TestDocx_UnreadableSaysWhy(t *testing.T) {
	t.Parallel()
	good := docx(t, paragraph("", strings.Repeat("Some text. ", 1000)))
	for _, test := range []struct {
		name string
		data []byte
		want error
	}{
		{"cut off", good[:len(good)/2], ErrBroken},
		{"no body", zipOf(t, map[string]string{"[Content_Types].xml": "<Types/>", "word/styles.xml": wordStyles}), ErrBroken},
		{"no XML in it", zipOf(t, map[string]string{
			"[Content_Types].xml": "<Types/>", "word/document.xml": "<w:document",
			"word/styles.xml": "",
		}), ErrBroken},
		{"nothing said", docx(t, paragraph("", " ")), ErrEmpty},
		{
			"a small file that unpacks to much text", docx(t, "<w:p><w:r><w:t>"+strings.Repeat("bomb ", maxText/5+1)+"</w:t></w:r></w:p>"),
			ErrZipBomb,
		},
		{"a small file that holds as many elements as no memory does", docx(t, strings.Repeat("<w:p>", maxNested)), ErrZipBomb},
		{"a small file that unpacks to much else", docx(t, strings.Repeat(" ", maxUnpacked)), ErrZipBomb},
	} {
		_, err := readDOCX(test.data)
		if err == nil {
			_, err = readFile(t, "a.docx", test.data)
		}
		require.ErrorIs(t, err, test.want, test.name)
	}
}

func TestDocx_ReadsNotes(t *testing.T) {
	t.Parallel()
	note := func(text string) string {
		return `<w:notes xmlns:w="w"><w:note w:type="separator"><w:p/></w:note><w:note>` + paragraph("", text) + `</w:note></w:notes>`
	}
	files := map[string]string{
		"[Content_Types].xml": "<Types/>",
		"word/document.xml": `<w:document xmlns:w="w"><w:body>` + paragraph("berschrift1", "One") + paragraph("", "a") +
			`</w:body></w:document>`,
		"word/styles.xml":    wordStyles,
		"word/footnotes.xml": note("Weekdays only."),
		"word/endnotes.xml":  `<w:notes xmlns:w="w"><w:note><w:p/></w:note></w:notes>`,
	}
	doc, err := readDOCX(zipOf(t, files))
	require.NoError(t, err)
	require.Equal(t, []section{{Path: []string{"One"}, Text: "a\n\n"}, {Path: []string{"Footnotes"}, Text: "Weekdays only.\n\n"}},
		doc.Sections)

	files["word/endnotes.xml"] = note("As of May.")
	doc, err = readDOCX(zipOf(t, files))
	require.NoError(t, err)
	require.Equal(t, section{Path: []string{"Endnotes"}, Text: "As of May.\n\n"}, doc.Sections[len(doc.Sections)-1])

	files["word/endnotes.xml"] = "<w:notes"
	_, err = readDOCX(zipOf(t, files))
	require.ErrorIs(t, err, ErrBroken)
}

// styledDocx makes a Word file of a body and of styles.
func styledDocx(t *testing.T, body, styles string) []byte {
	t.Helper()
	return zipOf(t, map[string]string{
		"[Content_Types].xml": "<Types/>",
		"word/document.xml":   `<w:document xmlns:w="w" xmlns:mc="mc" xmlns:a="a" xmlns:wps="wps" xmlns:v="v">` + body + `</w:document>`,
		"word/styles.xml": `<w:styles xmlns:w="w">` + styles +
			`<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles>`,
	})
}

func wordRun(properties, text string) string {
	return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
}

func TestDocx_LeavesOutHiddenText(t *testing.T) {
	t.Parallel()
	const seen, secret = "The room is 90 EUR.", "Our floor is 60 EUR."
	const hiding = `<w:style w:type="paragraph" w:styleId="Base"><w:rPr><w:vanish/></w:rPr></w:style>
		<w:style w:type="paragraph" w:styleId="Secret"><w:basedOn w:val="Base"/></w:style>
		<w:style w:type="character" w:styleId="Quiet"><w:rPr><w:vanish/></w:rPr></w:style>
		<w:style w:type="paragraph" w:styleId="White"><w:rPr><w:color w:val="ffffff"/></w:rPr></w:style>
		<w:style w:type="paragraph" w:styleId="Tiny"><w:rPr><w:sz w:val="1"/></w:rPr></w:style>`
	inStyle := func(style string) string {
		return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr>` + wordRun("", secret) + `</w:p>`
	}
	for name, c := range map[string]struct{ body, styles string }{
		"run":             {body: `<w:p>` + wordRun("<w:vanish/>", secret) + `</w:p>`},
		"run with value":  {body: `<w:p>` + wordRun(`<w:vanish w:val="true"/>`, secret) + `</w:p>`},
		"paragraph style": {body: inStyle("Secret"), styles: hiding},
		"white style":     {body: inStyle("White"), styles: hiding},
		"tiny style":      {body: inStyle("Tiny"), styles: hiding},
		"character style": {body: `<w:p>` + wordRun(`<w:rStyle w:val="Quiet"/>`, secret) + `</w:p>`, styles: hiding},
		"defaults": {
			body:   `<w:p>` + wordRun("", secret) + `</w:p>`,
			styles: `<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>`,
		},
		"standard style": {
			body:   `<w:p>` + wordRun("", secret) + `</w:p>`,
			styles: `<w:style w:type="paragraph" w:default="1" w:styleId="N"><w:rPr><w:vanish/></w:rPr></w:style>`,
		},
		"white": {body: `<w:p>` + wordRun(`<w:color w:val="FFFFFF"/>`, secret) + `</w:p>`},
		"row": {body: `<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc><w:p>` + wordRun("", secret) +
			`</w:p></w:tc></w:tr></w:tbl>`},
		"box in hidden text": {body: `<w:p><w:r><w:rPr><w:vanish/></w:rPr><v:textbox><w:txbxContent><w:p>` + wordRun("", secret) +
			`</w:p></w:txbxContent></v:textbox></w:r></w:p>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := `<w:body><w:p>` + wordRun(`<w:vanish w:val="0"/><w:sz w:val="24"/><w:color w:val="000000"/>`, seen) + `</w:p>` + c.body +
				`</w:body>`
			doc, err := readDOCX(styledDocx(t, body, c.styles))
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(doc.Sections), seen)
			require.NotContains(t, fmt.Sprint(doc.Sections), "60 EUR")
			require.Equal(t, []string{"1 line of it cannot be seen, so I left it out: “" + secret + "”."}, doc.Notes)
		})
	}
}

func TestDocx_KeepsWhatIsSeen(t *testing.T) {
	t.Parallel()
	const seen = "Breakfast is 9 EUR."
	const quiet = `<w:style w:type="paragraph" w:styleId="Quiet"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:type="character" w:styleId="Also"><w:rPr><w:vanish/></w:rPr></w:style>
		<w:style w:type="table" w:styleId="T"><w:tblStylePr w:type="firstRow"><w:rPr><w:vanish/></w:rPr></w:tblStylePr></w:style>`
	for name, body := range map[string]string{
		"style switched off": `<w:body><w:p><w:pPr><w:pStyle w:val="Quiet"/></w:pPr>` + wordRun(`<w:vanish w:val="0"/>`, seen) +
			`</w:p></w:body>`,
		"two styles cancel": `<w:body><w:p><w:pPr><w:pStyle w:val="Quiet"/></w:pPr>` + wordRun(`<w:rStyle w:val="Also"/>`, seen) +
			`</w:p></w:body>`,
		"hidden paragraph mark": `<w:body><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>` + wordRun("", seen) + `</w:p></w:body>`,
		"hidden before the change": `<w:body><w:p><w:r><w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr><w:t>` + seen +
			`</w:t></w:r></w:p></w:body>`,
		"white on blue": `<w:body><w:p><w:pPr><w:shd w:val="clear" w:fill="0000AA"/></w:pPr>` +
			wordRun(`<w:color w:val="FFFFFF"/>`, seen) + `</w:p></w:body>`,
		"white marked": `<w:body><w:p>` + wordRun(`<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>`, seen) + `</w:p></w:body>`,
		"white on dark pages": `<w:background w:color="000000"/><w:body><w:p>` + wordRun(`<w:color w:val="FFFFFF"/>`, seen) +
			`</w:p></w:body>`,
		"white in a table": `<w:body><w:tbl><w:tr><w:tc><w:p>` + wordRun(`<w:color w:val="FFFFFF"/>`, seen) +
			`</w:p></w:tc></w:tr></w:tbl></w:body>`,
		"white in a box": `<w:body><w:p><w:r><v:textbox><w:txbxContent><w:p>` + wordRun(`<w:color w:val="FFFFFF"/>`, seen) +
			`</w:p></w:txbxContent></v:textbox></w:r></w:p></w:body>`,
		"hidden on the web only": `<w:body><w:p>` + wordRun(`<w:webHidden/>`, seen) + `</w:p></w:body>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := readDOCX(styledDocx(t, body, quiet))
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(doc.Sections), seen)
			require.Empty(t, doc.Notes)
		})
	}
}

func TestDocx_TextBoxLeavesHeadingWhole(t *testing.T) {
	t.Parallel()
	box := `<w:txbxContent><w:p>` + wordRun("", "New!") + `</w:p></w:txbxContent>`
	both := `<w:r><mc:AlternateContent><mc:Choice><wps:txbx>` + box + `</wps:txbx></mc:Choice><mc:Fallback><v:textbox>` + box +
		`</v:textbox></mc:Fallback></mc:AlternateContent></w:r>`
	body := `<w:body><w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr>` + wordRun("", "Deli") + both + wordRun("", "very") + `</w:p><w:p>` +
		wordRun("", "We come on Saturday.") +
		`</w:p></w:body>`
	doc, err := readDOCX(styledDocx(t, body, ""))
	require.NoError(t, err)
	require.Equal(t, []section{{Path: []string{"Delivery"}, Text: "New!\n\nWe come on Saturday.\n\n"}}, doc.Sections)
}

func TestDocx_OnlyHiddenTextIsEmpty(t *testing.T) {
	t.Parallel()
	_, err := readFile(t, "a.docx", styledDocx(t, `<w:body><w:p>`+wordRun("<w:vanish/>", "Our floor is 60 EUR.")+`</w:p></w:body>`, ""))
	require.ErrorIs(t, err, ErrEmpty)
	require.EqualError(t, err,
		"there is nothing in it that a reader sees. 1 line of it cannot be seen, so I left it out: “Our floor is 60 EUR.”")
}

// A style without an id, as some programs write, is nobody's: it is not the style of a text that names none.
func TestDocx_StyleWithoutIDIsUnused(t *testing.T) {
	t.Parallel()
	doc, err := readFile(t, "a.docx", zipOf(t, map[string]string{
		"[Content_Types].xml": "<Types/>",
		"word/document.xml":   `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Open on Monday.</w:t></w:r></w:p></w:body></w:document>`,
		"word/styles.xml":     `<w:styles xmlns:w="w"><w:style><w:name w:val="Spacer"/><w:rPr><w:sz w:val="2"/></w:rPr></w:style></w:styles>`,
	}))
	require.NoError(t, err)
	require.Empty(t, doc.Notes)
	require.Contains(t, fmt.Sprint(doc.Sections), "Open on Monday.")
}

func TestDocx_HeadingTooLongIsText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("We open at nine and close at five. ", 10) + "Except on Friday."
	doc, err := readFile(t, "a.docx", docx(t, paragraph("H2", long)+paragraph("", "Below.")))
	require.NoError(t, err)
	require.Contains(t, doc.Sections[0].Text, "Except on Friday.")
	require.Contains(t, doc.Sections[0].Text, "Below.")
}
