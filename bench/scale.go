package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

type searchCmd struct {
	Chunks int    `default:"100000" help:"Size of the corpus."`
	Keep   string `placeholder:"DIR" help:"Keep the databases in DIR; when they are there, ask them instead of loading again."`
	JSON   bool   `name:"json" help:"End with one line of JSON."`
}

const (
	contacts      = 2000 // chats with passages
	publicShare   = 0.2
	documentSize  = 50 // passages
	ftsBatch      = 5000
	ingested      = 5000 // passages, measured with and without a searching client
	ingesters     = 2    // concurrent writers, as many as there are index jobs
	skew          = 1.5  // exponent that distributes documents unevenly: the higher, the more of them are in few chats
	minPerChat    = 25   // passages, on average: a small corpus has fewer chats
	questionEvery = 5    // one message in this many is a question
)

// corpus is a generated corpus and the databases that it is loaded into.
type corpus struct {
	db     *database
	lite   *fts
	writer *writer
	chats  int
	writes int // documents so far
	size   int // passages so far
}

// Run loads the corpus and measures.
func (c searchCmd) Run(ctx context.Context) error {
	r, err := measureSearch(ctx, c.Chunks, c.Keep)
	if err != nil {
		return err
	}
	return r.print(c.JSON)
}

// measureSearch loads a corpus of a number of passages, unless the folder dir has one, and measures. An empty dir means a folder that is
// removed at the end.
func measureSearch(ctx context.Context, chunks int, dir string) (r report, err error) {
	sentences, err := readSentences()
	if err != nil {
		return r, err
	}
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return r, err
		}
	}
	progress("%d sentences", len(sentences))
	db, err := openDatabase(ctx, options{dir: dir, settings: map[string]string{
		"shared_buffers": "2GB", "maintenance_work_mem": "512MB",
		"max_wal_size": "4GB",
	}})
	if err != nil {
		return r, err
	}
	defer db.close()
	lite, err := openFTS(filepath.Join(db.dir, "fts.db"))
	if err != nil {
		return r, err
	}
	defer lite.close()
	co := &corpus{db: db, lite: lite, writer: newWriter(1, sentences), chats: max(min(contacts, chunks/minPerChat), 1)}
	if err := co.resume(ctx); err != nil {
		return r, err
	}
	if err := co.fill(ctx, chunks, &r); err != nil {
		return r, err
	}
	co.writer = newWriter(2, sentences) // a new writer, so that a kept corpus gets the same questions as a fresh one
	err = co.measure(ctx, &r)
	return r, err
}

const resumeSQL = "select count(*), coalesce(max(doc_id), 0), coalesce(max(substr(role, 6)::int) filter (where role like 'user:%'), $1) from chunk_index"

// resume continues with the corpus of a kept database.
func (co *corpus) resume(ctx context.Context) error {
	if err := co.db.Pool().QueryRow(ctx, resumeSQL, co.chats).Scan(&co.size, &co.writes, &co.chats); err != nil {
		return fmt.Errorf("read the kept corpus: %w", err)
	}
	return nil
}

// fill loads the corpus into both databases unless it is there.
func (co *corpus) fill(ctx context.Context, chunks int, r *report) error {
	if co.size == 0 {
		start := time.Now()
		if err := co.bulk(ctx, chunks); err != nil {
			return err
		}
		progress("%d passages loaded in %s", co.size, time.Since(start).Round(time.Second))
	}
	r.Chunks = co.size
	for _, sql := range []string{"vacuum (analyze)", "checkpoint"} {
		if _, err := co.db.Pool().Exec(ctx, sql); err != nil && sql != "checkpoint" { // the owner of the database may lack the right to checkpoint
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	if err := co.db.Pool().QueryRow(ctx, sizesSQL).Scan(&r.SizeMB, &r.TextMB, &r.IndexMB, &r.CountsMB); err != nil {
		return fmt.Errorf("read sizes: %w", err)
	}
	start := time.Now()
	added, err := co.fillFTS(ctx)
	r.FTSInsertPerS = round(float64(added) / time.Since(start).Seconds())
	return err
}

const sizesSQL = `select pg_database_size(current_database()) / 1000000, pg_total_relation_size('chunks') / 1000000,
	pg_total_relation_size('chunk_index') / 1000000, pg_total_relation_size('term_stats') / 1000000`

// ingest writes passages through the store, one document a transaction, and returns the rate in passages a second.
func (co *corpus) ingest(ctx context.Context) (float64, error) {
	start, before := time.Now(), co.size
	writing, ctx := errgroup.WithContext(ctx)
	writing.SetLimit(ingesters)
	for co.size < before+ingested && ctx.Err() == nil {
		doc, chunks := co.document()
		writing.Go(func() error { return co.db.write(ctx, doc, chunks) })
	}
	if err := writing.Wait(); err != nil {
		return 0, err
	}
	return round(float64(co.size-before) / time.Since(start).Seconds()), nil
}

// document generates the next document: a public one, or a conversation.
func (co *corpus) document() (index.Document, []index.Chunk) {
	w := co.writer
	doc := index.Document{Origin: fmt.Sprint("doc", co.writes), Role: policy.RolePublic, Kind: index.KindKnowledge, Format: "txt"}
	if w.random.Float64() >= publicShare {
		chat := 1 + policy.ChatID(math.Pow(w.random.Float64(), skew)*float64(co.chats))
		doc.Role = policy.UserRole(chat)
		doc.Kind = index.KindConversation
		doc.Format = "chat"
	}
	doc.Name = invented(uint64(co.writes % 997))
	doc.Hash = doc.Origin
	chunks := make([]index.Chunk, documentSize)
	for i := range chunks {
		text := w.passage()
		chunks[i] = index.Chunk{Key: doc.Origin + "/" + strconv.Itoa(i), Ord: i, Content: text, SearchText: search.IndexText(doc.Name, "", text)}
		chunks[i].IsQuestion = doc.Kind == index.KindConversation && w.random.IntN(questionEvery) == 0
	}
	co.writes++
	co.size += documentSize
	return doc, chunks
}

// fillFTS copies the passages that SQLite lacks.
func (co *corpus) fillFTS(ctx context.Context) (added int, err error) {
	last, err := co.lite.last(ctx)
	if err != nil {
		return 0, err
	}
	batch := make([]ftsRow, 0, ftsBatch)
	err = co.db.AsOwner(ctx, co.allChats(), func(tx store.Tx) error {
		rows, err := tx.Query(ctx, "select id, role, title || E'\n' || content from chunks where id > $1 order by id", last)
		if err != nil {
			return fmt.Errorf("read passages: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var r ftsRow
			if err := rows.Scan(&r.id, &r.scope, &r.body); err != nil {
				return fmt.Errorf("read passages: %w", err)
			}
			added++
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
		return 0, err
	}
	return added, co.lite.add(ctx, batch)
}

// allChats returns the owner's scope with all chats, which is the largest possible scope.
func (co *corpus) allChats() policy.Scope {
	chats := make([]policy.ChatID, co.chats)
	for i := range chats {
		chats[i] = policy.ChatID(i + 1)
	}
	return policy.OwnerScope(chats...)
}
