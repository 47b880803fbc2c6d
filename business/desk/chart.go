package desk

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"multis/store"
)

// The size of a chart, in pixels.
const (
	ChartWidth  = 720
	ChartHeight = 320
)

const (
	chartLeft, chartTop = 40, 40
	chartBottom         = 40
)

// series are the bars of a day, from the bottom up.
var series = []struct { //nolint:gochecknoglobals // a constant, were there constant lists
	name  string
	kinds []store.DeskFactKind
	color color.RGBA
}{
	{"answered alone", []store.DeskFactKind{store.FactAlone}, color.RGBA{R: 44, G: 123, B: 182, A: 255}},
	{"by draft", []store.DeskFactKind{store.FactDraft, store.FactChanged}, color.RGBA{R: 171, G: 217, B: 233, A: 255}},
	{"escalated", []store.DeskFactKind{store.FactEscalated}, color.RGBA{R: 215, G: 88, B: 28, A: 255}},
}

// Chart draws a bar for each day as a PNG: what was answered alone, by draft, and escalated. from is the beginning of the first day.
func Chart(facts []store.DeskFact, from time.Time, days int) ([]byte, error) {
	counts, highest := countDays(facts, from, days)
	canvas := image.NewRGBA(image.Rect(0, 0, ChartWidth, ChartHeight))
	draw.Draw(canvas, canvas.Bounds(), image.White, image.Point{}, draw.Src)
	x := chartLeft
	for _, s := range series {
		fill(canvas, image.Rect(x, 14, x+10, 24), s.color)
		write(canvas, x+16, 24, s.name)
		x += 30 + 7*len(s.name)
	}
	plot := ChartHeight - chartTop - chartBottom
	floor := ChartHeight - chartBottom
	for _, mark := range []int{0, highest / 2, highest} {
		y := floor - plot*mark/max(highest, 1)
		fill(canvas, image.Rect(chartLeft, y, ChartWidth-10, y+1), color.RGBA{R: 220, G: 220, B: 220, A: 255})
		write(canvas, 6, y+4, strconv.Itoa(mark))
	}
	width := (ChartWidth - chartLeft - 10) / days
	for day := range days {
		left, y := chartLeft+day*width+width/6, floor
		for i, s := range series {
			top := y - plot*counts[day][i]/max(highest, 1)
			fill(canvas, image.Rect(left, top, left+width*2/3, y), s.color)
			y = top
		}
		write(canvas, left, floor+18, from.AddDate(0, 0, day).Format("Mon 2"))
	}
	var b bytes.Buffer
	err := png.Encode(&b, canvas)
	return b.Bytes(), err
}

// countDays counts the facts of each series by day, and returns the highest sum of a day.
func countDays(facts []store.DeskFact, from time.Time, days int) (counts [][]int, highest int) {
	counts = make([][]int, days)
	for day := range counts {
		counts[day] = make([]int, len(series))
		begin, end := from.AddDate(0, 0, day), from.AddDate(0, 0, day+1)
		sum := 0
		for _, f := range facts {
			if f.At.Before(begin) || !f.At.Before(end) {
				continue
			}
			for i, s := range series {
				for _, k := range s.kinds {
					if f.Kind == k {
						counts[day][i]++
						sum++
					}
				}
			}
		}
		highest = max(highest, sum)
	}
	return counts, highest
}

func fill(canvas draw.Image, r image.Rectangle, c color.Color) {
	draw.Draw(canvas, r, image.NewUniform(c), image.Point{}, draw.Src)
}

func write(canvas draw.Image, x, y int, s string) {
	d := font.Drawer{Dst: canvas, Src: image.Black, Face: basicfont.Face7x13, Dot: fixed.P(x, y)}
	d.DrawString(s)
}
