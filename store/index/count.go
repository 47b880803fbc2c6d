package index

import (
	"context"

	"multis/store/row"
)

// uncountTermsSQL subtracts documents from the word counts. A word whose count becomes 0 loses its row, because the
// counts must not preserve words of deleted texts. Documents in uncounted are skipped, because they were never added; so
// are roles whose words are not counted.
const uncountTermsSQL = `with gone as (
		select r.role, w.word, count(*)::int as n
		from chunk_index i, unnest(tsvector_to_array(i.tsv)) w(word), lateral (select c.role from corpus_stats c where c.role in (i.role, '*') and c.counted) r(role)
		where i.doc_id = any ($1) and not exists (select from uncounted u where u.doc_id = i.doc_id) group by 1, 2
	), unused as (
		delete from term_stats t using gone g where t.role = g.role and t.word = g.word and t.ndoc <= g.n
	)
	update term_stats t set ndoc = t.ndoc - g.n from gone g where t.role = g.role and t.word = g.word and t.ndoc > g.n`

const addCorpusSizeSQL = `insert into corpus_stats (role, chunks, words)
	select r.role, $2 * count(*), $2 * sum(i.n_tok) from chunk_index i, lateral (values (i.role), ('*')) r(role) where i.doc_id = any ($1) group by 1
	on conflict (role) do update set chunks = corpus_stats.chunks + excluded.chunks, words = corpus_stats.words + excluded.words`

const countConfigsSQL = `insert into corpus_configs (role, config, chunks)
	select r.role, i.config, $2 * count(*) from chunk_index i, lateral (values (i.role), ('*')) r(role) where i.doc_id = any ($1) group by 1, 2
	on conflict (role, config) do update set chunks = corpus_configs.chunks + excluded.chunks`

const deleteEmptyConfigsSQL = "delete from corpus_configs where chunks = 0"

const deleteEmptyCorpusSQL = "delete from corpus_stats where chunks = 0 and role <> '*'"

const addUncountedSQL = "insert into uncounted (doc_id) values ($1)"

// countDocument adds a document to the corpus sizes and to the table uncounted. If that table has become long, it first
// adds the words of all its documents to the word counts, while other transactions go on writing.
func countDocument(ctx context.Context, tx row.Tx, docID row.DocumentID) error {
	if err := row.Exec(ctx, tx, "add to the uncounted documents", addUncountedSQL, docID); err != nil {
		return err
	}
	isBacklogBig, err := row.Value[bool](ctx, tx, "uncounted documents", isBacklogBigSQL)
	if err != nil {
		return err
	}
	var bigger []string
	if isBacklogBig {
		if bigger, err = countAll(ctx, tx, docID); err != nil {
			return err
		}
	}
	if err := lockCorpus(ctx, tx); err != nil {
		return err
	}
	if err := addSizes(ctx, tx, []row.DocumentID{docID}, 1); err != nil {
		return err
	}
	if len(bigger) == 0 {
		return nil
	}
	return row.Exec(ctx, tx, "mark counted roles", countedSQL, bigger)
}

const deleteUncountedSQL = "delete from uncounted where doc_id = any ($1)"

// uncountDocuments removes documents from the word counts and the corpus sizes.
func uncountDocuments(ctx context.Context, tx row.Tx, docs ...row.DocumentID) error {
	if err := row.Exec(ctx, tx, "uncount words", uncountTermsSQL, docs); err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "delete uncounted documents", deleteUncountedSQL, docs); err != nil {
		return err
	}
	if err := addSizes(ctx, tx, docs, -1); err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "delete unused languages", deleteEmptyConfigsSQL); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "delete empty roles", deleteEmptyCorpusSQL)
}

// addSizes adds documents to the corpus sizes. With sign -1 it subtracts them.
func addSizes(ctx context.Context, tx row.Tx, docs []row.DocumentID, sign int) error {
	if err := row.Exec(ctx, tx, "count chunks", addCorpusSizeSQL, docs, sign); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "count languages", countConfigsSQL, docs, sign)
}

// isBacklogBigSQL returns true if the uncounted documents have more than 2,000 chunks or 5 % of the corpus, and if no
// other transaction is counting them.
const isBacklogBigSQL = `select case when coalesce(sum(d.chunks), 0) > least(2000, (select chunks from corpus_stats where role = '*') / 20)
		then pg_try_advisory_xact_lock('term_stats'::regclass::int) else false end
	from uncounted join documents d on d.id = doc_id`

const takeUncountedSQL = "delete from uncounted returning doc_id"

// countAllSQL uses ts_stat, which counts three times as fast as a statement over the words.
const countAllSQL = `with counted as (
		select '*' as role union select i.role from chunk_index i join corpus_stats c using (role) where i.doc_id = any ($1::bigint[]) and c.counted
	)
	insert into term_stats (role, word, ndoc)
		select c.role, s.word, s.ndoc from counted c,
			ts_stat(format('select tsv from chunk_index where doc_id = any (%L) and %L in (role, ''*'')', $1::bigint[], c.role)) s
		order by c.role collate "C", s.word collate "C"
		on conflict (role, word) do update set ndoc = term_stats.ndoc + excluded.ndoc`

// newlyLargeRolesSQL selects the roles whose words are counted from now on. The words of a role with up to 1,000 chunks
// are counted at each query, which takes a few milliseconds at most. The document that is being written ($1) is added,
// because it is not in the corpus sizes yet.
const newlyLargeRolesSQL = `select role from (select role, chunks from corpus_stats union all select role, chunks from documents where id = $1) s
	where role not in (select role from corpus_stats where counted) group by role having sum(chunks) > 1000`

// countRolesSQL counts the words of roles. Uncounted documents are left out, because they are counted later with the others.
const countRolesSQL = `insert into term_stats (role, word, ndoc)
	select i.role, w, count(*) from chunk_index i, unnest(tsvector_to_array(i.tsv)) w
	where i.role = any ($1) and not exists (select from uncounted u where u.doc_id = i.doc_id) group by 1, 2`

const countedSQL = "update corpus_stats set counted = true where role = any ($1)"

// countAll adds the words of all uncounted documents to term_stats. The words of a small role are counted at each query;
// countAll stores the counts of the roles that have become too big for that, and returns these roles. The transaction
// must hold the lock of the word counts.
func countAll(ctx context.Context, tx row.Tx, docID row.DocumentID) (bigger []string, err error) {
	docs, err := row.Values[row.DocumentID](ctx, tx, "uncounted documents", takeUncountedSQL)
	if err != nil {
		return nil, err
	}
	if err := row.Exec(ctx, tx, "count words", countAllSQL, docs); err != nil {
		return nil, err
	}
	bigger, err = row.Values[string](ctx, tx, "bigger roles", newlyLargeRolesSQL, docID)
	if err != nil {
		return nil, err
	}
	if len(bigger) == 0 {
		return nil, nil
	}
	return bigger, row.Exec(ctx, tx, "count bigger roles", countRolesSQL, bigger)
}
