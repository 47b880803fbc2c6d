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

func TestIndex_Documents(t *testing.T) {
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
		err = indexDocuments(t.Context(), knowledge.Open(st, knowledge.Options{Folder: documents}), policy.RoleAdmin, what,
			&progress{lines: &out, bar: &errs})
		return out.String(), errs.String(), err
	}
	lines, bar, err := run(documents, elsewhere)
	require.EqualError(t, err, "not indexed: 1 of 4 documents")
	require.Equal(t,
		"shop/[2Jtea.txt: 1 passage\nshop/broken.docx: not indexed: it is broken or cut off: open it, save it again and send that\n"+
			"shop/prices.md: 1 passage\nterms.txt: 1 passage\n"+
			"3 of 4 documents, 3 passages, admin. Ask about them in the admin room; /docs lists them.\n", lines)
	require.Contains(t, bar, "\r\x1b[K\x1b[?7l[##########..........] 3 of 4: shop/prices.md\x1b[?7h")
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

	missing := filepath.Join(dir, "nothing.md")
	lines, _, err = run(missing)
	require.EqualError(t, err, "not indexed: 1 of 1 document")
	require.Equal(t, missing+": not indexed: no such file or directory\n", lines)
	lines, _, err = run(filepath.Join(dir, "nothing", "*.md"))
	require.Error(t, err)
	require.Contains(t, lines, "no such file or directory")
}

func TestIndex_BadNameSparesOthers(t *testing.T) {
	t.Parallel()
	dir, st := t.TempDir(), storetest.New(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a\nb.txt"), []byte("Terms apply."), 0o600))
	missing, file := filepath.Join(dir, "nothing.md"), filepath.Join(dir, "a\nb.txt")
	var out bytes.Buffer
	err := indexDocuments(t.Context(), knowledge.Open(st, knowledge.Options{Folder: dir}), policy.RoleAdmin,
		[]string{missing, dir, file, filepath.Join(dir, "*.pdf"), ""}, &progress{lines: &out})
	require.EqualError(t, err, "not indexed: 3 of 4 documents")
	require.Equal(t, missing+": not indexed: no such file or directory\na b.txt: 1 passage\n"+
		filepath.Join(dir, "*.pdf")+": not indexed: there is nothing there that I read\n"+
		"\"\": not indexed: the name is empty; write . for the current folder\n"+
		"1 of 4 documents, 1 passage, admin. Ask about them in the admin room; /docs lists them.\n", out.String())
}

func TestIndex_FolderKeepsPrivate(t *testing.T) {
	t.Parallel()
	dir, st := t.TempDir(), storetest.New(t)
	file := filepath.Join(dir, "salaries.csv")
	require.NoError(t, os.WriteFile(file, []byte("Name,Salary\nEva,4000\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "terms.txt"), []byte("Terms apply."), 0o600))
	run := func(role policy.Role, what ...string) string {
		var out bytes.Buffer
		require.NoError(t, indexDocuments(t.Context(), knowledge.Open(st, knowledge.Options{Folder: dir}), role, what, &progress{lines: &out}))
		return out.String()
	}
	role := func() (role policy.Role) {
		require.NoError(t, st.DB().QueryRow(t.Context(), "select role from documents where origin = 'salaries.csv'").Scan(&role))
		return role
	}
	run(policy.RoleAdmin, file)
	lines := run(policy.RolePublic, dir)
	require.Contains(t, lines, "1 of 2 documents, 1 passage, public.")
	require.Contains(t, lines, "Left private (admin): salaries.csv. To make one public, name the file itself.")
	require.Equal(t, policy.RoleAdmin, role())
	run(policy.RolePublic, dir, file)
	require.Equal(t, policy.RolePublic, role())
}

func TestProgressBar_FollowsPages(t *testing.T) {
	t.Parallel()
	var bar bytes.Buffer
	p := &progress{bar: &bar}
	p.startDocument(1, 2, "long.pdf")
	p.updateDocument(0, 90, 100) // of a document whose line was printed already
	require.NotContains(t, bar.String(), "page")
	p.updateDocument(1, 50, 100)
	require.Contains(t, bar.String(), "[###############.....] 2 of 2, page 50 of 100: long.pdf")
}

func TestIndex_CanBeStopped(t *testing.T) {
	t.Parallel()
	dir, st := t.TempDir(), storetest.New(t)
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("Terms apply."), 0o600))
	}
	ctx, cancel := context.WithCancel(t.Context())
	lines := writerFunc(func([]byte) { cancel() }) // cancels at the first printed line
	err := indexDocuments(ctx, knowledge.Open(st, knowledge.Options{Folder: dir}), policy.RoleAdmin, []string{dir}, &progress{lines: lines})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "stopped after 1 of 3")
}

// writerFunc is an io.Writer that calls the function with each line.
type writerFunc func(line []byte)

func (f writerFunc) Write(line []byte) (int, error) {
	f(line)
	return len(line), nil
}

func TestIndex_PageIsNoFile(t *testing.T) {
	t.Parallel()
	found, err := findDocuments("https://example.com/prices", "/documents")
	require.NoError(t, err)
	require.Equal(t, []knowledge.Source{{File: knowledge.File{Origin: "https://example.com/prices", Name: "example.com/prices"}}}, found)
	require.Equal(t, "example.com/prices", sourceName(found[0]))
}

func TestIndex_AcceptsOldWordForPublic(t *testing.T) {
	t.Parallel()
	require.Equal(t, policy.RolePublic, indexCmd{Role: "kb"}.role())
	require.Equal(t, policy.RolePublic, indexCmd{Role: "public"}.role())
	require.Equal(t, policy.RoleAdmin, indexCmd{Role: "admin"}.role())
	_, said, err := program(t, t.TempDir(), "", "index", "--role=kb", "none.md")
	require.Error(t, err)
	require.Contains(t, said, "config.yaml", "it is a role: what is missing comes after it")
}
