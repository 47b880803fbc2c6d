package tools_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
)

func TestFindFiles_IgnoresCase(t *testing.T) {
	t.Parallel()
	d := newWorkspace(t)
	require.Contains(t, d.call("find_files", map[string]any{"name": "*.TXT"}).ForLLM, "sub/offer.txt")
	shared := d.caller.ReadPaths[0]
	require.Equal(t, filepath.Join(shared, "price.csv"), d.call("find_files", map[string]any{"name": "price*", "path": shared}).ForLLM,
		"by a path that can be read again")
	require.Equal(t, tools.CodeArguments, d.call("find_files", map[string]any{"name": "["}).Code)
}
