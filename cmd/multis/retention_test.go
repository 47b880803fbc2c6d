package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/text"
	"multis/store/storetest"
)

// docs/memory.md lists each period once, in the order of the table.
func TestRetentions_AreThoseOfTheGuide(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/memory.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(guide), "deleted after a fixed time:")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	var listed [][2]string
	for _, row := range regexp.MustCompile(`(?m)^\| (.+) \| (\d+ \w+) \|$`).FindAllStringSubmatch(table, -1) {
		listed = append(listed, [2]string{row[1], row[2]})
	}
	var want [][2]string
	for _, r := range retentions(storetest.New(t)) {
		if r.period > 0 {
			want = append(want, [2]string{r.what, text.Duration(r.period)})
		}
	}
	require.Equal(t, want, listed)
}

func TestRetentions_PruneAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for _, r := range retentions(storetest.New(t)) {
		t.Run(r.name, func(t *testing.T) {
			note, err := r.upkeep().Run(t.Context())
			require.NoError(t, err)
			require.Equal(t, "0 deleted", note)
		})
	}
}
