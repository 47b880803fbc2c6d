package deploy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
)

// program is the path of multis in the image.
const program = "/usr/local/bin/multis"

// commands returns the commands of multis: the fields of its command line with the tag cmd.
func commands(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../cmd/multis/main.go", nil, 0)
	require.NoError(t, err)
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if ok && field.Tag != nil && strings.Contains(field.Tag.Value, `cmd:"`) {
			names = append(names, strings.ToLower(field.Names[0].Name))
		}
		return true
	})
	return names
}

// finalStage returns the instructions of the last stage, which is built by default.
func finalStage(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	text := string(data)
	return parse(text[strings.LastIndex(text, "\nFROM "):])
}

// instructions are the Dockerfile's lines by keyword, with continued lines joined.
func instructions(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("Dockerfile")
	require.NoError(t, err)
	return parse(string(data))
}

// The package setup recognizes a container by this variable.
func TestDockerfile_MarksContainer(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"container=docker"}, finalStage(t)["ENV"])
}

func parse(text string) map[string][]string {
	lines := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if keyword, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok && keyword != "#" {
			lines[keyword] = append(lines[keyword], strings.Join(strings.Fields(rest), " "))
		}
	}
	return lines
}

func TestDockerfile_UsesGoOfModule(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	require.NotNil(t, version)
	require.Contains(t, instructions(t)["FROM"], "--platform=$BUILDPLATFORM golang:"+string(version[1])+"-alpine AS build")
}

func TestDockerfile_CopiesExistingFiles(t *testing.T) {
	t.Parallel()
	lines := instructions(t)
	require.DirExists(t, "../cmd/multis")
	require.Contains(t, strings.Join(lines["RUN"], "\n"), "CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -tags goolm -trimpath ")
	require.Contains(t, strings.Join(lines["RUN"], "\n"), "-X main.version=${VERSION:-$(sh deploy/commit.sh)}")
	require.Contains(t, lines["COPY"], "--from=build /out/multis "+program)
	for _, line := range lines["COPY"] {
		args := strings.Fields(line)
		if strings.HasPrefix(args[0], "--from=") {
			continue
		}
		for _, source := range args[:len(args)-1] {
			_, err := os.Stat(filepath.Join("..", source))
			require.NoError(t, err)
		}
	}
}

func TestDockerfile_AgreesWithCompose(t *testing.T) {
	t.Parallel()
	lines, service := finalStage(t), load(t).Services["multis"]
	require.Equal(t, []string{service.User}, lines["USER"])
	require.Equal(t, []string{service.Volumes[0].Target}, lines["VOLUME"])
	require.Equal(t, []string{`["` + program + `"]`}, lines["ENTRYPOINT"])
	require.Equal(t, []string{`["run"]`}, lines["CMD"])
	require.Contains(t, commands(t), "run")
	// multis looks for config.yaml in its working directory.
	require.Equal(t, lines["VOLUME"], lines["WORKDIR"])
	require.Equal(t, types.HealthCheckTest{"CMD", program, "health"}, service.HealthCheck.Test)
	require.Contains(t, commands(t), "health")
	_, err := os.Stat(service.Build.Context)
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(service.Build.Context, service.Build.Dockerfile))
	ignored, err := os.ReadFile("../.dockerignore")
	require.NoError(t, err)
	for _, secret := range []string{"secrets", "data", ".env", "config.yaml", "registration.yaml"} {
		t.Run(secret, func(t *testing.T) {
			require.Contains(t, strings.Split(string(ignored), "\n"), secret, "never in an image")
		})
	}
}

func TestDockerfile_StampsCommit(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	script, err := os.ReadFile("commit.sh")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a branch": {
			map[string]string{"HEAD": "ref: refs/heads/main\n", "refs/heads/main": commit + "\n"},
			"dev-0123456789ab\n",
		},
		"a packed branch": {map[string]string{
			"HEAD":        "ref: refs/heads/main\n",
			"packed-refs": "# pack-refs\n" + commit + " refs/heads/main\n",
		}, "dev-0123456789ab\n"},
		"a detached commit":         {map[string]string{"HEAD": commit + "\n"}, "dev-0123456789ab\n"},
		"a branch without a commit": {map[string]string{"HEAD": "ref: refs/heads/main\n"}, "dev\n"},
		"no git":                    {nil, "dev\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(path, content string) {
				path = filepath.Join(dir, path)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			}
			write("deploy/commit.sh", string(script))
			for file, content := range c.files {
				write(filepath.Join(".git", file), content)
			}
			out, err := exec.CommandContext(t.Context(), "sh", filepath.Join(dir, "deploy/commit.sh")).CombinedOutput()
			require.NoError(t, err)
			require.Equal(t, c.want, string(out))
		})
	}
}
