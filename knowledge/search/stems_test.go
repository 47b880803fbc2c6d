package search

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"multis/internal/language"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func TestStems_EqualPostgres(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	for of, text := range map[language.Language]string{
		language.English:    "delivering deliveries generously happened bakeries running quickly national relational 2026 x",
		language.German:     "lieferungen bäckereien häuser freundlichkeit gegangen wunderbare öffnungszeiten",
		language.French:     "livraisons boulangeries généreusement nationalité mangeaient chevaux",
		language.Spanish:    "entregas panaderías rápidamente nacionalidad comiendo habitaciones",
		language.Portuguese: "entregas padarias rapidamente nacionalidade comendo quartos",
		language.Italian:    "consegne panetterie velocemente nazionalità mangiando camere",
		language.Dutch:      "leveringen bakkerijen vriendelijkheid gelopen kamers",
		language.Russian:    "доставки пекарни быстро национальность гуляющий delivering",
		language.Arabic:     "المخبز والتوصيل كتاب",
		language.Simple:     "leveranser bagerier 面包",
	} {
		list := index.LanguageTexts{Texts: words(text, false)}
		list.Languages = slices.Repeat([]language.Language{of}, len(list.Texts))
		lexemes, err := index.Lexemes(t.Context(), st.DB(), list)
		require.NoError(t, err)
		require.Equal(t, lexemes, predictStems(list), of)
	}
}

func TestWords_HaveLexemesOfText(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	files, err := filepath.Glob("testdata/*/*/*")
	require.NoError(t, err)
	more, err := filepath.Glob("testdata/desk/*.md")
	require.NoError(t, err)
	var texts []languageWords
	var joined index.LanguageTexts
	for _, file := range append(files, more...) {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, of := range []language.Language{language.English, language.German, language.French, language.Simple} {
			said := words(string(raw)+" 1,5 €/Std. www.example.com/a-b?c=3e5 x_y it's 3.14e5 -7 مكتبة 面包店 "+
				strings.Repeat("ab", 2*maxCachedWordBytes), false)
			texts = append(texts, languageWords{of, said})
			joined.Languages, joined.Texts = append(joined.Languages, of), append(joined.Texts, strings.Join(said, " "))
		}
	}
	require.NotEmpty(t, texts)
	want, err := index.Lexemes(t.Context(), st.DB(), joined)
	require.NoError(t, err)
	cache := newScopeCache()
	for _, state := range []string{"cold", "warm"} {
		got, err := cache.lexemes(t.Context(), st.DB(), texts)
		require.NoError(t, err)
		for i := range got {
			slices.Sort(got[i])
			require.Equal(t, want[i], slices.Compact(got[i]), state)
		}
	}
}

func FuzzPredictStems(f *testing.F) {
	for _, seed := range []string{
		"deliveries", "Бегущие", "المكتبات", "naïveté", "y", "ss",
		strings.Repeat("ab", maxCachedWordBytes), "日本語",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for of := range stemmers {
			list := index.LanguageTexts{Texts: words(text, false)}
			list.Languages = slices.Repeat([]language.Language{of}, len(list.Texts))
			for i, stems := range predictStems(list) {
				require.Len(t, stems, 1)
				require.LessOrEqual(t, len(stems[0]), len(list.Texts[i])+utf8.UTFMax)
			}
		}
	})
}

func TestSearch_CachedScopeInOneRoundTrip(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	putTexts(t, st, "The parrot sleeps in the bakery.")
	s := New(st)
	trips := func(text string) int64 {
		before := st.Pool().Stat().AcquireCount()
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), Query{Text: text})
		require.NoError(t, err)
		require.Len(t, found.Hits, 1)
		return st.Pool().Stat().AcquireCount() - before
	}
	trips("parrot") // its version is noted
	trips("parrot") // it is read
	require.EqualValues(t, 1, trips("parrot"))
	require.EqualValues(t, 1, trips("sleeping parrots"), "words that nobody asked for before")
	require.EqualValues(t, 2, trips("some parrot"), "a stop word that nobody asked for before")
	require.EqualValues(t, 1, trips("some parrots"))
	trips("Wo schläft der parrot in der Stadt?")
	require.EqualValues(t, 1, trips("Wo schläft der parrot in der Stadt?"), "in a language that nothing is in")

	putTexts(t, st, "The parrots have moved to the harbour.")
	require.Greater(t, trips("parrot"), int64(1), "it has changed")
	trips("parrot")
	require.EqualValues(t, 1, trips("harbour"))
}

func TestSearch_SeveralRolesInOneRoundTrip(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	s := New(st)
	// The two roles are written alternately.
	for i, role := range []policy.Role{policy.RolePublic, policy.UserRole(1), policy.RolePublic, policy.UserRole(1)} {
		putTextsOf(t, st, role, fmt.Sprintf("The %d parrots are of %s.", i, role))
		// the next row is written into the freed space, so that the physical order of rows changes
		_, err := st.Pool().Exec(t.Context(), "vacuum corpus_stats")
		require.NoError(t, err)
		var trips int64
		for range 3 { // version noted, loaded, cached
			before := st.Pool().Stat().AcquireCount()
			found, err := s.AsContact(t.Context(), policy.ContactScope(1), Query{Text: "parrot"})
			require.NoError(t, err)
			require.Len(t, found.Hits, min(i+1, 2))
			trips = st.Pool().Stat().AcquireCount() - before
		}
		require.EqualValues(t, 1, trips, i)
	}
}

// putTexts replaces all public documents by texts.
func putTexts(t *testing.T, st *store.Store, texts ...string) {
	t.Helper()
	putTextsOf(t, st, policy.RolePublic, texts...)
}

func putTextsOf(t *testing.T, st *store.Store, role policy.Role, texts ...string) {
	t.Helper()
	chunks := make([]index.Chunk, len(texts))
	for i, text := range texts {
		chunks[i] = index.Chunk{
			Key:        text,
			Ord:        10 * i,
			Content:    text,
			SearchText: IndexText("", "", text),
			Language:   language.English,
		}
	}
	require.NoError(t, st.AsOwner(t.Context(), policy.OwnerScope(1), func(tx store.Tx) error {
		doc := index.Document{
			Origin: string(role),
			Name:   "a",
			Role:   role,
			Kind:   index.KindKnowledge,
			Format: "txt",
			Hash:   texts[0],
		}
		_, err := index.ReplaceDocument(t.Context(), tx, doc, chunks)
		return err
	}))
}

func TestSearch_KeepsStemsAfterEviction(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	metals := []string{"gold", "silver", "bronze", "iron", "copper"}
	putTexts(t, st, append([]string{"parrot"}, metals...)...)
	s := New(st)
	for n, metal := range metals {
		if n > 2 { // the scope is cached, and so is the stem of parrot
			for i := range maxCachedStems - len(s.cache.stems) {
				s.cache.stems[stemKey{"english", fmt.Sprint("filler", i)}] = nil
			}
		}
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), Query{Text: "parrot " + metal})
		require.NoError(t, err)
		require.Len(t, found.Hits, 2, metal)
	}

	long := strings.Repeat("gold", maxCachedWordBytes)
	found, err := s.AsContact(t.Context(), policy.ContactScope(1), Query{Text: "parrot " + long})
	require.NoError(t, err)
	require.Len(t, found.Hits, 1)
	require.NotContains(t, s.cache.stems, stemKey{"english", long}, "words of any length would be a lot of memory")
}
