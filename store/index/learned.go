package index

import (
	"context"

	"github.com/jackc/pgx/v5"

	"multis/policy"
	"multis/store/row"
)

// LearnedWords are words of a question for which the owner picked a quote of a public passage. Postgres deletes them with
// the passage, and with the messages of Sources.
type LearnedWords struct {
	ID      int64
	ChunkID row.ChunkID
	Quote   string          // what was picked, a part of the passage
	Words   []string        // a set, as package search compares them
	Asks    string          // the type of value that was asked for, such as "price"; empty for none
	Sources []row.MessageID // the messages that the words are from; empty if they tell nothing of who asked
}

// MaxLearnedWords is how many sets of learned words are kept, the newest.
const MaxLearnedWords = 500

// addLearnedWordsSQL adds words to a public passage that has the quote, each set once. It locks the messages, so that a
// concurrent deletion also deletes the words.
const addLearnedWordsSQL = `with said as (select id from messages where id = any (@sources::bigint[]) and redacted_at is null for key share),
	old as (delete from learned_words where id in (select id from learned_words order by id desc offset @most))
	insert into learned_words (chunk_id, quote, words, asks, sources) select c.id, @quote, @words, @asks, @sources from chunks c
	where c.id = @chunk and c.role = 'public' and c.kind = 'kb' and position(@quote in c.content) > 0
		and (select count(*) from said) = cardinality(@sources::bigint[])
		and not exists (select from learned_words w where w.chunk_id = c.id and w.quote = @quote and w.words = @words and w.asks = @asks)`

// AddLearnedWords adds words to a quote of a passage. It does nothing if the passage is not public any more, has another
// text by now or has these words already.
func AddLearnedWords(ctx context.Context, tx row.Tx, w LearnedWords) error {
	return withScope(ctx, tx, policy.PublicScope(), func() error {
		return row.Exec(ctx, tx, "add learned words", addLearnedWordsSQL, pgx.NamedArgs{
			"chunk":   w.ChunkID,
			"quote":   w.Quote,
			"words":   w.Words,
			"asks":    w.Asks,
			"sources": row.EmptyIfNil(w.Sources),
			"most":    MaxLearnedWords - 1,
		})
	})
}

const learnedWordsSQL = "select id, chunk_id, quote, words, asks, sources from learned_words order by id"

// AllLearnedWords returns all learned words, in the order in which they were learned.
func AllLearnedWords(ctx context.Context, db row.DB) ([]LearnedWords, error) {
	return row.All[LearnedWords](ctx, db, "learned words", learnedWordsSQL)
}

const learnedWordsLikeSQL = "select id, chunk_id, quote, words, asks, sources from learned_words" +
	" where exists (select from unnest(words) w, unnest($1::text[]) q where left(w, 3) = left(q, 3)) order by id"

// LearnedWordsLike returns the learned words of which one begins as one of words does, since forms of a word begin alike:
// those of the passages that the reader may see.
func LearnedWordsLike(ctx context.Context, db row.DB, words []string) ([]LearnedWords, error) {
	return row.All[LearnedWords](ctx, db, "learned words", learnedWordsLikeSQL, row.EmptyIfNil(words))
}

const removeLearnedWordsSQL = "delete from learned_words where id = $1"

// RemoveLearnedWords deletes learned words. It returns false if there are none with that number.
func RemoveLearnedWords(ctx context.Context, tx row.Tx, number int64) (bool, error) {
	n, err := row.Changed(ctx, tx, "remove learned words", removeLearnedWordsSQL, number)
	return n > 0, err
}

// withScope runs a function in a scope, and then sets the scope of the transaction that was before.
func withScope(ctx context.Context, tx row.Tx, scope policy.Scope, run func() error) error {
	before, err := row.Value[string](ctx, tx, "scope", "select coalesce(current_setting('multis.scope', true), '')")
	if err != nil {
		return err
	}
	if err := row.SetScope(ctx, tx, scope); err != nil {
		return err
	}
	if err := run(); err != nil {
		return err
	}
	return row.SetScopeSetting(ctx, tx, before)
}
