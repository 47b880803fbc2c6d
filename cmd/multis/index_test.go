package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/policy"
	"multis/store/storetest"
)

func TestDocumentsAreIndexedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	dir, st := t.TempDir(), storetest.New(t)
	documents := filepath.Join(dir, "documents")
	put := func(name, text string) string {
		full := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o600))
		return full
	}
	put("documents/shop/prices.md", "# Prices\n\nBread costs 3 euro.\n")
	put("documents/shop/broken.docx", "PK\x03\x04")
	put("documents/shop/\x1b[2Jtea.txt", "Tea costs 2 euro.")
	elsewhere := put("elsewhere/terms.txt", "Terms apply.")

	run := func(what ...string) (lines, bar string, err error) {
		var out, errs bytes.Buffer
		err = indexAll(t.Context(), knowledge.New(st), documents, policy.Admin, what, &progress{lines: &out, bar: &errs})
		return out.String(), errs.String(), err
	}
	lines, bar, err := run(documents, elsewhere)
	require.EqualError(t, err, "1 of 4 were not indexed")
	require.Equal(t, "shop/[2Jtea.txt: 1 passage\nshop/broken.docx: not indexed: it is broken or cut off: open it, save it again and send that\n"+
		"shop/prices.md: 1 passage\nterms.txt: 1 passage\n"+
		"3 of 4 documents, 3 passages, admin. Ask about them in the admin room; /docs lists them.\n", lines)
	require.Contains(t, bar, "\r\x1b[K[##########..........] 3 of 4: shop/prices.md")
	require.Contains(t, bar, "] 1 of 4: shop/[2Jtea.txt", "what a name says is only read")

	lines, _, err = run(filepath.Join(documents, "**", "*.md"))
	require.NoError(t, err)
	require.Contains(t, lines, "shop/prices.md: 1 passage, unchanged\n")

	var origins []string
	rows, err := st.DB().Query(t.Context(), "select origin from documents order by origin")
	require.NoError(t, err)
	for rows.Next() {
		var origin string
		require.NoError(t, rows.Scan(&origin))
		origins = append(origins, origin)
	}
	require.Equal(t, []string{elsewhere, "shop/\x1b[2Jtea.txt", "shop/prices.md"}, origins)

	_, _, err = run(filepath.Join(dir, "nothing.md"))
	require.EqualError(t, err, filepath.Join(dir, "nothing.md")+": no such file or directory")
	_, _, err = run(filepath.Join(dir, "nothing", "*.md"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestIndexingOnTheCommandLineCanBeStopped(t *testing.T) {
	t.Parallel()
	dir, st := t.TempDir(), storetest.New(t)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("Terms apply."), 0o600))
	}
	ctx, cancel := context.WithCancel(t.Context())
	lines := writerFunc(func([]byte) { cancel() }) // at the first document that is told of
	err := indexAll(ctx, knowledge.New(st), dir, policy.Admin, []string{dir}, &progress{lines: lines})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "stopped after 1 of 3")
}

// writerFunc is told of each line.
type writerFunc func(line []byte)

func (f writerFunc) Write(line []byte) (int, error) {
	f(line)
	return len(line), nil
}

func TestAPageOnTheCommandLineIsNoFile(t *testing.T) {
	t.Parallel()
	found, err := find("https://example.com/prices", "/documents")
	require.NoError(t, err)
	require.Equal(t, []wanted{{origin: "https://example.com/prices"}}, found)
	require.Equal(t, "example.com/prices", found[0].name())
}
