package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"multis/internal/language"
	"multis/store"
	"multis/store/index"
)

const (
	bulkBatch, bulkWriters = 40, 2 // number of documents in one statement, and of concurrent statements
	// maximum number of passages that are written at the end, one document at a time; at most 1/40 of the corpus
	maxPending = 1000
)

// loaded is a document to load.
type loaded struct {
	doc    index.Document
	chunks []index.Chunk
}

const bulkSQL = `with d as (
		insert into documents (origin, name, role, kind, element, size, hash, chunks)
		select origin, name, role, kind, element, 0, origin, @size from unnest(@origins::text[], @names::text[], @roles::text[], @kinds::text[], @elements::text[])
			u(origin, name, role, kind, element)
		returning id, origin, name, role, kind
	), c as (
		select d.*, key, ord, content, words, question
		from unnest(@of::text[], @keys::text[], @ords::int[], @contents::text[], @words::text[], @questions::boolean[])
			u(origin, key, ord, content, words, question) join d using (origin)
	), t as (
		insert into chunks (chunk_key, doc_id, ord, role, kind, title, content) select key, id, ord, role, kind, name, content from c returning id, chunk_key
	)
	insert into chunk_index (id, doc_id, ord, role, kind, config, n_tok, is_question, tsv)
	select t.id, c.id, ord, role, kind, @config, e.n_tok, question, e.tsv
	from c join t on chunk_key = key, index_entry(@config::regconfig, words) e`

// bulkCountsSQL computes the term statistics from the index.
var bulkCountsSQL = []string{
	"set work_mem = '512MB'",
	"insert into corpus_stats (role, chunks, words, counted) select role, count(*), sum(n_tok), count(*) > 1000 from chunk_index group by 1",
	"update corpus_stats set (chunks, words) = (select count(*), sum(n_tok) from chunk_index) where role = '*'",
	"insert into corpus_configs (role, config, chunks) select r, config, count(*) from chunk_index i, unnest(array[i.role, '*']) r group by 1, 2",
	"insert into term_stats (role, word, ndoc) select role, w, count(*) from chunk_index join corpus_stats c using (role), unnest(tsvector_to_array(tsv)) w where c.counted group by 1, 2",
	"insert into term_stats (role, word, ndoc) select '*', w, count(*) from chunk_index, unnest(tsvector_to_array(tsv)) w group by 2",
}

// bulk loads a corpus in the order of a restore: first the rows, then the text indexes and the term statistics. The last documents are
// written through the store, because a database in use always has some documents whose words are not counted yet. The speed of
// writing through the store is measured by ingest.
func (co *corpus) bulk(ctx context.Context, chunks int) error {
	indexes, err := co.dropTextIndexes(ctx)
	if err != nil {
		return err
	}
	group, loading := errgroup.WithContext(ctx)
	batches := make(chan []loaded)
	for range bulkWriters {
		group.Go(func() error {
			for b := range batches {
				if err := co.load(loading, b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	most := chunks - min(maxPending, chunks/40)
	for co.size < most && loading.Err() == nil {
		batch := make([]loaded, 0, bulkBatch)
		for len(batch) < bulkBatch && co.size < most {
			doc, cs := co.document()
			batch = append(batch, loaded{doc, cs})
		}
		select {
		case batches <- batch:
		case <-loading.Done():
		}
		if co.size%(50*bulkBatch*documentSize) == 0 {
			progress("%d passages", co.size)
		}
	}
	close(batches)
	if err := group.Wait(); err != nil {
		return err
	}
	if err := co.complete(ctx, append(indexes, bulkCountsSQL...)); err != nil {
		return err
	}
	for co.size < chunks {
		doc, cs := co.document()
		if err := co.db.write(ctx, doc, cs); err != nil {
			return err
		}
	}
	return nil
}

func (co *corpus) load(ctx context.Context, batch []loaded) error {
	args := pgx.NamedArgs{"size": documentSize, "config": language.English}
	var origins, names, roles, kinds, elements, of, keys, contents, words []string
	var ords []int
	var questions []bool
	for _, b := range batch {
		origins = append(origins, b.doc.Origin)
		names = append(names, b.doc.Name)
		roles = append(roles, string(b.doc.Role))
		kinds, elements = append(kinds, string(b.doc.Kind)), append(elements, b.doc.Format)
		for _, c := range b.chunks {
			of = append(of, b.doc.Origin)
			keys = append(keys, c.Key)
			ords = append(ords, c.Ord)
			contents = append(contents, c.Content)
			words = append(words, c.SearchText)
			questions = append(questions, c.IsQuestion)
		}
	}
	for name, list := range map[string]any{
		"origins": origins, "names": names, "roles": roles, "kinds": kinds, "elements": elements,
		"of": of, "keys": keys, "ords": ords, "contents": contents, "words": words, "questions": questions,
	} {
		args[name] = list
	}
	return co.db.AsOwner(ctx, co.allChats(), func(tx store.Tx) error {
		_, err := tx.Exec(ctx, bulkSQL, args)
		return err
	})
}

// dropTextIndexes drops the text indexes and returns the statements that create them again.
func (co *corpus) dropTextIndexes(ctx context.Context) ([]string, error) {
	rows, err := co.db.Pool().Query(ctx,
		"select indexname as name, indexdef as sql from pg_indexes where tablename = 'chunk_index' and indexdef like '%USING gin%'")
	if err != nil {
		return nil, fmt.Errorf("list text indexes: %w", err)
	}
	type index struct{ Name, SQL string }
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[index])
	if err != nil {
		return nil, fmt.Errorf("list text indexes: %w", err)
	}
	var again []string
	for _, i := range list {
		if _, err := co.db.Pool().Exec(ctx, "drop index "+i.Name); err != nil {
			return nil, fmt.Errorf("drop %s: %w", i.Name, err)
		}
		again = append(again, i.SQL)
	}
	return again, nil
}

func (co *corpus) complete(ctx context.Context, statements []string) error {
	conn, err := co.db.Pool().Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Release()
	for _, sql := range statements {
		progress("%s ...", sql[:min(len(sql), 60)])
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", strings.Fields(sql)[0], err)
		}
	}
	_, err = conn.Exec(ctx, "reset work_mem")
	return err
}
