package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"multis/internal/language"
	"multis/store/row"
)

// Source is what a query searches.
type Source string

// The sources. Each has its own index and word counts, in the same form.
const (
	Documents Source = ""         // files, pages and notes
	Messages  Source = "messages" // the messages of the chats
)

// Term is a word of a query with its count in the index.
type Term struct {
	Word   string // as in the query
	Lexeme string // as in the index
	Chunks int64  // the number of chunks that contain it
	// the number of chunks that contain it as often as each of FrequencyMarks; empty if the source has no such counts, or few chunks
	ChunksAtLeast []int64
	Correction    bool // Lexeme is similar to Word, which no chunk contains, or one is a compound with the other
}

// Corpus is the size of the passages that the transaction's scope may search.
type Corpus struct {
	PlannedChunks int64 // the number of chunks that PassageQuery.PlannedSets searches
	StatsChunks   int64 // the number of chunks among which Term.Chunks were counted
	StatsWords    int64
}

// FrequencyMarks are suffixes of lexemes. If a word occurs at least Least times in a chunk, the index of documents also contains its lexeme
// with this suffix, so that frequent occurrences can be searched for.
var FrequencyMarks = [...]struct {
	Lexeme string
	Least  float64
}{{"²", 2}, {"⁴", 4}, {"⁶", 6}}

const (
	termColumns    = "select word, lexeme, ndoc, correction, planned_chunks, stat_chunks, stat_words"
	searchTermsSQL = termColumns + ", often from search_terms($1, $2)"
	// The functions for messages do the same with tables of their own.
	searchMessageTermsSQL = termColumns + ", '{}'::bigint[] from search_message_terms($1, $2)"
)

// SearchTerms looks up words in the languages of the source. Stop words have no term, and a word may have several. It also returns the
// size of the source, which is zero if there is no term. A transaction without a scope is an error.
func SearchTerms(ctx context.Context, db row.DB, in Source, words []string, queryLanguage language.Language) ([]Term, Corpus, error) {
	sql := searchTermsSQL
	if in == Messages {
		sql = searchMessageTermsSQL
	}
	rows, err := db.Query(ctx, sql, words, queryLanguage)
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("look up words: %w", err)
	}
	var corpus Corpus
	terms, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Term, err error) {
		err = row.Scan(&t.Word, &t.Lexeme, &t.Chunks, &t.Correction, &corpus.PlannedChunks, &corpus.StatsChunks, &corpus.StatsWords,
			&t.ChunksAtLeast)
		return t, err
	})
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("look up words: %w", err)
	}
	return terms, corpus, nil
}

// PassageQuery describes a search for passages: the best matches and their neighbours.
type PassageQuery struct {
	Source Source
	// sets of tsqueries, the best first; a public chunk (for the owner: any chunk) is a candidate if it matches all tsqueries of one set
	PlannedSets   [][]string
	ContactTerms  string    // tsquery that finds candidates among a contact's own chunks; empty finds none, as for the owner
	Terms         []string  // 1 to 32 tsqueries of one lexeme each
	Weights       []float64 // the score of a saturated match of each term
	AverageWords  float64   // words in an average chunk
	Kinds         []Kind
	MaxCandidates int // of a contact's own chunks; further matches are left out
	EnoughPlanned int // no further set is evaluated once the sets have found this many; a match of two sets counts twice
}

// Passage is the index entry of a chunk or message: one that a query found, or a neighbour, at most two places before or after it.
type Passage struct {
	ID          int64
	DocID       int64
	Ord         int
	Kind        Kind
	Language    language.Language `db:"config"`
	Part        int               // passages of one section have the same number
	Words       int               `db:"n_tok"`
	Author      string
	IsQuestion  bool
	Frequencies []int16 // how often each of the query's terms occurs in it
}

const (
	passageColumns           = "select id, doc_id, ord, kind, config, part, n_tok, author, is_question, frequencies"
	passageArguments         = "($1::text[]::tsquery[], $2, nullif($3::text, '')::tsquery, $4::text[]::tsquery[], $5, $6, $7, $8, $9)"
	searchPassagesSQL        = passageColumns + " from search_passages" + passageArguments
	searchMessagePassagesSQL = passageColumns + " from search_message_passages" + passageArguments
)

// SearchPassages returns passages that the transaction's scope may see. A transaction without a scope is an error.
func SearchPassages(ctx context.Context, db row.DB, q PassageQuery) ([]Passage, error) {
	sql := searchPassagesSQL
	if q.Source == Messages {
		sql = searchMessagePassagesSQL
	}
	var planned []string
	var sets []int
	for i, set := range q.PlannedSets {
		planned = append(planned, set...)
		sets = append(sets, slices.Repeat([]int{i}, len(set))...)
	}
	return row.All[Passage](ctx, db, "passages", sql, planned, sets, q.ContactTerms, q.Terms, q.Weights, q.AverageWords, q.Kinds,
		q.MaxCandidates, q.EnoughPlanned)
}

const lexemesSQL = `select tsvector_to_array(to_tsvector(c::regconfig, t)) from unnest($1::text[], $2::text[]) with ordinality u(c, t, o) order by o`

// LanguageTexts are texts with their languages: Texts[i] is in Languages[i].
type LanguageTexts struct {
	Languages []language.Language
	Texts     []string
}

// Lexemes returns the set of lexemes of each text in its language, as the index would hold them.
func Lexemes(ctx context.Context, db row.DB, list LanguageTexts) ([][]string, error) {
	return row.Values[[]string](ctx, db, "lexemes", lexemesSQL, list.Languages, list.Texts)
}
