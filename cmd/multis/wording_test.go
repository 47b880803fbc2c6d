package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// avoidedWords match what plain English says in another way.
var avoidedWords = []struct {
	pattern *regexp.Regexp
	better  string
}{
	{regexp.MustCompile(`(?i)\bmeanwhile\b`), "in the meantime"},
	{regexp.MustCompile(`(?i)\banew\b`), "again"},
	{regexp.MustCompile(`(?i)\bstands? in\b`), "is in"},
	{regexp.MustCompile(`(?i)\bstands? still\b`), "has been stuck"},
	{regexp.MustCompile(`(?i)\bas (it|they) stands?\b`), "unchanged"},
	{regexp.MustCompile(`(?i)\brests? on\b`), "is based on"},
	{regexp.MustCompile(`(?i)\bfor you alone\b`), "only you"},
	{regexp.MustCompile(`(?i)\bby (itself|themselves)\b`), "automatically"},
	{regexp.MustCompile(`(?i)\bgo(es)? on\b`), "continues"},
	{regexp.MustCompile(`(?i)\b(is|are) over\b`), "has ended"},
	{regexp.MustCompile(`(?i)\bmend(s|ed)?\b`), "fix"},
	{regexp.MustCompile(`(?i)\bfor machines\b`), "machine-readable"},
	{regexp.MustCompile(`(?i)\bat most($|[ ]*[.,;:)])`), "at most N"},
	{regexp.MustCompile(`(?i)\bsay it like\b`), "Try"},
	{regexp.MustCompile(`(?i)\bshall (i|it|this)\b`), "should I"},
	{regexp.MustCompile(`(?i)\bconfig\.yaml names one\b`), "Set `llm.model` in config.yaml"},
	{regexp.MustCompile(`(?i)\b(it|that|this|which|who|what|%[sq]|\*\*|") (is|was|are) no [a-z]`), "is not a"},
	{regexp.MustCompile(`(?i)\banother \w+ than\b`), "other than"},
	{regexp.MustCompile(`(?i)\bgoes? out\b`), "is sent"},
	{regexp.MustCompile(`(?i)\b(it|nothing) goes to (\*\*|any|nobody)`), "send"},
	{regexp.MustCompile(`(?i)\bwaits? for your (yes|word)\b`), "is waiting for your approval"},
	{regexp.MustCompile(`(?i)\bi take (it )?over\b`), "I answer again"},
	{regexp.MustCompile(`(?i)\bi stay off\b`), "paused"},
	{regexp.MustCompile(`(?i)\btakes? (it|that|them) back\b`), "undo"},
	{regexp.MustCompile(`(?i)\bbehind (it|them|the (time|name|number|colon))\b`), "after"},
	{regexp.MustCompile(`(?i)\bwhat comes again\b`), "recurring"},
	{regexp.MustCompile(`(?i)\bby the clock\b`), "scheduled"},
	{regexp.MustCompile(`\bit waits since\b|\b(runs|waits for you) since\b`), "has been ... since"},
	{regexp.MustCompile(`\*\*Stale\b`), "Outdated"},
}

// foreignTexts are folders and files whose texts nobody reads who uses multis: statements of SQL, words of languages, other
// programs of the repository, and what models are told.
var foreignTexts = []string{
	"store", "migrations", "bench", "e2e", "deploy", "internal/language/lexicon", "llm/llmtest",
	"agent/tools", "agent/run", "agent/rules.go", "agent/redraft.go", "agent/delegate.go", "agent/sessions.go", "agent/heartbeat/prompt.go",
}

// shownTexts returns the texts in the programs of a folder that people may read, by their place: all literals with a space.
func shownTexts(t *testing.T, root string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		place, err := filepath.Rel(root, path)
		isForeign := slices.Contains(foreignTexts, filepath.ToSlash(place))
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (isForeign || entry.Name() == "testdata" || entry.Name() == ".git"):
			return fs.SkipDir
		case isForeign:
			return nil
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if said, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(said, " ") {
				at := files.Position(literal.Pos())
				texts[fmt.Sprintf("%s:%d:%d", place, at.Line, at.Column)] = said
			}
			return true
		})
		return nil
	}))
	return texts
}

// What people read is plain English.
func TestTexts_AvoidWords(t *testing.T) {
	t.Parallel()
	texts := shownTexts(t, "../..")
	require.Greater(t, len(texts), 3000, "the texts are found")
	for place, said := range texts {
		for _, avoided := range avoidedWords {
			if found := avoided.pattern.FindString(said); found != "" {
				t.Errorf("%s: %q: write %q", place, found, avoided.better)
			}
		}
	}
}
