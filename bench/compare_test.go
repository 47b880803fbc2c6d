package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// benchmarks reports what it is told as the time of one benchmark, and always the same time of the other.
const benchmarks = `package shop

import "testing"

func BenchmarkSell(b *testing.B) { b.ReportMetric(%d, "ns/op") }

func BenchmarkRest(b *testing.B) { b.ReportMetric(20, "ns/op") }
`

// newCommits returns a repository with a commit of each text in a file of tests.
func newCommits(t *testing.T, files ...map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	git := func(args ...string) {
		_, err := command(t.Context(), dir, "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		require.NoError(t, err)
	}
	git("init", "--quiet")
	for _, commit := range files {
		git("rm", "-r", "--quiet", "--ignore-unmatch", ".")
		for name, text := range commit {
			path := filepath.Join(dir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		git("add", "--all")
		git("commit", "--quiet", "--message", "a commit")
	}
	return dir
}

// The package of the benchmark moves between the two commits.
func TestCompare_FailsOnSlowerCommit(t *testing.T) {
	const module = "module shop\n\ngo 1.26\n"
	dir := newCommits(t,
		map[string]string{"go.mod": module, "shop_test.go": fmt.Sprintf(benchmarks, 10)},
		map[string]string{"go.mod": module, "desk/shop_test.go": fmt.Sprintf(benchmarks, 40)},
	)
	compare := func(from, to string) (out string, err error) {
		out = printed(t, func() error {
			err = compareCmd{
				Old:    from,
				New:    to,
				Bench:  []string{"Sell", "Rest"},
				Rounds: 2,
				Time:   "5x",
				Limit:  2,
				Dir:    dir,
			}.Run(t.Context())
			return nil
		})
		return out, err
	}
	out, err := compare("HEAD~1", "HEAD")
	require.ErrorIs(t, err, errSlower)
	require.ErrorContains(t, err, "Sell")
	require.NotContains(t, err.Error(), "Rest")
	require.Regexp(t, `(?m)^Sell\S* +sec/op .* 4\.00  4\.00 to 4\.00$`, out)
	_, err = compare("HEAD", "HEAD~1")
	require.NoError(t, err)
	left, err := command(t.Context(), dir, "git", "worktree", "list")
	require.NoError(t, err)
	require.Len(t, regexp.MustCompile(`(?m)^.+$`).FindAll(left, -1), 1, "work trees are removed")
}

func TestCompare_NamesWhatIsMissing(t *testing.T) {
	dir := newCommits(t, map[string]string{"go.mod": "module shop\n", "shop_test.go": fmt.Sprintf(benchmarks, 10)})
	err := compareCmd{
		Old:    "HEAD",
		New:    "HEAD",
		Bench:  []string{"Buy"},
		Rounds: 1,
		Dir:    dir,
	}.Run(t.Context())
	require.ErrorContains(t, err, "HEAD has no BenchmarkBuy")
}

func TestCompared_RatesCountTheOtherWay(t *testing.T) {
	r := compared{unit: "events/s", values: [2]map[int]float64{{0: 300, 1: 200}, {0: 150, 2: 100}}}
	require.Equal(t, []float64{2}, r.ratios())
}
