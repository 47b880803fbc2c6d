package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// Messages such as "More about each: docs/troubleshooting.md" name guides, which somebody with the package alone has to have as well.
func TestPackage_BringsNamedGuides(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("release/nfpm.yaml")
	require.NoError(t, err)
	var description struct{ Contents []struct{ Src, Dst string } }
	require.NoError(t, yaml.Unmarshal(raw, &description))
	var guides []string
	for _, c := range description.Contents {
		if c.Dst != "/usr/share/doc/multis/docs/" {
			continue
		}
		paths, err := filepath.Glob(filepath.Join("..", c.Src))
		require.NoError(t, err)
		for _, path := range paths {
			guides = append(guides, filepath.Base(path))
		}
	}
	for _, source := range []string{"../cmd/multis/doctor.go", "../cmd/multis/status.go", "../ops/setup/wizard.go"} {
		t.Run(source, func(t *testing.T) {
			text, err := os.ReadFile(source)
			require.NoError(t, err)
			named := regexp.MustCompile(`docs/(\w+\.md)`).FindAllStringSubmatch(string(text), -1)
			require.NotEmpty(t, named, source)
			for _, name := range named {
				require.Contains(t, guides, name[1], source)
			}
		})
	}
}
