package knowledge

import (
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

const (
	// maxObjects is the number of objects of a PDF that are examined for text that cannot be seen.
	maxObjects = 400_000
	// scanShare is the minimum share of a page that pictures cover if the page is a scan.
	scanShare = 0.5
	// nearlyWhite is the lowest value of each colour of a text that cannot be seen on white paper.
	nearlyWhite = 250
	// minTextHeight is the height in points below which nobody can read a text.
	minTextHeight = 1
)

// hiddenMark holds what of an annotation means that nobody sees it.
const hiddenMark = enums.FPDF_ANNOT_FLAG_HIDDEN | enums.FPDF_ANNOT_FLAG_NOVIEW

// pdfObject is an object of a page, with the form that contains it; form is empty for an object of the page itself.
type pdfObject struct {
	ref, form references.FPDF_PAGEOBJECT
}

// removeUnseen removes the text of a page that cannot be seen: drawn without ink, white on white paper, beside the page, or too small.
// It reports whether the page is a scan with the text of a text recognition, which is drawn without ink on purpose and stays.
func (f *pdfiumFile) removeUnseen(page requests.Page) (isScan bool) {
	count, err := f.engine.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return false
	}
	edges, err := f.engine.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: page})
	if err != nil {
		return false
	}
	e := edges.Rect
	view := pageView{file: f, edges: box{
		left:   float64(e.Left),
		right:  float64(e.Right),
		bottom: float64(min(e.Bottom, e.Top)),
		top:    float64(max(e.Bottom, e.Top)),
	}}
	for i := range count.Count {
		object, err := f.engine.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			continue
		}
		view.examine(pdfObject{ref: object.PageObject}, 0)
	}
	if len(view.inkless) > view.visible && view.pictures >= scanShare*view.edges.area() {
		isScan = true
		view.inkless = nil
	}
	f.remove(page, append(view.inkless, view.unseen...))
	return isScan
}

// pageView finds the text of a page that cannot be seen.
type pageView struct {
	file        *pdfiumFile
	edges       box
	backgrounds []box   // of what is drawn so far and is not white
	pictures    float64 // area of the pictures
	visible     int     // number of texts that can be seen
	inkless     []pdfObject
	unseen      []pdfObject
}

// examine takes in one object, and those in it.
func (v *pageView) examine(o pdfObject, depth int) {
	if v.file.objects--; v.file.objects < 0 {
		return
	}
	engine := v.file.engine
	kind, err := engine.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: o.ref})
	if err != nil {
		return
	}
	switch kind.Type {
	case enums.FPDF_PAGEOBJ_TEXT:
		v.examineText(o)
	case enums.FPDF_PAGEOBJ_IMAGE:
		b := v.file.bounds(o)
		if v.pictures += b.intersect(v.edges).area(); o.form == "" {
			v.backgrounds = append(v.backgrounds, b)
		}
	case enums.FPDF_PAGEOBJ_PATH:
		if o.form == "" && v.isFilled(o) {
			v.backgrounds = append(v.backgrounds, v.file.bounds(o))
		}
	case enums.FPDF_PAGEOBJ_FORM:
		if depth < maxDepth {
			v.examineForm(o, depth)
		}
		if o.form == "" {
			v.backgrounds = append(v.backgrounds, v.file.bounds(o))
		}
	default:
		if o.form == "" {
			v.backgrounds = append(v.backgrounds, v.file.bounds(o))
		}
	}
}

func (v *pageView) examineForm(o pdfObject, depth int) {
	count, err := v.file.engine.FPDFFormObj_CountObjects(&requests.FPDFFormObj_CountObjects{PageObject: o.ref})
	if err != nil {
		return
	}
	for i := range count.Count {
		inner, err := v.file.engine.FPDFFormObj_GetObject(&requests.FPDFFormObj_GetObject{PageObject: o.ref, Index: uint64(i)})
		if err == nil {
			v.examine(pdfObject{ref: inner.PageObject, form: o.ref}, depth+1)
		}
	}
}

// examineText decides whether a text can be seen. Of a text in a form only the ink counts, because its position and what is below it are
// those of the form.
func (v *pageView) examineText(o pdfObject) {
	mode, err := v.file.engine.FPDFTextObj_GetTextRenderMode(&requests.FPDFTextObj_GetTextRenderMode{PageObject: o.ref})
	if err != nil {
		return
	}
	isFilled := mode.TextRenderMode == enums.FPDF_TEXTRENDERMODE_FILL
	switch {
	case mode.TextRenderMode == enums.FPDF_TEXTRENDERMODE_INVISIBLE, isFilled && v.file.isTransparent(o):
		v.inkless = append(v.inkless, o)
	case o.form == "" && !v.isSeen(o, isFilled):
		v.unseen = append(v.unseen, o)
	default:
		v.visible++
	}
}

// isSeen reports whether a text of the page itself can be seen. isFilled says that the text has no outlines.
func (v *pageView) isSeen(o pdfObject, isFilled bool) bool {
	b := v.file.bounds(o)
	if !b.overlaps(v.edges) || b.top <= v.edges.bottom || b.bottom >= v.edges.top {
		return b.area() == 0 // blanks have no area
	}
	if b.top-b.bottom < minTextHeight && b.right-b.left < minTextHeight*float64(maxUnseenLine) && v.file.isTiny(o) {
		return false
	}
	if !isFilled {
		return true
	}
	color, err := v.file.engine.FPDFPageObj_GetFillColor(&requests.FPDFPageObj_GetFillColor{PageObject: o.ref})
	if err != nil {
		return true
	}
	c := color.FillColor
	isWhite := c.R >= nearlyWhite && c.G >= nearlyWhite && c.B >= nearlyWhite
	return !isWhite || v.hasBackground(b)
}

// isTransparent reports whether a text is filled with a colour that lets all through.
func (f *pdfiumFile) isTransparent(o pdfObject) bool {
	color, err := f.engine.FPDFPageObj_GetFillColor(&requests.FPDFPageObj_GetFillColor{PageObject: o.ref})
	return err == nil && color.FillColor.A == 0
}

func (v *pageView) hasBackground(b box) bool {
	for _, below := range v.backgrounds {
		if below.intersect(b).area() > 0 {
			return true
		}
	}
	return false
}

// isFilled reports whether a path fills an area with another colour than white.
func (v *pageView) isFilled(o pdfObject) bool {
	mode, err := v.file.engine.FPDFPath_GetDrawMode(&requests.FPDFPath_GetDrawMode{PageObject: o.ref})
	if err != nil {
		return true
	}
	if mode.FillMode == enums.FPDF_FILLMODE_NONE {
		return false
	}
	color, err := v.file.engine.FPDFPageObj_GetFillColor(&requests.FPDFPageObj_GetFillColor{PageObject: o.ref})
	if err != nil {
		return true
	}
	c := color.FillColor
	return c.R < nearlyWhite || c.G < nearlyWhite || c.B < nearlyWhite
}

// bounds returns where an object is; an empty box if that is unknown.
func (f *pdfiumFile) bounds(o pdfObject) box {
	b, err := f.engine.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: o.ref})
	if err != nil {
		return box{}
	}
	return box{left: float64(b.Left), right: float64(b.Right), bottom: float64(b.Bottom), top: float64(b.Top)}
}

// isTiny reports whether the letters of a text are too small to be read. A line of dots is low, but not tiny.
func (f *pdfiumFile) isTiny(o pdfObject) bool {
	size, err := f.engine.FPDFTextObj_GetFontSize(&requests.FPDFTextObj_GetFontSize{PageObject: o.ref})
	if err != nil {
		return false
	}
	matrix, err := f.engine.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: o.ref})
	if err != nil {
		return false
	}
	m := matrix.Matrix
	scale := max(abs(m.A), abs(m.B), abs(m.C), abs(m.D))
	return size.FontSize*scale < minTextHeight
}

func abs(x float32) float32 { return max(x, -x) }

// remove removes texts from a page and keeps them for the owner.
func (f *pdfiumFile) remove(page requests.Page, objects []pdfObject) {
	if len(objects) == 0 {
		return
	}
	f.keepUnseen(page, objects)
	for _, o := range objects {
		var err error
		if o.form == "" {
			_, err = f.engine.FPDFPage_RemoveObject(&requests.FPDFPage_RemoveObject{Page: page, PageObject: o.ref})
		} else {
			// the engine takes the form first, whatever the fields are called
			_, err = f.engine.FPDFFormObj_RemoveObject(&requests.FPDFFormObj_RemoveObject{PageObject: o.form, FormObject: o.ref})
		}
		if err == nil { // else the page no longer has the object
			_, _ = f.engine.FPDFPageObj_Destroy(&requests.FPDFPageObj_Destroy{PageObject: o.ref}) // nothing else frees what is removed
		}
	}
}

// keepUnseen adds the words of the texts to those that the owner is told of.
func (f *pdfiumFile) keepUnseen(page requests.Page, objects []pdfObject) {
	text, err := f.engine.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return
	}
	defer func() { _, _ = f.engine.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	var line strings.Builder
	bottom := 0.0
	for _, o := range objects {
		said, err := f.engine.FPDFTextObj_GetText(&requests.FPDFTextObj_GetText{PageObject: o.ref, TextPage: text.TextPage})
		if err != nil {
			continue
		}
		b := f.bounds(o)
		if b.top <= bottom || b.bottom > bottom+maxUnseenLine {
			line.WriteByte('\n')
		}
		bottom = b.bottom
		line.WriteString(strings.TrimRight(said.Text, "\x00"))
	}
	f.unseen.add(line.String())
}

func (b box) area() float64 { return max(b.right-b.left, 0) * max(b.top-b.bottom, 0) }

func (b box) intersect(other box) box {
	return box{
		left:   max(b.left, other.left),
		right:  min(b.right, other.right),
		bottom: max(b.bottom, other.bottom),
		top:    min(b.top, other.top),
	}
}
