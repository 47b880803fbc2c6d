package index

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"multis/language"
	"multis/store/row"
)

// Source is what is searched.
type Source string

// The sources. Each has an index and word counts of its own, in the same form.
const (
	Documents Source = ""        // files, pages, and what is remembered of chats
	Messages  Source = "archive" // what was said in the chats
)

// Term is a word of a query as the index knows it.
type Term struct {
	Word          string  // as asked
	Lexeme        string  // as indexed
	Chunks        int64   // in how many chunks it stands; 0 if in none
	ChunksAtLeast []int64 // in how many it stands as often as each of Marks says; empty if the index does not tell, or few chunks are searched
	Correction    bool    // Lexeme only looks like Word, which stands nowhere
}

// Corpus is the size of what the transaction's scope may search.
type Corpus struct {
	PlannedChunks int64 // those that PassageQuery.Planned runs over
	StatsChunks   int64 // those that Term.Chunks refers to
	StatsWords    int64
}

// FrequencyMarks are what the index of documents has for a word that stands in a chunk Least times or more: Lexeme at its end.
var FrequencyMarks = [...]struct {
	Lexeme string
	Least  float64
}{{"²", 2}, {"⁴", 4}, {"⁶", 6}}

const (
	termColumns    = "select word, lexeme, ndoc, guess, planned_chunks, stat_chunks, stat_words"
	searchTermsSQL = termColumns + ", often from search_terms($1, $2)"
	// The archive's functions do the same with its own tables.
	archiveTermsSQL = termColumns + ", '{}'::bigint[] from archive_terms($1, $2)"
)

// SearchTerms looks up words in the languages of what is searched, and its size. Stop words have no term; a word may have
// several. The size is zero if there is no term. A transaction without a scope is an error.
func SearchTerms(ctx context.Context, db row.DB, in Source, words []string, of language.Language) ([]Term, Corpus, error) {
	sql := searchTermsSQL
	if in == Messages {
		sql = archiveTermsSQL
	}
	rows, err := db.Query(ctx, sql, words, of)
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("look up words: %w", err)
	}
	var corpus Corpus
	terms, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Term, err error) {
		err = row.Scan(&t.Word, &t.Lexeme, &t.Chunks, &t.Correction, &corpus.PlannedChunks, &corpus.StatsChunks, &corpus.StatsWords, &t.ChunksAtLeast)
		return t, err
	})
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("look up words: %w", err)
	}
	return terms, corpus, nil
}

// PassageQuery asks for the passages around the best matches.
type PassageQuery struct {
	Source        Source
	Planned       [][]string // sets of tsqueries: a chunk that matches all of one set is a candidate among public chunks (for the owner: among all)
	Any           string     // tsquery that finds candidates among the caller's own chunks, except the owner's; empty leaves them out
	Terms         []string   // 1 to 32 tsqueries of one lexeme each
	Weights       []float64  // what a saturated match of each term is worth
	Average       float64    // words in an average chunk
	Kinds         []Kind
	MaxCandidates int // candidates; more matches than that are left out
}

// Passage is a candidate, or one of the two before or after one, and how often each term stands in it.
type Passage struct {
	ID          int64
	DocID       int64
	Ord         int
	Kind        Kind
	Language    language.Language
	Part        int // passages of one section have the same number
	Words       int
	Author      string
	IsQuestion  bool
	Frequencies []int16 // one for each of the query's terms
}

const (
	passageColumns     = "select id, doc_id, ord, kind, config, part, n_tok, author, is_question, frequencies"
	passageArguments   = "($1::text[]::tsquery[], $2, nullif($3::text, '')::tsquery, $4::text[]::tsquery[], $5, $6, $7, $8)"
	searchPassagesSQL  = passageColumns + " from search_passages" + passageArguments
	archivePassagesSQL = passageColumns + " from archive_passages" + passageArguments
)

// SearchPassages finds passages in what the transaction's scope may see. A transaction without a scope is an error.
func SearchPassages(ctx context.Context, db row.DB, q PassageQuery) ([]Passage, error) {
	sql := searchPassagesSQL
	if q.Source == Messages {
		sql = archivePassagesSQL
	}
	var planned []string
	var sets []int
	for i, set := range q.Planned {
		planned = append(planned, set...)
		sets = append(sets, slices.Repeat([]int{i}, len(set))...)
	}
	rows, err := db.Query(ctx, sql, planned, sets, q.Any, q.Terms, q.Weights, q.Average, q.Kinds, q.MaxCandidates)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	passages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Passage])
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return passages, nil
}

const lexemesSQL = `select tsvector_to_array(to_tsvector(c::regconfig, t)) from unnest($1::text[], $2::text[]) with ordinality u(c, t, o) order by o`

// LanguageTexts are texts, each in the language that stands at the same place.
type LanguageTexts struct {
	Languages []language.Language
	Texts     []string
}

// Lexemes gives the set of lexemes of each text in its language, as the index would hold them.
func Lexemes(ctx context.Context, db row.DB, list LanguageTexts) ([][]string, error) {
	rows, err := db.Query(ctx, lexemesSQL, list.Languages, list.Texts)
	if err != nil {
		return nil, fmt.Errorf("cut words to stems: %w", err)
	}
	lexemes, err := pgx.CollectRows(rows, pgx.RowTo[[]string])
	if err != nil {
		return nil, fmt.Errorf("cut words to stems: %w", err)
	}
	return lexemes, nil
}
