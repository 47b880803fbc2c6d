package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/term"

	"multis/config"
	"multis/knowledge"
	"multis/policy"
	"multis/store"
)

// readCmd is the process in which one document is read. multis starts it by itself.
type readCmd struct{}

// Run reads the document on standard input.
func (readCmd) Run(ctx context.Context) error { return knowledge.Serve(ctx, os.Stdin, os.Stdout) }

// openLibrary opens the documents. Each file is read by a process of its own, which is this program again.
func openLibrary(cfg *config.Config, st *store.Store) (*knowledge.Library, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cache := filepath.Join(cfg.Database.DataDir, "cache", "pdfium")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make a place for the PDF engine: %w", err)
	}
	return knowledge.Open(st, knowledge.Options{
		Reader: []string{program, "read-document"}, CacheDir: cache, UnidocKey: cfg.Documents.UnidocKey.Value(),
		Vectors: cfg.Embeddings.Model != config.NoModel,
	}), nil
}

// indexCmd indexes documents without the admin room.
type indexCmd struct {
	Role string   `required:"" enum:"public,kb,admin" placeholder:"public|admin" help:"Who may see them: public (or kb), for answers to customers, or admin, for you alone."`
	What []string `arg:"" name:"what" help:"Files, folders, patterns such as 'contracts/*.pdf', and addresses of pages."`
}

// Run indexes everything named and tells what became of it. Its error says how much was not indexed.
func (c indexCmd) Run(ctx context.Context, all *cli) error {
	cfg, st, closeDB, err := open(ctx, all.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	library, err := openLibrary(cfg, st)
	if err != nil {
		return err
	}
	return indexAll(ctx, library, cfg.Documents.Folder, c.role(), c.What, newProgress())
}

// role is who may see them. The first multis said kb for public.
func (c indexCmd) role() policy.Role {
	if c.Role == "kb" {
		return policy.Public
	}
	return policy.Role(c.Role)
}

// wanted is one document to be indexed.
type wanted struct {
	origin string
	folder string // where the file is; empty for a page
	file   string // below folder
	swept  bool   // it was found in a folder or by a pattern, and not named by itself
	absent error  // why nothing was found under a name, which then is the origin
}

// indexedAtOnce is how many documents are read and written side by side, as many as the admin room's.
const indexedAtOnce = 2

// indexed is what became of one document.
type indexed struct {
	report knowledge.Report
	err    error
}

// indexAll indexes what is named, and goes on after one that is not there or cannot be read. It tells of each in the order in
// which they were named.
func indexAll(ctx context.Context, library *knowledge.Library, documents string, role policy.Role, what []string, p *progress) error {
	list := findAll(what, documents)
	done := make([]chan indexed, len(list))
	for i := range done {
		done[i] = make(chan indexed, 1)
	}
	var taken atomic.Int64
	var working sync.WaitGroup
	defer working.Wait()
	for range indexedAtOnce {
		working.Go(func() {
			for {
				i := int(taken.Add(1)) - 1
				if i >= len(list) || ctx.Err() != nil {
					return
				}
				report, err := list[i].index(ctx, library, role, func(done, all int) { p.page(i, done, all) })
				done[i] <- indexed{report, err}
			}
		})
	}
	return tellAll(ctx, list, done, role, p)
}

// tellAll tells what became of each document as soon as that is known.
func tellAll(ctx context.Context, list []wanted, done []chan indexed, role policy.Role, p *progress) error {
	failed, passages := 0, 0
	var left []string // private
	for i, w := range list {
		p.begin(i, len(list), w.name())
		var it indexed
		select {
		case it = <-done[i]:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			p.end("")
			return fmt.Errorf("stopped after %d of %d; what was indexed is no work the next time: %w", i, len(list), ctx.Err())
		}
		p.end(outcome(w.name(), it.report, it.err))
		switch {
		case it.err != nil:
			failed++
		case role == policy.Public && it.report.Role == policy.Admin:
			left = append(left, w.name())
		default:
			passages += it.report.Chunks
		}
	}
	if done := len(list) - failed - len(left); done > 0 {
		p.end(fmt.Sprintf("%d of %s, %s, %s. Ask about them in the admin room; /docs lists them.", done, count(len(list), "document"), count(passages, "passage"), role))
	}
	if len(left) > 0 {
		p.end("Left private (admin): " + strings.Join(left, ", ") + ". To make one public, name the file itself.")
	}
	if failed > 0 {
		return fmt.Errorf("not indexed: %d of %s", failed, count(len(list), "document"))
	}
	return nil
}

var errNoName = errors.New("it has no name; write . for the folder you are in")

// findAll lists what all names mean, each document once.
func findAll(what []string, documents string) []wanted {
	var list []wanted
	place := map[string]int{}
	for _, name := range what {
		found, err := find(name, documents)
		if err != nil {
			found = []wanted{{origin: name, absent: err}}
		}
		for _, w := range found {
			i, known := place[w.origin]
			if !known {
				place[w.origin] = len(list)
				list = append(list, w)
				continue
			}
			list[i].swept = list[i].swept && w.swept
		}
	}
	return list
}

// find lists what a name on the command line means. A file of the documents folder keeps the origin it has in the admin
// room, so that both index the same document; others go by their whole path.
func find(name, documents string) ([]wanted, error) {
	if name == "" { // of a script's variable that was not set, and the folder we are in for a computer
		return nil, errNoName
	}
	if knowledge.IsAddress(name) {
		return []wanted{{origin: name}}, nil
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("find it: %w", err)
	}
	folder, where := filepath.Dir(full), filepath.Base(full)
	if target, err := filepath.EvalSymlinks(full); err == nil {
		folder, where = filepath.Dir(target), filepath.Base(target)
		if info, err := os.Stat(target); err == nil && info.IsDir() {
			folder, where = target, "."
		}
	} else if from, pattern := doublestar.SplitPattern(filepath.ToSlash(full)); from != filepath.ToSlash(full) {
		folder, where = from, pattern
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, plainPathError(err)
	}
	defer root.Close()
	files, err := knowledge.Files(root.FS(), where)
	if err != nil {
		return nil, plainPathError(err)
	}
	var list []wanted
	for _, file := range files {
		list = append(list, wanted{origin: originOf(filepath.Join(folder, file), documents), folder: folder, file: file, swept: file != where})
	}
	return list, nil
}

// originOf is what a file is known by: its place in the documents folder, or its whole path.
func originOf(path, documents string) string {
	if inside, err := filepath.Rel(documents, path); err == nil && filepath.IsLocal(inside) {
		return filepath.ToSlash(inside)
	}
	return path
}

func (w wanted) name() string {
	switch {
	case w.absent != nil:
		return cmp.Or(w.origin, `""`)
	case w.folder == "":
		return knowledge.AddressName(w.origin)
	default:
		return w.file
	}
}

func (w wanted) index(ctx context.Context, library *knowledge.Library, role policy.Role, page func(done, all int)) (knowledge.Report, error) {
	if w.absent != nil {
		return knowledge.Report{}, w.absent
	}
	if w.folder == "" {
		report, err := library.IndexAddress(ctx, knowledge.File{Origin: w.origin, Role: role, Said: time.Now(), Progress: page})
		return report, unnamed(err)
	}
	root, err := os.OpenRoot(w.folder)
	if err != nil {
		return knowledge.Report{}, plainPathError(err)
	}
	defer root.Close()
	data, err := knowledge.ReadFile(root, w.file)
	if err != nil {
		return knowledge.Report{}, plainPathError(err)
	}
	report, err := library.Index(ctx, knowledge.File{Name: path.Base(w.file), Origin: w.origin, Data: data, Role: role, Said: time.Now(), Swept: w.swept, Progress: page})
	return report, unnamed(err)
}

// unnamed is an error of the library without the file's name, which the line begins with.
func unnamed(err error) error { return cmp.Or(errors.Unwrap(err), err) }

// plainPathError leaves out the path, which the sentence begins with.
func plainPathError(err error) error {
	if onDisk, ok := errors.AsType[*fs.PathError](err); ok {
		return onDisk.Err
	}
	return err
}

// outcome says in one line what became of one document.
func outcome(name string, r knowledge.Report, err error) string {
	if err != nil {
		return name + ": not indexed: " + err.Error()
	}
	line := name + ": " + count(r.Chunks, "passage")
	if r.Pages > 0 {
		line += " of " + count(r.Pages, "page")
	}
	if len(r.Blank) > 0 {
		line += "; no text layer (a scan, or nothing on it): page " + strings.ReplaceAll(strings.Trim(fmt.Sprint(r.Blank), "[]"), " ", ", ")
	}
	if r.Unchanged {
		line += ", unchanged"
	}
	return line
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// progress shows lines, and below them on a terminal how far the work is.
type progress struct {
	lines, bar io.Writer // bar is nil where nobody watches

	mu          sync.Mutex
	done, total int
	name        string
}

func newProgress() *progress {
	p := &progress{lines: os.Stdout}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		p.bar = os.Stderr
	}
	return p
}

func (p *progress) begin(done, total int, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.name = done, total, knowledge.OneLine(name)
	p.draw(0, "")
}

// page tells how far document i is. It is shown of the one that is next to be told of.
func (p *progress) page(i, done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i == p.done && p.total > 0 {
		p.draw(float64(done)/float64(all), fmt.Sprintf(", page %d of %d", done, all))
	}
}

// barWidth is the number of characters of a full bar.
const barWidth = 20

// What a terminal is told so that what is too long for a line of it ends there. The next bar clears one line only.
const (
	cutLines  = "\x1b[?7l"
	wrapLines = "\x1b[?7h"
)

// draw shows the bar, with a part of the document that is next to be told of.
func (p *progress) draw(part float64, detail string) {
	if p.bar == nil {
		return
	}
	full := int(barWidth * (float64(p.done) + part) / float64(p.total))
	fmt.Fprintf(p.bar, "%s%s[%s%s] %d of %d%s: %s%s", clearLine, cutLines, strings.Repeat("#", full), strings.Repeat(".", barWidth-full), p.done+1, p.total, detail, p.name, wrapLines)
}

// end takes the bar away and leaves a line, unless it is empty.
func (p *progress) end(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		fmt.Fprint(p.bar, clearLine)
	}
	if line != "" {
		fmt.Fprintln(p.lines, knowledge.OneLine(line))
	}
}
