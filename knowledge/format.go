package knowledge

import (
	"path"
	"slices"
	"strings"

	"multis/internal/text"
)

// Format is a format of documents that can be read.
type Format struct {
	ID    string // as stored with a document
	Name  string // as people call it
	Short string // short name, for counts: "3 PDF, 2 text"

	endings []string // of file names, in lower case
	media   []string // the media types
	isText  bool     // a text format, which is recognized only by its ending or media type, not by its content
}

// The ids of the formats.
const (
	formatPDF      = "pdf"
	formatWord     = "docx"
	formatHTML     = "html"
	formatMarkdown = "md"
	formatCSV      = "csv"
	formatText     = "txt"
)

// formats lists all formats with their names, file endings and media types. read and readText call the reader of each format.
var formats = []Format{
	{
		ID:      formatPDF,
		Name:    "PDF",
		Short:   "PDF",
		endings: []string{".pdf"},
		media:   []string{"application/pdf"},
	},
	{
		ID: formatWord, Name: "Word (.docx)", Short: "Word", endings: []string{".docx"},
		media: []string{"application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	},
	{
		ID:      formatHTML,
		Name:    "HTML",
		Short:   "HTML",
		endings: []string{".html", ".htm", ".xhtml"},
		media:   []string{"text/html", "application/xhtml+xml"},
		isText:  true,
	},
	{
		ID:      formatMarkdown,
		Name:    "Markdown",
		Short:   "Markdown",
		endings: []string{".md", ".markdown"},
		media:   []string{"text/markdown"},
		isText:  true,
	},
	{
		ID:      formatCSV,
		Name:    "CSV",
		Short:   "CSV",
		endings: []string{".csv", ".tsv"},
		media:   []string{"text/csv", "text/tab-separated-values"},
		isText:  true,
	},
	{
		ID:      formatText,
		Name:    "plain text",
		Short:   "text",
		endings: []string{".txt", ".text", ".log"},
		isText:  true,
	},
}

// FormatNames lists the names of all formats.
func FormatNames() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return names
}

// FormatList is the names of all formats as part of a sentence: "PDF, Word (.docx), ... and plain text".
func FormatList() string { return text.List(FormatNames()) }

// FormatByID returns the format with an id. It returns false for the ids of other documents, such as "chat".
func FormatByID(id string) (Format, bool) {
	return findFormat(func(f Format) bool { return f.ID == id })
}

// formatByName returns the format with the file ending of a name.
func formatByName(name string) (Format, bool) {
	ending := strings.ToLower(path.Ext(name))
	return findFormat(func(f Format) bool { return slices.Contains(f.endings, ending) })
}

func findFormat(is func(Format) bool) (Format, bool) {
	i := slices.IndexFunc(formats, is)
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}

// textFormat returns the text format with a media type. If there is none, it returns the format with the file ending of the name.
func textFormat(media, name string) Format {
	media, _, _ = strings.Cut(media, ";")
	media = strings.TrimSpace(strings.ToLower(media))
	if f, found := findFormat(func(f Format) bool { return f.isText && slices.Contains(f.media, media) }); found {
		return f
	}
	f, _ := formatByName(name)
	return f
}

// IsReadable reports whether a file name has the ending of a format that can be read.
func IsReadable(name string) bool {
	_, found := formatByName(name)
	return found
}

// unreadableEndings are the endings of files that surely cannot be read.
var unreadableEndings = strings.Fields(`.xlsx .xls .ods .pptx .ppt .odp .odt .doc .pages .numbers .epub .zip .gz .tar .7z .rar .png .jpg .jpeg .gif
	.eml .emlx .msg .mbox .mht .mhtml .vcf .ics .webp .heic .tiff .bmp .mp3 .ogg .m4a .wav .mp4 .mov .avi .mkv .exe .dll .apk .iso .db .sqlite`)

// IsUnreadable reports whether a file name has the ending of a format that cannot be read. A file with an unknown ending may be text.
func IsUnreadable(name string) bool {
	return slices.Contains(unreadableEndings, strings.ToLower(path.Ext(name)))
}
