package deploy_test

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Along the arrows of the diagram, each family of the program leads to those that it imports, and to no others.
func TestDiagram_HasArrowsOfImports(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("..")
	require.NoError(t, err)
	imported := graph{}
	for _, folder := range folders {
		if folder.IsDir() && !slices.Contains([]string{"bench", "deploy", "e2e"}, folder.Name()) {
			imported[folder.Name()] = importsOf(t, folder.Name())
		}
	}
	reached := drawn(t).reach()
	for family, want := range imported.reach() {
		require.Equal(t, want, reached[family], family)
	}
	require.Len(t, reached, len(imported.reach()))
}

// graph has for each family those that it leads to.
type graph map[string]map[string]bool

// reach returns for each family all those that it leads to at last, in order. Families that lead nowhere are left out.
func (g graph) reach() map[string][]string {
	all := map[string][]string{}
	for from := range g {
		seen := map[string]bool{}
		g.walk(from, seen)
		if len(seen) > 0 {
			all[from] = slices.Sorted(maps.Keys(seen))
		}
	}
	return all
}

func (g graph) walk(from string, seen map[string]bool) {
	for to := range g[from] {
		if !seen[to] {
			seen[to] = true
			g.walk(to, seen)
		}
	}
}

// importsOf returns the other families that the program's code in a folder imports. Packages for tests are named after what they test.
func importsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	families := map[string]bool{}
	for _, path := range goFiles(t, filepath.Join("..", folder)) {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Base(filepath.Dir(path)), "test") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			name, ours := strings.CutPrefix(name, "multis/")
			family, _, _ := strings.Cut(name, "/")
			if ours && family != folder {
				families[family] = true
			}
		}
	}
	return families
}

// drawn returns the arrows of the diagram.
func drawn(t *testing.T) graph {
	t.Helper()
	doc, err := os.ReadFile("../docs/architecture.md")
	require.NoError(t, err)
	_, diagram, found := strings.Cut(string(doc), "flowchart TD\n")
	require.True(t, found)
	diagram, _, _ = strings.Cut(diagram, "```")
	label := regexp.MustCompile(`\["[^"]*"\]`)
	arrows := graph{}
	for line := range strings.Lines(label.ReplaceAllString(diagram, "")) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " --> ")
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for family := range strings.SplitSeq(to, " & ") {
			arrows[from][family] = true
		}
	}
	return arrows
}
