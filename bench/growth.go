package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

type growthCmd struct {
	Sizes []int  `default:"10000,100000,1000000" help:"Sizes of the corpus, in passages, ascending."`
	Chart string `default:"growth.png" help:"Draw the chart into this PNG file."`
	Keep  string `placeholder:"DIR" help:"Keep the databases in DIR, one folder a size; when they are there, ask them instead of loading again."`
}

// Run measures each size on databases of its own, then prints a table and draws a chart.
func (c growthCmd) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	reports := make([]report, 0, len(c.Sizes))
	for _, size := range c.Sizes {
		dir := ""
		if c.Keep != "" {
			dir = filepath.Join(c.Keep, strconv.Itoa(size))
		}
		r, err := measureSearch(ctx, size, dir)
		if err != nil {
			return fmt.Errorf("%d passages: %w", size, err)
		}
		reports = append(reports, r)
	}
	printGrowth(reports)
	return drawGrowth(reports, c.Chart)
}

func (c growthCmd) check() error {
	if len(c.Sizes) < 2 {
		return errors.New("--sizes needs two sizes or more")
	}
	for i, size := range c.Sizes {
		if size < 1 || i > 0 && size <= c.Sizes[i-1] {
			return fmt.Errorf("--sizes must be positive and ascending: %v", c.Sizes)
		}
	}
	return nil
}

// growthLine is one of the latencies that are compared over the sizes.
type growthLine struct {
	name string
	of   func(report) float64 // returns the latency in milliseconds
}

var growthLines = []growthLine{ //nolint:gochecknoglobals // a constant, were there constant lists
	{"owner p50", func(r report) float64 { return r.OwnerP50 }},
	{"owner p95", func(r report) float64 { return r.OwnerP95 }},
	{"owner p95, 2 clients", func(r report) float64 { return r.Owner2P95 }},
	{"owner p95, 8 clients", func(r report) float64 { return r.Owner8P95 }},
	{"contact p95", func(r report) float64 { return r.ContactP95 }},
	{"FTS5 owner p50", func(r report) float64 { return r.FTSOwnerP50 }},
	{"FTS5 owner p95", func(r report) float64 { return r.FTSOwnerP95 }},
	{"FTS5 contact p95", func(r report) float64 { return r.FTSContactP95 }},
}

// printGrowth prints a row for each latency and a column for each size. The last column is the exponent of growth between the first and the
// last size: 0.5 is the square root of the size, 1 is linear.
func printGrowth(reports []report) {
	fmt.Printf("\n%-22s", "ms")
	for _, r := range reports {
		fmt.Printf("%12d", r.Chunks)
	}
	fmt.Printf("%12s\n", "exponent")
	first, last := reports[0], reports[len(reports)-1]
	for _, line := range growthLines {
		fmt.Printf("%-22s", line.name)
		for _, r := range reports {
			fmt.Printf("%12.2f", line.of(r))
		}
		fmt.Printf("%12.2f\n", growthExponent(line.of(first), line.of(last), first.Chunks, last.Chunks))
	}
}

// growthExponent returns the k for which the latency grows as size^k.
func growthExponent(first, last float64, from, to int) float64 {
	return math.Log(last/first) / math.Log(float64(to)/float64(from))
}

// drawGrowth draws the latencies over the sizes as a PNG, both axes logarithmic.
func drawGrowth(reports []report, path string) error {
	p := plot.New()
	p.Title.Text = "Latency of a search by the number of passages"
	p.X.Label.Text, p.Y.Label.Text = "passages", "ms"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	var lines []any
	for _, line := range growthLines {
		points := make(plotter.XYs, len(reports))
		for i, r := range reports {
			points[i] = plotter.XY{X: float64(r.Chunks), Y: max(line.of(r), 0.01)} // zero has no logarithm
		}
		lines = append(lines, line.name, points)
	}
	if err := plotutil.AddLinePoints(p, lines...); err != nil {
		return fmt.Errorf("draw the chart: %w", err)
	}
	if err := p.Save(9*vg.Inch, 6*vg.Inch, path); err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	progress("chart: %s", path)
	return nil
}
