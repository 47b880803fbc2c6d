package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// packagedFile is a file of the Debian package, and where it is taken from.
type packagedFile struct{ Src, Dst string }

// packagedFiles returns the files that the description of the Debian package lists.
func packagedFiles(t *testing.T) []packagedFile {
	t.Helper()
	raw, err := os.ReadFile("release/nfpm.yaml")
	require.NoError(t, err)
	var description struct{ Contents []packagedFile }
	require.NoError(t, yaml.Unmarshal(raw, &description))
	return description.Contents
}

// Each shell loads the completion from its own folder, and man its page, without a line in a file of the user.
func TestPackage_BringsCompletionAndManPage(t *testing.T) {
	t.Parallel()
	release, err := os.ReadFile("release.sh")
	require.NoError(t, err)
	require.Contains(t, string(release), `>"$SHARED/completion.$shell"`)
	for source, path := range map[string]string{
		"completion.bash": "/usr/share/bash-completion/completions/multis",
		"completion.zsh":  "/usr/share/zsh/vendor-completions/_multis",
		"completion.fish": "/usr/share/fish/vendor_completions.d/multis.fish",
		"multis.1.gz":     "/usr/share/man/man1/multis.1.gz",
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, packagedFiles(t), packagedFile{Src: "${SHARED}/" + source, Dst: path})
		})
	}
}

// Messages such as "More about each: docs/troubleshooting.md" name guides, which somebody with the package alone has to have as well.
func TestPackage_BringsNamedGuides(t *testing.T) {
	t.Parallel()
	var guides []string
	for _, c := range packagedFiles(t) {
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
