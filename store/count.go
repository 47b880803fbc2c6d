package store

import (
	"context"
	"fmt"
)

// countedRolesSQL are the roles that the words of document $1 count under: its own and, if $2, '*'.
const countedRolesSQL = "(select role from documents where id = $1 union all select '*' where $2) r"

// wordCountsSQL counts the chunks of document $1 that hold a word.
const wordCountsSQL = "(select w as word, count(*)::int as n from chunk_index i, unnest(tsvector_to_array(i.tsv)) w where i.doc_id = $1 group by 1) c"

const upsertTerms = " on conflict (role, word) do update set ndoc = term_stats.ndoc + excluded.ndoc"

const countTermsSQL = "insert into term_stats (role, word, ndoc) select r.role, c.word, c.n from " + countedRolesSQL + ", " + wordCountsSQL +
	` order by r.role collate "C", c.word collate "C"` + upsertTerms

// A word that stands nowhere any more leaves no row behind: the counts must not remember what was deleted. What waits to be
// counted under '*' is not taken out there.
const uncountTermsSQL = `with gone as (
		select r.role, w.word, count(*)::int as n from chunk_index i, unnest(tsvector_to_array(i.tsv)) w(word), lateral (values (i.role), ('*')) r(role)
		where i.doc_id = any ($1) and (r.role <> '*' or not exists (select from uncounted u where u.doc_id = i.doc_id)) group by 1, 2
	), dead as (
		delete from term_stats t using gone g where t.role = g.role and t.word = g.word and t.ndoc <= g.n
	)
	update term_stats t set ndoc = t.ndoc - g.n from gone g where t.role = g.role and t.word = g.word and t.ndoc > g.n`

const sizeCorpusSQL = `insert into corpus_stats (role, chunks, words)
	select r.role, $2 * count(*), $2 * sum(i.n_tok) from chunk_index i, lateral (values (i.role), ('*')) r(role) where i.doc_id = any ($1) group by 1
	on conflict (role) do update set chunks = corpus_stats.chunks + excluded.chunks, words = corpus_stats.words + excluded.words`

const countConfigsSQL = `insert into corpus_configs (role, config, chunks)
	select r.role, i.config, $2 * count(*) from chunk_index i, lateral (values (i.role), ('*')) r(role) where i.doc_id = any ($1) group by 1, 2
	on conflict (role, config) do update set chunks = corpus_configs.chunks + excluded.chunks`

const dropEmptyConfigsSQL = "delete from corpus_configs where chunks = 0"

const dropEmptyCorpusSQL = "delete from corpus_stats where chunks = 0 and role <> '*'"

const putOffSQL = "insert into uncounted (doc_id) values ($1)"

// count adds the words of a document as it stands to the counts. Those of everything follow for many documents at once.
func count(ctx context.Context, tx Tx, docID int64) error {
	if err := exec(ctx, tx, "count words", countTermsSQL, docID, false); err != nil {
		return err
	}
	if err := size(ctx, tx, []int64{docID}, 1); err != nil {
		return err
	}
	if err := exec(ctx, tx, "put off counting", putOffSQL, docID); err != nil {
		return err
	}
	return countAll(ctx, tx)
}

const countPutOffSQL = "delete from uncounted where doc_id = any ($1)"

// uncount takes the words of documents as they stand out of the counts.
func uncount(ctx context.Context, tx Tx, docs ...int64) error {
	if err := exec(ctx, tx, "uncount words", uncountTermsSQL, docs); err != nil {
		return err
	}
	if err := exec(ctx, tx, "uncount words", countPutOffSQL, docs); err != nil {
		return err
	}
	if err := size(ctx, tx, docs, -1); err != nil {
		return err
	}
	if err := exec(ctx, tx, "forget languages", dropEmptyConfigsSQL); err != nil {
		return err
	}
	return exec(ctx, tx, "forget empty roles", dropEmptyCorpusSQL)
}

func size(ctx context.Context, tx Tx, docs []int64, sign int) error {
	if err := exec(ctx, tx, "count chunks", sizeCorpusSQL, docs, sign); err != nil {
		return err
	}
	return exec(ctx, tx, "count languages", countConfigsSQL, docs, sign)
}

// A twentieth of the corpus may wait, and no more than 2,000 chunks.
const muchWaitsSQL = `select coalesce(sum(d.chunks), 0) > least(2000, (select chunks from corpus_stats where role = '*') / 20)
	from uncounted join documents d on d.id = doc_id`

const countAllSQL = `with waiting as (delete from uncounted returning doc_id)
	insert into term_stats (role, word, ndoc) select '*', w, count(*)
		from waiting join chunk_index i using (doc_id), unnest(tsvector_to_array(i.tsv)) w group by w order by w collate "C"` + upsertTerms

// countAll counts what waits to be counted under '*', when that is much.
func countAll(ctx context.Context, tx Tx) error {
	var much bool
	if err := tx.QueryRow(ctx, muchWaitsSQL).Scan(&much); err != nil {
		return fmt.Errorf("look what is not counted: %w", err)
	}
	if !much {
		return nil
	}
	return exec(ctx, tx, "count all words", countAllSQL)
}
