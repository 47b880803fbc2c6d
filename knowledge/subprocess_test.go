package knowledge_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/knowledgetest"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store/storetest"
)

// newSubprocessFixture returns a desk whose library reads files in a reader process.
func newSubprocessFixture(t *testing.T, reader ...string) fixture {
	t.Helper()
	if len(reader) == 0 {
		program, err := os.Executable()
		require.NoError(t, err)
		reader = []string{program, readerArgument}
	}
	st := storetest.New(t)
	return fixture{lib: knowledge.Open(st, knowledge.Options{Reader: reader}), search: search.New(st), st: st}
}

func TestSubprocess_ReadsFile(t *testing.T) {
	t.Parallel()
	d := newSubprocessFixture(t)
	require.Equal(t, knowledge.Report{
		Name:   "prices.md",
		Role:   policy.RolePublic,
		Chunks: 3,
	}, d.index(t, "prices.md", policy.RolePublic, priceList))
	hits := d.found(t, policy.OwnerScope(), "delivery")
	require.Len(t, hits, 1)
	require.Equal(t, "[prices.md › Delivery, line 13]", knowledge.Cite(hits[0]))
	require.True(t, d.index(t, "prices.md", policy.RolePublic, priceList).Unchanged)
}

func TestSubprocess_PassesErrors(t *testing.T) {
	t.Parallel()
	d := newSubprocessFixture(t)
	_, err := d.lib.Index(t.Context(), knowledge.File{
		Name: "a.png",
		Role: policy.RolePublic,
		Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"),
	})
	require.ErrorIs(t, err, knowledge.ErrUnknownType)
	require.ErrorContains(t, err, "; this is a .png file")
	require.True(t, knowledge.IsPermanent(err))
}

func TestSubprocess_CrashIsContained(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		reader []string
		want   error
	}{
		{"it ends without a word", []string{"/bin/sh", "-c", "exit 3"}, knowledge.ErrUnreadable},
		{"it is killed", []string{"/bin/sh", "-c", "kill -9 $$"}, knowledge.ErrUnreadable},
		{"it talks nonsense", []string{"/bin/sh", "-c", "cat >/dev/null; echo nonsense"}, knowledge.ErrUnreadable},
		{"it is not there", []string{"/nonexistent/reader"}, os.ErrNotExist},
	} {
		d := newSubprocessFixture(t, test.reader...)
		_, err := d.lib.Index(t.Context(), knowledge.File{Name: "prices.md", Role: policy.RolePublic, Data: []byte(priceList)})
		require.ErrorIs(t, err, test.want, test.name)
		require.Empty(t, d.found(t, policy.OwnerScope(), "delivery"), test.name)
	}
}

func TestSubprocess_HangingReaderIsEnded(t *testing.T) {
	t.Parallel()
	d := newSubprocessFixture(t, "/bin/sh", "-c", "exec sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := d.lib.Index(ctx, knowledge.File{Name: "prices.md", Role: policy.RolePublic, Data: []byte(priceList)})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.False(t, knowledge.IsPermanent(err), "another attempt may go better")
}

func TestLibrary_CompilesEngine(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	noFolder := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(noFolder, nil, 0o600))
	for _, reader := range [][]string{nil, {program, readerArgument}} {
		good := knowledge.Open(nil, knowledge.Options{Reader: reader, CacheDir: knowledgetest.EngineCache(t)})
		require.NoError(t, good.CompileEngine(t.Context()))
		bad := knowledge.Open(nil, knowledge.Options{Reader: reader, CacheDir: noFolder})
		require.ErrorContains(t, bad.CompileEngine(t.Context()), noFolder)
	}
}
