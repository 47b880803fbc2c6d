package knowledge

import (
	"slices"
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// maxAnnotations is how many annotations of a page are read.
const maxAnnotations = 5000

// annotations draws the forms, stamps and other annotations of a page into the page, so that their text is read where it stands, and
// removes those that nobody sees. It returns the text of those that are not drawn: comments, and the values of fields without a look of
// their own; and apart from them the values of fields that should be drawn.
func (f *pdfiumFile) annotations(page requests.Page) (said []string, drawn []annotation, isChanged bool) {
	count, err := f.engine.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return nil, nil, false
	}
	for i := min(count.Count, maxAnnotations) - 1; i >= 0; i-- {
		found, err := f.engine.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			continue
		}
		a := f.annotation(found.Annotation)
		_, _ = f.engine.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: found.Annotation})
		isChanged = isChanged || a.isDrawn || a.isHidden
		switch {
		case a.isHidden:
			f.unseen.add(a.text)
			_, _ = f.engine.FPDFPage_RemoveAnnot(&requests.FPDFPage_RemoveAnnot{Page: page, Index: i})
		case a.text != "" && !(a.isDrawn && a.isLook):
			said = append(said, a.text)
		case a.value != "":
			drawn = append(drawn, a)
		}
	}
	slices.Reverse(said)
	slices.Reverse(drawn)
	if isChanged {
		flat := &requests.FPDFPage_Flatten{Page: page, Usage: requests.FPDFPage_FlattenUsageNormalDisplay}
		_, _ = f.engine.FPDFPage_Flatten(flat) // a page that cannot be changed is read as it is
	}
	return said, drawn, isChanged
}

// undrawn returns the fields whose values the text of their page lacks: the look of some cannot be read.
func undrawn(fields []annotation, page string) []string {
	var said []string
	for _, a := range fields {
		if !strings.Contains(letters(page), letters(a.value)) {
			said = append(said, a.text)
		}
	}
	return said
}

// annotation is what a reader needs to know of an annotation.
type annotation struct {
	text     string // a comment, or the name and value of a field
	value    string // of a field for text or with a choice; empty for a box to tick
	isHidden bool
	isDrawn  bool // it has a look of its own
	isLook   bool // the look shows the text
}

func (f *pdfiumFile) annotation(ref references.FPDF_ANNOTATION) annotation {
	kind, err := f.engine.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: ref})
	if err != nil {
		return annotation{}
	}
	if kind.Subtype == enums.FPDF_ANNOT_SUBTYPE_LINK || kind.Subtype == enums.FPDF_ANNOT_SUBTYPE_POPUP {
		return annotation{}
	}
	var a annotation
	if flags, err := f.engine.FPDFAnnot_GetFlags(&requests.FPDFAnnot_GetFlags{Annotation: ref}); err == nil {
		a.isHidden = flags.Flags&hiddenMark != 0
	}
	drawn, err := f.engine.FPDFAnnot_HasKey(&requests.FPDFAnnot_HasKey{Annotation: ref, Key: "AP"})
	a.isDrawn = err == nil && drawn.HasKey
	switch kind.Subtype {
	case enums.FPDF_ANNOT_SUBTYPE_WIDGET:
		a.isLook = true
		a.text = f.annotationText(ref, "V")
		if kind := f.annotationText(ref, "FT"); kind == "Tx" || kind == "Ch" {
			a.value = a.text
		}
		if name := f.annotationText(ref, "T"); a.text != "" && name != "" {
			a.text = name + ": " + a.text
		}
	case enums.FPDF_ANNOT_SUBTYPE_FREETEXT, enums.FPDF_ANNOT_SUBTYPE_STAMP, enums.FPDF_ANNOT_SUBTYPE_WATERMARK:
		a.isLook = true
		a.text = f.annotationText(ref, "Contents")
	default:
		a.text = f.annotationText(ref, "Contents")
	}
	return a
}

func (f *pdfiumFile) annotationText(ref references.FPDF_ANNOTATION, key string) string {
	got, err := f.engine.FPDFAnnot_GetStringValue(&requests.FPDFAnnot_GetStringValue{Annotation: ref, Key: key})
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.NewReplacer("\x00", "", "\r\n", "\n", "\r", "\n").Replace(got.Value))
}
