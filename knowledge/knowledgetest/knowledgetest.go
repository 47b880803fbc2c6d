// Package knowledgetest has what tests of documents share.
package knowledgetest

import (
	"os"
	"path/filepath"
	"testing"
)

// EngineCache returns the folder for the compiled PDF engine, which is kept from one run of the tests to the next: to compile
// it takes seconds, under the race detector nearly a minute.
func EngineCache(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(os.TempDir(), "multis-test-engine")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}
