package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
)

var (
	namedTest   = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)`")
	definedTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)\(`)
)

// Each guarantee of docs/safety.md names its test, and no document names one that is gone.
func TestDocs_NamedTestsExist(t *testing.T) {
	t.Parallel()
	const root = "../.."
	defined := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		code, err := os.ReadFile(path)
		for _, m := range definedTest.FindAllSubmatch(code, -1) {
			defined[string(m[1])] = true
		}
		return err
	}))
	require.Greater(t, len(defined), 1000)
	documents, err := filepath.Glob(root + "/docs/*.md")
	require.NoError(t, err)
	for _, path := range append(documents, root+"/README.md") {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range namedTest.FindAllStringSubmatch(string(data), -1) {
			require.True(t, defined[m[1]], "%s names %s", path, m[1])
		}
	}
	safety, err := os.ReadFile(root + "/docs/safety.md")
	require.NoError(t, err)
	inTable := false
	for line := range strings.Lines(string(safety)) {
		switch {
		case strings.Contains(line, "guarantee") && strings.Contains(line, "test") && strings.HasPrefix(line, "|"),
			strings.HasPrefix(line, "| what is guaranteed"):
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable && !strings.HasPrefix(line, "|---"):
			require.Regexp(t, namedTest, line, "a guarantee without a test")
		}
	}
}

// What a text or a document offers to set in chat can be set there.
func TestTexts_OfferedKeysCanBeSet(t *testing.T) {
	t.Parallel()
	const root = "../.."
	offered := regexp.MustCompile("`/config (?:set|reset) ([a-z_.]+)")
	found := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		isText := (strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")) || strings.HasSuffix(path, ".md")
		if err != nil {
			return err
		}
		if !isText {
			return nil
		}
		data, err := os.ReadFile(path)
		for _, m := range offered.FindAllSubmatch(data, -1) {
			found++
			require.Contains(t, config.SafeKeys(), string(m[1]), path)
		}
		return err
	}))
	require.Positive(t, found)
}
