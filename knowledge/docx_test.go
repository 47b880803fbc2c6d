package knowledge

import (
	"archive/zip"
	"bytes"
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
