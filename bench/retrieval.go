package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

type retrievalCmd struct {
	Dir string `arg:"" help:"Holds corpus.jsonl and queries.jsonl."`
}

// row is a passage of the collection: number Position of the document Session in the scope Group.
type row struct {
	ID       string          `json:"id"`
	Group    string          `json:"group"`
	Session  json.RawMessage `json:"sess"` // a number or a name
	Position int             `json:"pos"`
	Title    string          `json:"title"`
	Text     string          `json:"text"`
	Author   string          `json:"author"`
}

// query is a question in the scope Group. Relevant holds the ids of the rows that answer it, with a grade.
type query struct {
	ID       string         `json:"id"`
	Group    string         `json:"group"`
	Category string         `json:"cat"` // may be empty
	Text     string         `json:"text"`
	Relevant map[string]int `json:"rel"`
}

// collection is the indexed data. Each group is a chat.
type collection struct {
	rows   []row
	chats  map[string]policy.ChatID
	rowIDs map[int64]string // by chunk id
}

// Run prints the ranked rows of each query, and how well multis and SQLite answered the queries.
func (c retrievalCmd) Run(ctx context.Context) error {
	multis, sqlite, err := c.measure(ctx)
	for _, category := range slices.Sorted(maps.Keys(multis)) {
		progress("%-12s multis %s   SQLite FTS5 %s", category, multis[category], sqlite[category])
	}
	return err
}

// measure indexes the collection through the store and runs each query as the contact whose chat is the query's group.
func (c retrievalCmd) measure(ctx context.Context) (multis, sqlite qualities, err error) {
	rows, queries, err := readCollection(c.Dir)
	if err != nil {
		return nil, nil, err
	}
	db, err := openDatabase(ctx, options{throwaway: true})
	if err != nil {
		return nil, nil, err
	}
	defer db.close()
	lite, err := openFTS(filepath.Join(db.dir, "fts.db"))
	if err != nil {
		return nil, nil, err
	}
	defer lite.close()
	col := collection{rows: rows, chats: map[string]policy.ChatID{}}
	start := time.Now()
	if err := col.index(ctx, db, lite); err != nil {
		return nil, nil, err
	}
	progress("%d passages in %d scopes indexed in %s", len(rows), len(col.chats), time.Since(start).Round(time.Millisecond))
	return col.ask(ctx, db, lite, queries)
}

// readCollection reads the rows and the queries.
func readCollection(dir string) (rows []row, queries []query, err error) {
	if rows, err = readLines[row](filepath.Join(dir, "corpus.jsonl")); err != nil {
		return nil, nil, err
	}
	queries, err = readLines[query](filepath.Join(dir, "queries.jsonl"))
	return rows, queries, err
}

func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the collection: %w", err)
	}
	defer f.Close()
	var list []T
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		list = append(list, v)
	}
	return list, nil
}

// documents groups the rows by session, in order.
func (c *collection) documents() [][]row {
	at := map[string]int{}
	var docs [][]row
	for _, r := range c.rows {
		key := r.Group + "\n" + string(r.Session)
		i, known := at[key]
		if !known {
			i = len(docs)
			at[key] = i
			docs = append(docs, nil)
		}
		docs[i] = append(docs[i], r)
	}
	for _, d := range docs {
		slices.SortStableFunc(d, func(a, b row) int { return cmp.Compare(a.Position, b.Position) })
	}
	return docs
}

func (c *collection) index(ctx context.Context, db *database, lite *fts) error {
	for _, rows := range c.documents() {
		first := rows[0]
		chat, known := c.chats[first.Group]
		if !known {
			chat = policy.ChatID(len(c.chats) + 1)
			c.chats[first.Group] = chat
		}
		doc, chunks := document(rows, chat)
		if err := db.write(ctx, doc, chunks); err != nil {
			return err
		}
	}
	if err := c.readRowIDs(ctx, db); err != nil {
		return err
	}
	if _, err := db.Pool().Exec(ctx, "analyze"); err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	list := make([]ftsRow, len(c.rows))
	for i, r := range c.rows {
		list[i] = ftsRow{id: int64(i + 1), scope: r.Group, body: r.Title + "\n" + r.Text}
	}
	return lite.add(ctx, list)
}

// document returns a session as a document of the store. Rows with an author become a conversation, all others a plain document.
func document(rows []row, chat policy.ChatID) (index.Document, []index.Chunk) {
	first := rows[0]
	origin := first.Group + "/" + string(first.Session)
	doc := index.Document{
		Origin: origin,
		Name:   cmp.Or(first.Title, origin),
		Role:   policy.UserRole(chat),
		Kind:   index.KindKnowledge,
		Format: "txt",
		Hash:   origin,
	}
	chunks := make([]index.Chunk, len(rows))
	for i, r := range rows {
		if r.Author != "" {
			doc.Kind, doc.Format = index.KindConversation, "chat"
		}
		section := ""
		if r.Title != first.Title {
			section = r.Title
		}
		chunks[i] = index.Chunk{
			Key:        r.ID,
			Ord:        i,
			Section:    section,
			Content:    r.Text,
			SearchText: search.IndexText(doc.Name, section, r.Text),
			Author:     strings.Join(search.Words(r.Author), " "),
			IsQuestion: search.IsQuestion(r.Text),
		}
	}
	return doc, chunks
}

// readRowIDs fills c.rowIDs. The key of a chunk is the id of its row.
func (c *collection) readRowIDs(ctx context.Context, db *database) error {
	c.rowIDs = map[int64]string{}
	for _, chat := range c.chats {
		err := db.AsOwner(ctx, policy.OwnerScope(chat), func(tx store.Tx) error {
			rows, err := tx.Query(ctx, "select id, chunk_key from chunks")
			if err != nil {
				return fmt.Errorf("list chunks: %w", err)
			}
			defer rows.Close()
			for rows.Next() {
				var id int64
				var name string
				if err := rows.Scan(&id, &name); err != nil {
					return fmt.Errorf("list chunks: %w", err)
				}
				c.rowIDs[id] = name
			}
			return rows.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ask runs all queries in multis and in SQLite, prints the results of multis and returns the quality of both. It
// alternates between them, so that both run under the same load.
func (c *collection) ask(ctx context.Context, db *database, lite *fts, queries []query) (multis, sqlite qualities, err error) {
	out := bufio.NewWriter(os.Stdout)
	s := search.New(db.Store)
	var multisTimes, sqliteTimes []time.Duration
	multis, sqlite = qualities{}, qualities{}
	for i, q := range queries {
		scope := policy.ContactScope(c.chats[q.Group])
		start := time.Now()
		found, err := s.AsContact(ctx, scope, search.Query{Text: q.Text})
		if err != nil {
			return nil, nil, err
		}
		multisTimes = append(multisTimes, time.Since(start))
		var names []string
		for _, h := range found.Hits {
			names = append(names, c.rowIDs[h.Ref.ID])
			fmt.Fprintln(out, q.ID+"\t"+c.rowIDs[h.Ref.ID])
		}
		multis.add(q, names)
		words, err := contentWords(ctx, db, q.Text)
		if err != nil {
			return nil, nil, err
		}
		start = time.Now()
		ids, err := lite.find(ctx, words, []string{q.Group})
		if err != nil {
			return nil, nil, err
		}
		sqliteTimes = append(sqliteTimes, time.Since(start))
		names = names[:0]
		for _, id := range ids {
			names = append(names, c.rows[id-1].ID)
		}
		sqlite.add(q, names)
		if (i+1)%200 == 0 {
			progress("%d of %d queries", i+1, len(queries))
		}
	}
	progress("multis %s   SQLite FTS5 %s   ratio of medians %.2f", summary(multisTimes), summary(sqliteTimes), ratio(multisTimes, sqliteTimes))
	return multis, sqlite, out.Flush()
}
