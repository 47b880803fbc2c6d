package knowledge_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
)

func TestFiles_ByNameFolderOrPattern(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{}
	for _, name := range []string{"a.md", "shop/b.pdf", "shop/deep/c.PDF", "shop/.hidden/d.md", "shop/.e.md", "shop/logo.png", "noending"} {
		folder[name] = &fstest.MapFile{Data: []byte("x")}
	}
	for where, want := range map[string][]string{
		"a.md":          {"a.md"},
		"noending":      {"noending"},
		"shop/logo.png": {"shop/logo.png"},
		".":             {"a.md", "shop/b.pdf", "shop/deep/c.PDF"},
		"shop":          {"shop/b.pdf", "shop/deep/c.PDF"},
		"**/*.pdf":      {"shop/b.pdf"},
		"shop/*":        {"shop/b.pdf"},
		"{a,z}.md":      {"a.md"},
	} {
		got, err := knowledge.Files(folder, where)
		require.NoError(t, err, where)
		require.Equal(t, want, got, where)
	}
	for where, want := range map[string]error{
		"z.md": fs.ErrNotExist, "*.docx": knowledge.ErrNoFiles, "nowhere/*.md": knowledge.ErrNoFiles,
		"[": fs.ErrNotExist, "shop/.hidden/*.png": knowledge.ErrNoFiles,
	} {
		_, err := knowledge.Files(folder, where)
		require.ErrorIs(t, err, want, where)
	}
}

func TestFileName_InvalidIsReported(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"shop/caf\xe9.md", "shop/caf\xe9/a.md"} {
		folder := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600))
		_, err := knowledge.Files(os.DirFS(folder), "shop")
		require.ErrorIs(t, err, knowledge.ErrFileName)
		require.ErrorContains(t, err, `"shop/caf\xe9`)
		require.True(t, knowledge.IsPermanent(err))
	}
}

func TestFileName_OfSkippedFileIsIgnored(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"caf\xe9.jpg", ".caf\xe9.md", "prices.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("x"), 0o600))
	}
	files, err := knowledge.Files(os.DirFS(folder), ".")
	require.NoError(t, err)
	require.Equal(t, []string{"prices.md"}, files)
}

func TestFolder_SizeIsLimited(t *testing.T) {
	t.Parallel()
	folder := fstest.MapFS{}
	for i := range 501 {
		folder[fmt.Sprintf("%03d.md", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	_, err := knowledge.Files(folder, ".")
	require.ErrorIs(t, err, knowledge.ErrTooManyFiles)
	require.True(t, knowledge.IsPermanent(err))
	delete(folder, "000.md")
	files, err := knowledge.Files(folder, ".")
	require.NoError(t, err)
	require.Len(t, files, 500)
}

func TestFolder_SkipsLinksAndPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret.md")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte("open"), 0o600))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "link.md")))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "round")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "big.md"), make([]byte, knowledge.MaxSize+1), 0o600))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	files, err := knowledge.Files(root.FS(), ".")
	require.NoError(t, err)
	require.Equal(t, []string{"a.md", "big.md"}, files)
	data, err := knowledge.ReadFile(root, "a.md")
	require.NoError(t, err)
	require.Equal(t, "open", string(data))
	_, err = knowledge.ReadFile(root, "link.md")
	require.ErrorContains(t, err, "escapes")
	_, err = knowledge.ReadFile(root, "pipe.md")
	require.ErrorIs(t, err, knowledge.ErrNoFile)
	_, err = knowledge.ReadFile(root, "big.md")
	require.ErrorIs(t, err, knowledge.ErrTooBig)
	_, err = knowledge.ReadFile(root, "round/a.md")
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)
}

func TestPage_NamedByAddress(t *testing.T) {
	t.Parallel()
	for address, name := range map[string]string{
		"https://www.example.com/": "example.com", "http://example.com:8080/a/b.html?x=1#y": "example.com/a/b.html", "no address": "no address",
		"https://example.com/caf%C3%A9": "example.com/café", "https://example.com/caf%E9": "example.com/caf%E9",
		"https://example.com/a%00%0Ab": "example.com/a%00%0Ab",
	} {
		require.Equal(t, name, knowledge.AddressName(address))
	}
	require.True(t, knowledge.IsAddress("HTTPS://example.com"))
	require.False(t, knowledge.IsAddress("prices.md"))
}
