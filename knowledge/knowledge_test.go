package knowledge_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

const priceList = `# Prices

Valid from March.

## Bread

| Item | Price |
|---|---|
| Baguette | 1.80 € |

## Delivery

We deliver within the town. Delivery costs 4 €.
`

type fixture struct {
	lib    *knowledge.Library
	search *search.Searcher
	st     *store.Store
}

func newFixture(t *testing.T) fixture {
	st := storetest.New(t)
	return fixture{lib: knowledge.New(st), search: search.New(st), st: st}
}

func (d fixture) index(t *testing.T, name string, role policy.Role, text string) knowledge.Report {
	t.Helper()
	report, err := d.lib.Index(t.Context(), knowledge.File{Name: name, Role: role, Data: []byte(text)})
	require.NoError(t, err)
	return report
}

func (d fixture) found(t *testing.T, scope policy.Scope, text string) []search.Hit {
	t.Helper()
	r, err := d.search.AsOwner(t.Context(), scope, search.Query{Text: text})
	require.NoError(t, err)
	return r.Hits
}

func TestIndex_MarkdownHeadingAndLines(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	require.Equal(t, knowledge.Report{
		Name:   "prices.md",
		Role:   policy.RolePublic,
		Chunks: 3,
	}, d.index(t, "prices.md", policy.RolePublic, priceList))

	hits := d.found(t, policy.OwnerScope(), "delivery")
	require.Len(t, hits, 1, "the sections around it do not say so")
	require.Equal(t, "Prices › Delivery", hits[0].Section)
	require.Equal(t, "We deliver within the town. Delivery costs 4 €.", hits[0].Text)
	require.Equal(t, "[prices.md › Delivery, line 13]", knowledge.Cite(hits[0]))
}

func TestIndex_UnchangedDoesNothing(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.index(t, "prices.md", policy.RolePublic, priceList)
	before := d.found(t, policy.OwnerScope(), "delivery baguette valid")
	require.True(t, d.index(t, "prices.md", policy.RolePublic, priceList).Unchanged)
	require.Equal(t, before, d.found(t, policy.OwnerScope(), "delivery baguette valid"))
}

func TestIndex_ChangedReplaces(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.index(t, "prices.md", policy.RolePublic, priceList)
	report := d.index(t, "prices.md", policy.RolePublic, strings.Replace(priceList, "Baguette", "Focaccia", 1))
	require.False(t, report.Unchanged)
	require.Empty(t, d.found(t, policy.OwnerScope(), "baguette"))
	require.NotEmpty(t, d.found(t, policy.OwnerScope(), "focaccia"))

	overview, err := d.lib.Documents(t.Context(), policy.OwnerScope(), 5)
	require.NoError(t, err)
	require.Len(t, overview.Groups, 1)
	require.Equal(t, 3, overview.Groups[0].Chunks)
	require.Len(t, overview.Biggest, 1)
}

func TestIndex_OtherRoleMovesFile(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.index(t, "prices.md", policy.RolePublic, priceList)
	d.index(t, "prices.md", policy.UserRole(3), priceList)
	require.Empty(t, d.found(t, policy.OwnerScope(), "baguette"))
	require.NotEmpty(t, d.found(t, policy.ContactScope(3), "baguette"))
}

func TestIndex_KeepsLastRole(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	say := func(role policy.Role, text string, said time.Time) knowledge.Report {
		report, err := d.lib.Index(t.Context(), knowledge.File{Name: "prices.md", Role: role, Data: []byte(text), RoleSetAt: said})
		require.NoError(t, err)
		return report
	}
	say(policy.RolePublic, priceList, noon)
	require.Equal(t, policy.RoleAdmin, say(policy.RoleAdmin, priceList, noon.Add(time.Minute)).Role)
	require.Equal(t, knowledge.Report{
		Name:      "prices.md",
		Role:      policy.RoleAdmin,
		Chunks:    3,
		Unchanged: true,
	}, say(policy.RolePublic, priceList, noon))
	require.True(t, say(policy.RoleAdmin, priceList, noon.Add(time.Hour)).Unchanged)
	require.Equal(t, knowledge.Report{
		Name:   "prices.md",
		Role:   policy.RoleAdmin,
		Chunks: 1,
	}, say(policy.RolePublic, "Delivery costs 5 €.\n", noon.Add(2*time.Minute)))
	require.Empty(t, d.found(t, policy.ContactScope(1), "delivery"))
	require.Equal(t, "Delivery costs 5 €.", d.found(t, policy.OwnerScope(), "delivery")[0].Text)
	require.Equal(t, policy.RolePublic, say(policy.RolePublic, priceList, noon.Add(2*time.Hour)).Role)
	require.NotEmpty(t, d.found(t, policy.ContactScope(1), "delivery"))
}

func TestRemove_FileIsGone(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.index(t, "prices.md", policy.RolePublic, priceList)
	require.NoError(t, d.lib.Remove(t.Context(), "prices.md"))
	require.Empty(t, d.found(t, policy.OwnerScope(), "baguette"))
	require.ErrorIs(t, d.lib.Remove(t.Context(), "prices.md"), store.ErrNotFound)
}

func TestIndex_FailureKeepsOldFile(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.index(t, "prices.md", policy.RolePublic, priceList)
	for _, c := range []struct {
		name string
		file knowledge.File
		want error
	}{
		{"zero bytes", knowledge.File{Name: "prices.md", Role: policy.RolePublic, Data: []byte("a\x00b")}, knowledge.ErrUnknownType},
		{"another kind of file", knowledge.File{
			Name: "prices.md", Role: policy.RolePublic,
			Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"),
		}, knowledge.ErrUnknownType},
		{
			"too big",
			knowledge.File{Name: "prices.md", Role: policy.RolePublic, Data: bytes.Repeat([]byte("a"), knowledge.MaxSize+1)},
			knowledge.ErrTooBig,
		},
		{
			"nothing but headings",
			knowledge.File{Name: "prices.md", Role: policy.RolePublic, Data: bytes.Repeat([]byte("# a\n"), 30_000)},
			knowledge.ErrTooBig,
		},
		{"empty", knowledge.File{Name: "prices.md", Role: policy.RolePublic}, knowledge.ErrEmpty},
		{
			"blank behind a byte order mark",
			knowledge.File{Name: "prices.md", Role: policy.RolePublic, Data: []byte("\uFEFF \n")},
			knowledge.ErrEmpty,
		},
		{"no role", knowledge.File{Name: "prices.md", Data: []byte("text")}, knowledge.ErrRole},
		{"a role of nobody", knowledge.File{Name: "prices.md", Role: "user:x", Data: []byte("text")}, knowledge.ErrRole},
	} {
		_, err := d.lib.Index(t.Context(), c.file)
		require.ErrorIs(t, err, c.want, c.name)
	}
	require.NotEmpty(t, d.found(t, policy.OwnerScope(), "baguette"))
}

func TestIndex_RefusesLongName(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	_, err := d.lib.Index(t.Context(), knowledge.File{
		Name:   "a.md",
		Origin: "https://example.com/" + strings.Repeat("x", 2000),
		Role:   policy.RolePublic,
		Data:   []byte("text"),
	})
	require.ErrorIs(t, err, knowledge.ErrLongName)
	require.True(t, knowledge.IsPermanent(err))
}

func TestIndex_OneDocumentPerOrigin(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	for _, name := range []string{"old.md", "new.md"} {
		_, err := d.lib.Index(t.Context(), knowledge.File{Name: name, Origin: "/data/list.md", Role: policy.RolePublic, Data: []byte(priceList)})
		require.NoError(t, err)
	}
	hits := d.found(t, policy.OwnerScope(), "baguette")
	require.Len(t, hits, 1)
	require.Equal(t, "new.md", hits[0].Title)
}

func TestCitation_NamesHeadingAndPlace(t *testing.T) {
	t.Parallel()
	for want, h := range map[string]search.Hit{
		"[prices.md › Delivery, lines 12-14]": {Title: "prices.md", Section: "Prices › Delivery", LineFrom: 12, LineTo: 14},
		"[notes.txt, line 1]":                 {Title: "notes.txt", LineFrom: 1, LineTo: 1},
		"[terms.pdf › Returns, pages 3-4]":    {Title: "terms.pdf", Section: "Returns", PageFrom: 3, PageTo: 4},
		"[evil(x)/y.md › a b]":                {Title: "evil](x)</y\u202e>.md", Section: "a\n[b]"},
	} {
		require.Equal(t, want, knowledge.Cite(h))
	}
}

func TestIndex_UnreadableKeepsOldText(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.index(t, "prices.md", policy.RolePublic, priceList)
	_, err := d.lib.Index(t.Context(), knowledge.File{
		Name:      "prices.md",
		Role:      policy.RoleAdmin,
		Data:      []byte("PK\x03\x04"),
		RoleSetAt: time.Now(),
	})
	require.ErrorIs(t, err, knowledge.ErrUnknownType)
	require.ErrorContains(t, err, "; what was indexed of it before stays as it was")
	require.True(t, knowledge.IsPermanent(err))
	require.NotEmpty(t, d.found(t, policy.OwnerScope(), "baguette"))

	_, err = d.lib.Index(t.Context(), knowledge.File{Name: "new.md", Role: policy.RoleAdmin, Data: []byte("PK\x03\x04")})
	require.ErrorIs(t, err, knowledge.ErrUnknownType)
	require.NotContains(t, err.Error(), "before")
}
