package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"multis/config"
	"multis/knowledge"
	"multis/store"
)

// readCmd is the process in which one document is read. multis starts it by itself.
type readCmd struct{}

// Run reads the document on standard input.
func (readCmd) Run(ctx context.Context) error { return knowledge.Serve(ctx, os.Stdin, os.Stdout) }

// openLibrary opens the documents. Each file is read by a process of its own, which is this program again.
func openLibrary(cfg *config.Config, st *store.Store) (*knowledge.Library, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cache := filepath.Join(cfg.Database.DataDir, "cache", "pdfium")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a place for the PDF engine: %w", err)
	}
	return knowledge.Open(st, knowledge.Options{
		Reader: []string{program, "read-document"}, CacheDir: cache, UnidocKey: cfg.Documents.UnidocKey.Value(),
	}), nil
}
