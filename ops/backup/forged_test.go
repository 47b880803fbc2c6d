package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/ops/backup"
	"multis/store"
	"multis/store/storetest"
)

// entry is an entry of a backup that is forged.
type entry struct {
	tar.Header

	content string
}

// readEntries reads the entries of a backup.
func readEntries(t testing.TB, path string) (all []entry) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	require.NoError(t, err)
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		all = append(all, entry{*header, string(content)})
	}
}

// forge writes a sealed backup with these entries, and returns its path. after is what follows them before the seal.
func forge(t testing.TB, entries []entry, after []byte) string {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archived := tar.NewWriter(zipped)
	for _, e := range entries {
		e.Size, e.Format = int64(len(e.content)), tar.FormatUnknown
		require.NoError(t, archived.WriteHeader(&e.Header))
		_, err := io.WriteString(archived, e.content)
		require.NoError(t, err)
	}
	require.NoError(t, errors.Join(archived.Close(), zipped.Close()))
	out.Write(after)
	sum := sha256.Sum256(out.Bytes())
	out.Write(backup.Seal(sum[:]))
	path := filepath.Join(t.TempDir(), "forged.tar.gz")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// withManifest returns the entries with a changed manifest, which is the last of them.
func withManifest(t testing.TB, entries []entry, change func(m *backup.Manifest)) []entry {
	t.Helper()
	entries = slices.Clone(entries)
	last := &entries[len(entries)-1]
	var m backup.Manifest
	require.NoError(t, json.Unmarshal([]byte(last.content), &m))
	change(&m)
	text, err := json.Marshal(m)
	require.NoError(t, err)
	last.content = string(text)
	return entries
}

func TestRestore_ChecksManifest(t *testing.T) {
	t.Parallel()
	documents := t.TempDir()
	for _, name := range []string{"a.md", "b.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(documents, name), []byte(name), 0o600))
	}
	whole := readEntries(t, create(t, storetest.NewWithMessages(t, 2, 2, time.Now()), t.TempDir(),
		backup.File{Name: "documents", Path: documents}).Path)
	end := len(whole) - 1 // the manifest
	plain := func(name string) entry {
		return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600}, "x"}
	}
	first := func(e entry) []entry { return append([]entry{e}, whole...) }
	lie := func(change func(m *backup.Manifest)) []entry { return withManifest(t, whole, change) }
	named := func(path string) []entry { // the manifest names it as well
		changed := lie(func(m *backup.Manifest) { m.Files[0].Path = path })
		changed[0].Name = "files/" + path
		return changed
	}
	swapped := slices.Clone(whole)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	a, err := backup.Open(t.Context(), forge(t, whole, nil))
	require.NoError(t, err, "nothing was changed")
	require.NoError(t, a.Close())
	for what, entries := range map[string][]entry{
		"a file more":            first(plain("files/documents/c.md")),
		"a file twice":           withManifest(t, first(whole[0]), func(m *backup.Manifest) { m.Files = append(m.Files[:1:1], m.Files...) }),
		"a file less":            whole[1:],
		"files in another order": swapped,
		"a path that leads out":  named("documents/../../pwned"),
		"an absolute path":       named("/tmp/pwned"),
		"a symbolic link":        first(entry{tar.Header{Typeflag: tar.TypeSymlink, Name: "files/documents/c.md", Linkname: "/etc"}, ""}),
		"a hard link":            first(entry{tar.Header{Typeflag: tar.TypeLink, Name: "files/documents/c.md", Linkname: "/etc/passwd"}, ""}),
		"a pipe":                 first(entry{tar.Header{Typeflag: tar.TypeFifo, Name: "files/documents/c.md"}, ""}),
		"something else":         first(plain("evil")),
		"a table part less":      slices.Delete(slices.Clone(whole), end-1, end),
		"a table part twice":     slices.Insert(slices.Clone(whole), end, whole[end-1]),
		"a second manifest":      append(slices.Clone(whole), whole[end]),
		"another size":           lie(func(m *backup.Manifest) { m.Files[0].Size = -1 }),
		"another sum":            lie(func(m *backup.Manifest) { m.Files[0].SHA256 = strings.Repeat("0", 64) }),
		"no files":               lie(func(m *backup.Manifest) { m.Files = nil }),
		"other rows":             lie(func(m *backup.Manifest) { m.Tables[0].Rows = -1 }),
		"a table twice":          lie(func(m *backup.Manifest) { m.Tables = append(m.Tables, m.Tables[0]) }),
		"no tables":              lie(func(m *backup.Manifest) { m.Tables = nil }),
		"a manifest of nothing":  append(slices.Clone(whole[:end]), entry{whole[end].Header, ""}),
		"a manifest and more":    append(slices.Clone(whole[:end]), entry{whole[end].Header, whole[end].content + "{}"}),
	} {
		_, err := backup.Open(t.Context(), forge(t, entries, nil))
		require.ErrorIs(t, err, backup.ErrDamaged, what)
	}
	_, err = backup.Open(t.Context(), forge(t, whole, []byte("garbage")))
	require.ErrorIs(t, err, backup.ErrDamaged, "something after the entries")
}

func TestRestore_RefusesMissingTable(t *testing.T) {
	t.Parallel()
	whole := readEntries(t, create(t, storetest.New(t), t.TempDir()).Path)
	anEmpty := func(m *backup.Manifest) int {
		return slices.IndexFunc(m.Tables, func(e backup.TableEntry) bool { return e.Rows == 0 && !e.IsOptional() })
	}
	for what, change := range map[string]func(m *backup.Manifest){
		"a table":  func(m *backup.Manifest) { m.Tables = slices.Delete(m.Tables, anEmpty(m), anEmpty(m)+1) },
		"a column": func(m *backup.Manifest) { m.Tables[anEmpty(m)].Columns = m.Tables[anEmpty(m)].Columns[1:] },
	} {
		a := open(t, forge(t, withManifest(t, whole, change), nil))
		_, err := backup.Restore(t.Context(), a, newEmptyDatabase(t))
		require.ErrorIs(t, err, backup.ErrDamaged, what)
	}
}

func TestRestore_RefusesNewerLibraries(t *testing.T) {
	t.Parallel()
	whole := readEntries(t, create(t, storetest.New(t), t.TempDir()).Path)
	for what, change := range map[string]func(v *migrations.Version){
		"jobs":       func(v *migrations.Version) { v.River++ },
		"encryption": func(v *migrations.Version) { v.Crypto++ },
		"rooms":      func(v *migrations.Version) { v.State++ },
	} {
		dsn := newEmptyDatabase(t)
		a := open(t, forge(t, withManifest(t, whole, func(m *backup.Manifest) { change(&m.Schema) }), nil))
		_, err := backup.Restore(t.Context(), a, dsn)
		require.ErrorIs(t, err, migrations.ErrBackupNewer, what)
		in, err := store.OpenInspector(t.Context(), dsn)
		require.NoError(t, err)
		defer in.Close()
		state, err := in.Schema(t.Context())
		require.NoError(t, err)
		require.Equal(t, migrations.StateEmpty, state, "nothing was changed")
	}
}

func TestRestore_CanBeInterrupted(t *testing.T) {
	t.Parallel()
	path := create(t, storetest.New(t), t.TempDir()).Path
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := backup.Open(ctx, path)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, backup.ErrDamaged)
}

func TestRestore_NonUTF8FileName(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	from := t.TempDir()
	to := t.TempDir()
	for _, name := range []string{"Fran\xe7ois.md", "Fran\xe8ois.md", "Françoise.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(from, name), []byte(name), 0o600))
	}
	a := open(t, create(t, st, t.TempDir(), backup.File{Name: "documents", Path: from}).Path)
	_, err := a.RestoreFiles(t.Context(), []backup.File{{Name: "documents", Path: to}})
	require.NoError(t, err)
	for name, content := range map[string]string{
		"Fran%E7ois.md": "Fran\xe7ois.md", "Fran%E8ois.md": "Fran\xe8ois.md",
		"Françoise.md": "Françoise.md",
	} {
		got, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		require.Equal(t, content, string(got))
	}
}

func TestRestore_IgnoresForeignTables(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 1, 1, time.Now())
	exec(t, st, "create table public.mine (id bigserial, what text)")
	exec(t, st, "insert into public.mine (what) values ('a note')")
	report, err := backup.Restore(t.Context(), open(t, create(t, st, t.TempDir()).Path), newEmptyDatabase(t))
	require.NoError(t, err)
	require.Equal(t, []string{"mine"}, report.Skipped)
	exec(t, st, "alter table public.chats add column mine text")
	_, err = backup.Restore(t.Context(), open(t, create(t, st, t.TempDir()).Path), newEmptyDatabase(t))
	require.ErrorContains(t, err, `the backup has columns of "public"."chats" that this multis does not know`)
}
