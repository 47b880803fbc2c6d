package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The size is checked after the text was made: a file of 1 MB of one letter and a new text of 16 KB are 16 GB, and multis is killed for want of memory.
func TestEditFileMakesNoTextThatItRefuses(t *testing.T) { //nolint:paralleltest // it counts allocations
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte(strings.Repeat("a", 1<<20)), 0o644))
	raw, err := json.Marshal(editFileArgs{Path: "a", Old: "a", New: strings.Repeat("b", 200), All: true})
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res, err := EditFile{}.Run(t.Context(), Call{Args: raw, Caller: Caller{Owner: true, Workspace: dir}})
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.True(t, res.IsError)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(50), "MB")
}
