package search

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Postgres finds the candidates that rank ranks, so both must use the same parameters.
func TestRank_ConstantsAreThoseOfPostgres(t *testing.T) {
	t.Parallel()
	sql := readFunctions(t, "passages.sql")
	number := func(pattern string) float64 {
		m := regexp.MustCompile(pattern).FindStringSubmatch(sql)
		require.NotNil(t, m, pattern)
		n, err := strconv.ParseFloat(m[1], 64)
		require.NoError(t, err, pattern)
		return n
	}
	require.InDelta(t, k1, number(`([\d.]+)::float8 \* \(`), 0, "k1")
	require.InDelta(t, 1-b, number(`\* \(([\d.]+)::float8 \+`), 1e-12, "1 - b")
	require.InDelta(t, b, number(`\+ ([\d.]+)::float8 \* greatest`), 0, "b")
	require.InDelta(t, minPassageWords, number(`greatest\(c\.n_tok, (\d+)\)`), 0, "of a passage")
	require.InDelta(t, minPassageWords, number(`greatest\(\$5, (\d+)\)`), 0, "on average")
	require.InDelta(t, rerankDepth, number(`order by 1 desc, c\.id limit (\d+)\)`), 0, "the best candidates")
	require.InDelta(t, -neighbourReach, number(`generate_series\((-\d+), \d+\) d`), 0, "before")
	require.InDelta(t, neighbourReach, number(`generate_series\(-\d+, (\d+)\) d`), 0, "after")
}

// isCompound and fits_length decide alike.
func TestIsCompound_ConstantsAreThoseOfPostgres(t *testing.T) {
	t.Parallel()
	sql := readFunctions(t, "words.sql")
	for pattern, want := range map[string]int{
		`abs\(length\(p_a\) - length\(p_b\)\) <= (\d+)`: maxLengthDiff,
		`length\(p_b\) >= (\d+) and starts_with`:        minCorrectedLen,
		`length\(p_a\) >= (\d+) and starts_with`:        minCorrectedLen,
		`length\(p_b\) >= (\d+) and right`:              minLastPartLen,
		`length\(p_a\) >= (\d+) and right`:              minLastPartLen,
		`length\(c\.word\) >= (\d+) order by`:           minCorrectedLen,
		`then 3 else (\d+) end`:                         maxCorrections,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(sql)
		require.NotNil(t, m, pattern)
		require.Equal(t, strconv.Itoa(want), m[1], pattern)
	}
}

func readFunctions(t *testing.T, name string) string {
	t.Helper()
	sql, err := os.ReadFile("../../migrations/functions/" + name)
	require.NoError(t, err)
	return string(sql)
}
