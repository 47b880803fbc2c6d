package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// compareCmd measures two commits side by side. Both are built first; then their benchmarks run by turns, so that what else the
// machine does slows both.
type compareCmd struct {
	Old    string   `arg:"" help:"The commit to compare with."`
	New    string   `arg:"" optional:"" default:"HEAD" help:"The commit that is compared."`
	Bench  []string `default:"Ingest,Turn,DueToOutbox,Find,Retention" help:"Names of benchmarks, without Benchmark: intake, turns, reminders, search, memory."`
	Rounds int      `default:"3" help:"How often both run; which one is first alternates."`
	Time   string   `default:"2s" help:"How long each benchmark runs: a duration, or a count such as 300x."`
	Limit  float64  `default:"1.1" help:"It fails if a benchmark takes this times as long, and longer in every round."`
	Dir    string   `default:"." type:"existingdir" help:"A folder of the repository."`
}

// errSlower is the error of a comparison with a benchmark that takes longer than the limit.
var errSlower = errors.New("slower than the limit")

// Run prints a table of ratios: one row for each benchmark and unit.
func (c compareCmd) Run(ctx context.Context) error {
	if c.Rounds < 1 {
		return fmt.Errorf("--rounds must be positive: %d", c.Rounds)
	}
	temp, err := os.MkdirTemp("", "bench-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // a folder for temporary files
	sides := [2]*side{
		{commit: c.Old, dir: filepath.Join(temp, "old")},
		{commit: c.New, dir: filepath.Join(temp, "new")},
	}
	for _, s := range sides {
		progress("building %s", s.commit)
		defer s.remove(c.Dir)
		if err := s.build(ctx, c.Dir, c.Bench); err != nil {
			return err
		}
	}
	all, err := c.measure(ctx, sides)
	if err != nil {
		return err
	}
	fmt.Print(all.table())
	if slow := all.slower(c.Limit); len(slow) > 0 {
		return fmt.Errorf("%w of %.2f: %s", errSlower, c.Limit, strings.Join(slow, ", "))
	}
	return nil
}

// measure runs the benchmarks of both sides by turns.
func (c compareCmd) measure(ctx context.Context, sides [2]*side) (*comparison, error) {
	all := &comparison{}
	for round := range c.Rounds {
		for _, name := range c.Bench {
			for turn := range sides {
				i := (round + turn) % len(sides)
				progress("round %d of %d: %s of %s", round+1, c.Rounds, name, sides[i].commit)
				out, err := sides[i].measure(ctx, name, c.Time)
				if err != nil {
					return nil, err
				}
				if err := all.add(i, round, out); err != nil {
					return nil, err
				}
			}
		}
	}
	return all, nil
}

// side is one of the two commits, in a work tree of its own.
type side struct {
	dir, commit string
	folders     map[string]string // of the package of each benchmark
}

// remove removes the work tree.
func (s *side) remove(repository string) {
	//nolint:errcheck // what is left is a folder for temporary files
	_, _ = command(context.Background(), repository, "git", "worktree", "remove", "--force", s.dir)
}

// build checks the commit out and builds the test programs of the benchmarks, wherever their packages stand in it.
func (s *side) build(ctx context.Context, repository string, names []string) error {
	if _, err := command(ctx, repository, "git", "worktree", "add", "--quiet", "--detach", s.dir, s.commit); err != nil {
		return err
	}
	s.folders = map[string]string{}
	for _, name := range names {
		out, err := command(ctx, s.dir, "git", "grep", "-l", "^func Benchmark"+name+"(", "--", "*_test.go")
		if err != nil {
			return fmt.Errorf("%s has no Benchmark%s: %w", s.commit, name, err)
		}
		file, _, _ := strings.Cut(string(out), "\n")
		s.folders[name] = filepath.Join(s.dir, filepath.Dir(file))
		if _, err := command(ctx, s.folders[name], "go", "test", "-c", "-tags", "goolm", "-o", s.program(name), "."); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) program(name string) string { return filepath.Join(s.dir, name+".test") }

// measure runs a benchmark once and returns what it printed.
func (s *side) measure(ctx context.Context, name, benchtime string) ([]byte, error) {
	return command(ctx, s.folders[name], s.program(name), "-test.run", "^$", "-test.bench", "^Benchmark"+name+"$", "-test.benchtime", benchtime)
}

// command runs a program in a folder, without cgo, and returns its output. The error has what it wrote.
func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, errs.Bytes())
	}
	return out, nil
}

// comparison is what was measured: for each benchmark and unit the values of both sides, one for each round.
type comparison struct {
	rows []*compared
}

// compared is one benchmark in one unit.
type compared struct {
	name, unit string
	values     [2]map[int]float64 // by side and round
}

// add adds what a benchmark printed.
func (c *comparison) add(side, round int, out []byte) error {
	reader := benchfmt.NewReader(bytes.NewReader(out), "benchmark")
	found := false
	for reader.Scan() {
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		found = true
		for _, v := range result.Values {
			c.row(string(result.Name), v.Unit).values[side][round] = v.Value
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("no result in: %s", out)
	}
	return nil
}

// row returns the row of a benchmark and unit, a new one if there is none.
func (c *comparison) row(name, unit string) *compared {
	i := slices.IndexFunc(c.rows, func(r *compared) bool { return r.name == name && r.unit == unit })
	if i >= 0 {
		return c.rows[i]
	}
	r := &compared{name: name, unit: unit, values: [2]map[int]float64{{}, {}}}
	c.rows = append(c.rows, r)
	return r
}

// ratios returns new divided by old for each round that has both, in ascending order. Rates are turned over, so that more than 1 is
// always slower.
func (r *compared) ratios() (list []float64) {
	for round, before := range r.values[0] {
		after, ok := r.values[1][round]
		if !ok || before == 0 || after == 0 {
			continue
		}
		ratio := after / before
		if strings.HasSuffix(r.unit, "/s") {
			ratio = before / after
		}
		list = append(list, ratio)
	}
	slices.Sort(list)
	return list
}

// table returns the medians of both sides and the median of the ratios with its spread.
func (c *comparison) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-44s %-10s %12s %12s %7s  %s\n", "benchmark", "unit", "old", "new", "ratio", "spread")
	for _, r := range c.rows {
		list := r.ratios()
		if len(list) == 0 {
			fmt.Fprintf(&b, "%-44s %-10s only one side has it\n", r.name, r.unit)
			continue
		}
		fmt.Fprintf(&b, "%-44s %-10s %12.4g %12.4g %7.2f  %.2f to %.2f\n", r.name, r.unit, middle(r.values[0]), middle(r.values[1]), list[len(list)/2],
			list[0], list[len(list)-1])
	}
	return b.String()
}

// middle returns the median of values that are not empty; of two the higher one.
func middle(values map[int]float64) float64 {
	var list []float64
	for _, v := range values {
		list = append(list, v)
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// slower returns the names of the benchmarks whose time grew beyond the limit, and in every round.
func (c *comparison) slower(limit float64) (names []string) {
	for _, r := range c.rows {
		list := r.ratios()
		if r.unit != "sec/op" || len(list) == 0 {
			continue
		}
		if list[0] > 1 && list[len(list)/2] > limit {
			names = append(names, r.name)
		}
	}
	return names
}
