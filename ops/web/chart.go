package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// The size of a chart, in units of its own.
const (
	chartWidth  = 380.0
	chartHeight = 140.0
	barHeight   = 112.0 // of the highest bar
	maxLabels   = 8     // bars with a label each
)

// bar is a bar of a chart, which its page draws.
type bar struct {
	X, Y, Width, Height, Middle string
	Label                       string // empty for none
	Value                       string // empty for none
}

// chart is a value by day.
type chart struct {
	Title, Text string // Text says the same in words
	Class       string // of the bars
	Bars        []bar
}

// withValues returns a chart with its values by day, the oldest first.
func (c chart) withValues(from time.Time, values []int64, format func(int64) string) chart {
	highest := slices.Max(values)
	step := chartWidth / float64(len(values))
	labelled := (len(values) + maxLabels - 1) / maxLabels
	var words []string
	for i, n := range values {
		height := 0.0
		if highest > 0 {
			height = barHeight * float64(n) / float64(highest)
		}
		day := from.AddDate(0, 0, i)
		b := bar{
			X: coordinate(float64(i)*step + step*0.22), Width: coordinate(step * 0.56),
			Y: coordinate(chartHeight - height), Height: coordinate(height), Middle: coordinate(float64(i)*step + step/2),
		}
		if i%labelled == 0 {
			b.Label = day.Format("Mon")
			if len(values) > maxLabels {
				b.Label = day.Format("2 Jan")
			}
		}
		if len(values) <= maxLabels {
			b.Value = format(n)
		}
		c.Bars = append(c.Bars, b)
		words = append(words, day.Format("Mon 2 Jan")+" "+format(n))
	}
	c.Text = strings.Join(words, ", ")
	return c
}

// Top returns where the value of a bar is written.
func (b bar) Top() string {
	y, _ := strconv.ParseFloat(b.Y, 64) // withValues has written it
	return coordinate(y - 6)
}

// coordinate formats a coordinate.
func coordinate(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// factChart returns how many facts of a kind there were each day.
func (s *Site) factChart(title, class string, facts []store.DeskFact, from time.Time, days int, kind store.DeskFactKind) chart {
	values := make([]int64, days)
	for _, f := range facts {
		y, m, d := f.At.In(s.Zone).Date()
		i := int(time.Date(y, m, d, 12, 0, 0, 0, s.Zone).Sub(from).Hours() / 24)
		if f.Kind == kind && i >= 0 && i < days {
			values[i]++
		}
	}
	return chart{Title: title, Class: class}.withValues(from, values, func(n int64) string { return strconv.FormatInt(n, 10) })
}

// costChart returns the cost of each day.
func (s *Site) costChart(from time.Time, costs []store.DayUsage) chart {
	values := make([]int64, len(costs))
	for i, c := range costs {
		values[i] = c.Amount
	}
	return chart{Title: "Cost of models", Class: "f3"}.withValues(from, values, func(n int64) string { return text.Money(n, s.Currency) })
}
