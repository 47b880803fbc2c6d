package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Term is a word of a query as the index knows it.
type Term struct {
	Word   string // as asked
	Lexeme string // as indexed
	Chunks int64  // in how many chunks it stands; 0 if in none
}

// Corpus is the size of what the transaction's scope may search.
type Corpus struct {
	PlannedChunks int64 // those that PassageQuery.Planned runs over
	StatsChunks   int64 // those that Term.Chunks refers to
	StatsWords    int64
}

const searchTermsSQL = "select word, lexeme, ndoc from search_terms($1::text::regconfig, $2)"

const searchCorpusSQL = "select planned_chunks, stat_chunks, stat_words from search_corpus()"

// SearchTerms looks up words, and the size of what is searched. Stop words have no term; a word may have several. A
// transaction without a scope is an error.
func SearchTerms(ctx context.Context, tx Tx, words []string) ([]Term, Corpus, error) {
	batch := &pgx.Batch{}
	batch.Queue(searchTermsSQL, textConfig, words)
	batch.Queue(searchCorpusSQL)
	results := tx.SendBatch(ctx, batch)
	defer results.Close()
	rows, err := results.Query()
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("look up words: %w", err)
	}
	terms, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Term])
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("look up words: %w", err)
	}
	rows, err = results.Query()
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("size the corpus: %w", err)
	}
	corpus, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Corpus])
	if err != nil {
		return nil, Corpus{}, fmt.Errorf("size the corpus: %w", err)
	}
	return terms, corpus, nil
}

// PassageQuery asks for the passages around the best matches.
type PassageQuery struct {
	Planned string    // tsquery that finds candidates among public chunks (for the owner: among all)
	Any     string    // tsquery that finds candidates among the caller's own chunks
	Terms   []string  // 1 to 32 tsqueries of one lexeme each
	Weights []float64 // what a saturated match of each term is worth
	Average float64   // words in an average chunk
	Kinds   []Kind
}

// Passage is a candidate, or one of the two before or after one, and how often each term stands in it.
type Passage struct {
	ID          int64
	DocID       int64
	Ord         int
	Kind        Kind
	Words       int
	Author      string
	IsQuestion  bool
	Frequencies []int16 // one for each of the query's terms
}

const searchPassagesSQL = `select id, doc_id, ord, kind, n_tok, author, is_question, frequencies
	from search_passages($1::text::tsquery, $2::text::tsquery, $3::text[]::tsquery[], $4, $5, $6)`

// SearchPassages finds passages in what the transaction's scope may see. A transaction without a scope is an error.
func SearchPassages(ctx context.Context, tx Tx, q PassageQuery) ([]Passage, error) {
	rows, err := tx.Query(ctx, searchPassagesSQL, q.Planned, q.Any, q.Terms, q.Weights, q.Average, q.Kinds)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	passages, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Passage])
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return passages, nil
}

const lexemesSQL = `select tsvector_to_array(to_tsvector($1::text::regconfig, t)) from unnest($2::text[]) with ordinality u(t, o) order by o`

// Lexemes gives the set of lexemes of each text, as the index would hold them.
func Lexemes(ctx context.Context, db DB, texts []string) ([][]string, error) {
	rows, err := db.Query(ctx, lexemesSQL, textConfig, texts)
	if err != nil {
		return nil, fmt.Errorf("cut words to stems: %w", err)
	}
	lexemes, err := pgx.CollectRows(rows, pgx.RowTo[[]string])
	if err != nil {
		return nil, fmt.Errorf("cut words to stems: %w", err)
	}
	return lexemes, nil
}
