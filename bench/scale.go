package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"multis/policy"
	"multis/search"
	"multis/store"
)

type searchCmd struct {
	Chunks int  `default:"100000" help:"Size of the corpus."`
	JSON   bool `name:"json" help:"End with one line of JSON."`
}

const (
	contacts      = 2000 // chats with passages of their own
	publicShare   = 0.2
	documentSize  = 50 // passages
	ftsBatch      = 5000
	ingested      = 5000 // passages, alone and beside a searching client
	skew          = 1.5  // some chats are much bigger than others
	leastPerChat  = 25   // passages, on average: a small corpus has fewer chats
	questionEvery = 5    // of what people say, one in so many is a question
)

// corpus is an invented corpus on its way into both databases.
type corpus struct {
	db     *database
	lite   *fts
	writer *writer
	chats  int
	writes int // documents so far
	size   int // passages so far
	ftsID  int64
}

// Run measures.
func (c searchCmd) Run(ctx context.Context) error {
	sentences, err := readSentences()
	if err != nil {
		return err
	}
	progress("%d sentences", len(sentences))
	db, err := openDatabase(ctx, false, map[string]string{"shared_buffers": "2GB", "maintenance_work_mem": "512MB", "max_wal_size": "4GB"})
	if err != nil {
		return err
	}
	defer db.close()
	lite, err := openFTS(filepath.Join(db.dir, "fts.db"))
	if err != nil {
		return err
	}
	defer lite.close()
	co := &corpus{db: db, lite: lite, writer: newWriter(1, sentences), chats: max(min(contacts, c.Chunks/leastPerChat), 1)}
	r := report{Chunks: c.Chunks}
	if err := co.fill(ctx, c.Chunks, &r); err != nil {
		return err
	}
	if err := co.measure(ctx, &r); err != nil {
		return err
	}
	return r.print(c.JSON)
}

// fill puts the corpus into both, and notes how fast it grows then.
func (co *corpus) fill(ctx context.Context, chunks int, r *report) error {
	began := time.Now()
	if err := co.bulk(ctx, chunks); err != nil {
		return err
	}
	progress("%d passages loaded in %s", co.size, time.Since(began).Round(time.Second))
	for _, sql := range []string{"vacuum (analyze)", "checkpoint"} {
		if _, err := co.db.Pool().Exec(ctx, sql); err != nil && sql != "checkpoint" { // a checkpoint needs a right that the owner may lack
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	if err := co.db.Pool().QueryRow(ctx, sizesSQL).Scan(&r.SizeMB, &r.TextMB, &r.IndexMB, &r.CountsMB); err != nil {
		return fmt.Errorf("read sizes: %w", err)
	}
	began = time.Now()
	if err := co.fillFTS(ctx); err != nil {
		return err
	}
	r.FTSInsertPerS = round(float64(co.size) / time.Since(began).Seconds())
	return nil
}

const sizesSQL = `select pg_database_size(current_database()) / 1000000, pg_total_relation_size('chunks') / 1000000,
	pg_total_relation_size('chunk_index') / 1000000, pg_total_relation_size('term_stats') / 1000000`

// ingest writes passages as they are in use, document by document, and tells how many a second.
func (co *corpus) ingest(ctx context.Context) (float64, error) {
	began, before := time.Now(), co.size
	for co.size < before+ingested {
		if err := co.writeOne(ctx); err != nil {
			return 0, err
		}
	}
	return round(float64(co.size-before) / time.Since(began).Seconds()), nil
}

func (co *corpus) writeOne(ctx context.Context) error {
	doc, chunks := co.document()
	return co.db.write(ctx, doc, chunks)
}

// document invents the next one: a public document, or what was said in a chat.
func (co *corpus) document() (store.Document, []store.Chunk) {
	w := co.writer
	doc := store.Document{Origin: fmt.Sprint("doc", co.writes), Role: policy.Public, Kind: store.KindKnowledge, Element: "txt"}
	if w.random.Float64() >= publicShare {
		chat := 1 + int64(math.Pow(w.random.Float64(), skew)*float64(co.chats))
		doc.Role, doc.Kind, doc.Element = policy.UserRole(chat), store.KindConversation, "chat"
	}
	doc.Name = invented(uint64(co.writes % 997))
	doc.Hash = doc.Origin
	chunks := make([]store.Chunk, documentSize)
	for i := range chunks {
		text := w.passage()
		chunks[i] = store.Chunk{Key: doc.Origin + "/" + strconv.Itoa(i), Ord: i, Content: text, Words: search.IndexText(doc.Name, "", text)}
		chunks[i].IsQuestion = doc.Kind == store.KindConversation && w.random.IntN(questionEvery) == 0
	}
	co.writes++
	co.size += documentSize
	return doc, chunks
}

// fillFTS copies the passages, so that both search the same rows.
func (co *corpus) fillFTS(ctx context.Context) error {
	batch := make([]ftsRow, 0, ftsBatch)
	err := co.db.AsOwner(ctx, co.everybody(), func(tx store.Tx) error {
		rows, err := tx.Query(ctx, "select id, role, title || E'\\n' || content from chunks order by id")
		if err != nil {
			return fmt.Errorf("read passages: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var r ftsRow
			if err := rows.Scan(&r.id, &r.scope, &r.body); err != nil {
				return fmt.Errorf("read passages: %w", err)
			}
			if batch = append(batch, r); len(batch) == ftsBatch {
				if err := co.lite.add(ctx, batch); err != nil {
					return err
				}
				batch = batch[:0]
			}
		}
		return rows.Err()
	})
	if err != nil {
		return err
	}
	return co.lite.add(ctx, batch)
}

// everybody is the owner's scope when he names all chats: the biggest there is.
func (co *corpus) everybody() policy.Scope {
	chats := make([]int64, co.chats)
	for i := range chats {
		chats[i] = int64(i + 1)
	}
	return policy.OwnerScope(chats...)
}
