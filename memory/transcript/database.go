package transcript

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver that reads the file
)

// ErrNoDatabase is returned by OpenDatabase for a file that is not a documents.db of the first multis.
var ErrNoDatabase = errors.New("it is not the documents.db of the first multis")

const (
	// maxDatabase is the maximum size of a database that is read, in bytes.
	maxDatabase = 1 << 30
	// maxRecentUses is the maximum number of times in Uses.Newest.
	maxRecentUses = 8
)

// Document is a file that the first multis had indexed.
type Document struct {
	Path     string // path of the file when it was indexed
	Format   string // pdf, docx, md or txt
	Public   bool   // for customers; otherwise for the owner alone
	Passages []Passage
}

// Passage is a passage of a document.
type Passage struct {
	Headings         []string // the outermost first
	PageFrom, PageTo int      // from 1; 0 if the file has no pages
	Text             string
	Used             Uses
}

// Uses says how often and when a passage was used in an answer.
type Uses struct {
	Count  int
	First  time.Time
	Newest []time.Time // the newest uses, newest first, at most maxRecentUses
}

// Database is a documents.db of the first multis. It reads a copy, so that the file is neither written nor locked.
type Database struct {
	db      *sql.DB
	folder  string   // of the copy
	columns []string // of the table chunks
}

// OpenDatabase opens a documents.db, also one that was not closed properly. The caller closes it.
func OpenDatabase(ctx context.Context, path string) (*Database, error) {
	folder, err := os.MkdirTemp("", "multis-import")
	if err != nil {
		return nil, fmt.Errorf("make a place for a copy: %w", err)
	}
	d := &Database{folder: folder}
	if err := d.open(ctx, path); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Database) open(ctx context.Context, path string) error {
	here := filepath.Join(d.folder, "documents.db")
	if err := copyFile(here, path); err != nil {
		return err
	}
	// The last writes may still be in the write-ahead log.
	if err := copyFile(here+"-wal", path+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var err error
	if d.db, err = sql.Open("sqlite", "file:"+here+"?_pragma=query_only(1)&_pragma=trusted_schema(0)"); err != nil {
		return fmt.Errorf("open it: %w", err)
	}
	d.db.SetMaxOpenConns(1)
	d.columns, err = queryStrings(ctx, d.db,
		"select i.name from sqlite_schema s, pragma_table_info(s.name) i where s.type = 'table' and s.name = 'chunks'")
	if err != nil {
		return fmt.Errorf("%w, or broken: %w", ErrNoDatabase, err)
	}
	if len(d.columns) == 0 {
		return fmt.Errorf("%w: there is no table chunks in it", ErrNoDatabase)
	}
	for _, column := range []string{"chunk_id", "file_path", "content", "created_at"} {
		if !slices.Contains(d.columns, column) {
			return fmt.Errorf("%w: there is no chunks.%s in it", ErrNoDatabase, column)
		}
	}
	if !slices.Contains(d.columns, "role") && !slices.Contains(d.columns, "scope") {
		return fmt.Errorf("%w: chunks has neither role nor scope, so nothing says who may see what", ErrNoDatabase)
	}
	return nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("read it: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("copy it: %w", err)
	}
	n, err := io.Copy(out, io.LimitReader(in, maxDatabase+1))
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy it: %w", err)
	}
	if n > maxDatabase {
		return fmt.Errorf("it is larger than %d GB: index the documents themselves", maxDatabase>>30)
	}
	return nil
}

// Close closes the database and deletes the copy.
func (d *Database) Close() error {
	var err error
	if d.db != nil {
		err = d.db.Close()
	}
	return errors.Join(err, os.RemoveAll(d.folder))
}

// text returns an SQL expression for the value of the first of these columns that exists and is not empty. Versions of the first multis had
// different columns.
func (d *Database) text(columns ...string) string {
	all := []string{"coalesce("}
	for _, c := range columns {
		if slices.Contains(d.columns, c) {
			all = append(all, "nullif(cast("+c+" as text), ''), ")
		}
	}
	return strings.Join(append(all, "'', '')"), "")
}

// notesCondition returns an SQL condition for the rows that are notes of a conversation: all rows of contacts, and the
// owner's rows that are marked as such.
func (d *Database) notesCondition() string {
	return d.text("role", "scope") + " like 'user:%' or " + d.text("type", "document_type") + " in ('conv', 'conversation') or " +
		d.text("element", "element_type") + " in ('chat', 'memory_summary')"
}

// Notes returns the notes of each chat in the database. Many of them are also in the chat's memory.md, with the same time and text.
func (d *Database) Notes(ctx context.Context) ([]Chat, error) {
	rows, err := d.db.QueryContext(ctx, "select chunk_id, "+d.text("role", "scope")+", "+d.text("content")+", "+d.text("created_at")+ //nolint:gosec // the names of columns are ours
		" from chunks where "+d.notesCondition()+" order by 2, created_at, rowid")
	if err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	defer rows.Close()
	var chats []Chat
	for rows.Next() {
		var name, role, content, created string
		if err := rows.Scan(&name, &role, &content, &created); err != nil {
			return nil, fmt.Errorf("read notes: %w", err)
		}
		at, ok := readTime(created)
		if !ok {
			return nil, fmt.Errorf("%s: there is no such time: %q", name, created)
		}
		notes, err := Notes(name, "## "+at.Format(time.RFC3339Nano)+"\n"+content)
		if err != nil {
			return nil, err
		}
		id, contact := strings.CutPrefix(role, "user:")
		if !contact {
			id = ownerChat
		}
		if len(chats) == 0 || chats[len(chats)-1].ID != id {
			chats = append(chats, Chat{ID: id, Name: id, Owner: !contact})
		}
		last := &chats[len(chats)-1]
		last.Notes = append(last.Notes, notes...)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	return chats, nil
}

// Documents iterates over the indexed files. A file that was indexed for the owner and for customers comes twice, the owner's first.
func (d *Database) Documents(ctx context.Context) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		uses, err := d.uses(ctx)
		if err != nil {
			yield(Document{}, err)
			return
		}
		public := d.text("role", "scope") + " in ('kb', 'public')"
		rows, err := d.db.QueryContext(ctx, "select chunk_id, file_path, "+public+", "+d.text("element", "document_type")+", "+d.text("section_path")+", "+ //nolint:gosec // the names of columns are ours
			d.text("page_start")+", "+d.text("page_end")+", "+d.text("content")+" from chunks where not ("+d.notesCondition()+
			") order by file_path, 3, rowid")
		if err != nil {
			yield(Document{}, fmt.Errorf("read documents: %w", err))
			return
		}
		defer rows.Close()
		var doc Document
		for rows.Next() {
			var id, headings, from, to string
			var next Document
			var p Passage
			if err := rows.Scan(&id, &next.Path, &next.Public, &next.Format, &headings, &from, &to, &p.Text); err != nil {
				yield(Document{}, fmt.Errorf("read documents: %w", err))
				return
			}
			p.Used, p.Headings = uses[id], headingsOf(headings)
			p.PageFrom, _ = strconv.Atoi(from) // 0 without a number
			p.PageTo, _ = strconv.Atoi(to)
			if next.Path != doc.Path || next.Public != doc.Public {
				if len(doc.Passages) > 0 && !yield(doc, nil) {
					return
				}
				doc = next
			}
			doc.Passages = append(doc.Passages, p)
		}
		if err := rows.Err(); err != nil {
			yield(Document{}, fmt.Errorf("read documents: %w", err))
			return
		}
		if len(doc.Passages) > 0 {
			yield(doc, nil)
		}
	}
}

// headingsOf parses a JSON list of headings. Any other text is one heading.
func headingsOf(text string) []string {
	var list []string
	if json.Unmarshal([]byte(text), &list) != nil && text != "" {
		return []string{text}
	}
	return list
}

// uses returns the uses of passages by passage id, from the table access_history. It is empty if there is no such table.
// Times that cannot be parsed are skipped.
func (d *Database) uses(ctx context.Context) (map[string]Uses, error) {
	there, err := queryStrings(ctx, d.db, "select name from sqlite_schema where type = 'table' and name = 'access_history'")
	if err != nil {
		return nil, err
	}
	if len(there) == 0 {
		return map[string]Uses{}, nil
	}
	rows, err := d.db.QueryContext(ctx,
		"select cast(chunk_id as text), cast(accessed_at as text) from access_history where accessed_at is not null order by accessed_at desc")
	if err != nil {
		return nil, fmt.Errorf("read what was used: %w", err)
	}
	defer rows.Close()
	all := map[string]Uses{}
	for rows.Next() {
		var id, accessed string
		if err := rows.Scan(&id, &accessed); err != nil {
			return nil, fmt.Errorf("read what was used: %w", err)
		}
		if at, ok := readTime(accessed); ok {
			u := all[id]
			u.Count, u.First = u.Count+1, at
			if len(u.Newest) < maxRecentUses {
				u.Newest = append(u.Newest, at)
			}
			all[id] = u
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what was used: %w", err)
	}
	return all, nil
}

// readTime parses a time as JavaScript or SQLite writes it. SQLite's is in UTC.
func readTime(text string) (time.Time, bool) {
	for _, form := range []string{time.RFC3339, time.DateTime} {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func queryStrings(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
