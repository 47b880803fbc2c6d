package guide

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const document = "# Top\n```sh\nnot this\n```\n## Install\ntext\n```sh\n# a comment\nmake it   # a remark\n\n$EDITOR file\nrun it\n```\n" +
	"### Deeper\n```yaml\n# Next\nkey: value\n```\n## Next\n```sh\nnot this\n```\n"

func TestSection_IncludesBlocksOfParts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(path, []byte(document), 0o600))
	blocks, err := Blocks(path, "## Install")
	require.NoError(t, err)
	require.Equal(t, []Block{
		{"sh", "# a comment\nmake it   # a remark\n\n$EDITOR file\nrun it\n"},
		{"yaml", "# Next\nkey: value\n"},
	}, blocks)
	require.Equal(t, []string{"make it   # a remark", "run it"}, blocks[0].Commands())
	require.Empty(t, blocks[1].Commands())
	_, err = Blocks(path, "## Missing")
	require.ErrorContains(t, err, "no block of code")
}
