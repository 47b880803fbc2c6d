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
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/rs/zerolog"
	"golang.org/x/term"

	"multis/config"
	"multis/internal/sleep"
	"multis/internal/text"
	"multis/knowledge"
	"multis/policy"
	"multis/store"
)

// readCmd is the reader process that multis starts for each document.
type readCmd struct{}

// Run reads the document on standard input.
func (readCmd) Run(ctx context.Context, _ *cli) error {
	return knowledge.Serve(ctx, os.Stdin, os.Stdout)
}

// openLibrary opens the library of documents. Each file is read in a process of its own, which is this program with another command.
func openLibrary(cfg *config.Config, st *store.Store) (*knowledge.Library, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cache := filepath.Join(cfg.Database.DataDir, "cache", "pdfium")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, fmt.Errorf("make the cache folder of the PDF engine: %w", err)
	}
	return knowledge.Open(st, knowledge.Options{
		Reader: []string{program, "read-document"}, CacheDir: cache, UnidocKey: cfg.Documents.UnidocKey.Value(), Folder: cfg.Documents.Folder,
		Vectors: cfg.Embeddings.Model != config.NoModel,
	}), nil
}

// engineDelay is how long after the start the PDF engine is compiled, which takes seconds: other things are more urgent at first.
const engineDelay = 2 * time.Minute

// compileEngine compiles the PDF engine a while after the start.
func compileEngine(ctx context.Context, library *knowledge.Library) error {
	if err := sleep.For(ctx, engineDelay); err != nil {
		return nil //nolint:nilerr // multis ends
	}
	if err := library.CompileEngine(ctx); err != nil && ctx.Err() == nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot compile the PDF engine ahead; the first PDF will wait for it")
	}
	return nil
}

// checkProgram returns an error if the user that root became cannot run this program, which reads documents in a process of its own.
func checkProgram() error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	const run = 1
	if err := syscall.Access(program, run); err != nil {
		return fmt.Errorf("the user who runs multis cannot run %s: %w; copy it (install -m 755 %[1]s /usr/local/bin/) and run that", program, err)
	}
	return nil
}

// indexCmd indexes documents from the command line.
type indexCmd struct {
	Role    string   `required:"" enum:"public,kb,admin" placeholder:"public|admin" help:"Who may see them: public (or kb), for answers to customers, or admin, only for you."`
	Sources []string `arg:"" name:"what" help:"Files, folders, patterns such as 'contracts/*.pdf', and addresses of pages."`
}

// Run indexes all named documents and prints the outcomes. Its error says how many were not indexed.
func (c indexCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	if err := checkProgram(); err != nil {
		return err
	}
	library, err := openLibrary(cfg, st)
	if err != nil {
		return err
	}
	return indexDocuments(ctx, library, c.role(), c.Sources, newProgress())
}

// role returns who may see the documents. "kb" is the former name of public, in the first version of multis.
func (c indexCmd) role() policy.Role {
	if c.Role == "kb" {
		return policy.RolePublic
	}
	return policy.Role(c.Role)
}

// parallelDocuments is how many documents are indexed at the same time. It is the same number in the admin room.
const parallelDocuments = 2

// indexDocuments indexes the named documents and prints the outcome of each, in the order of the names. It continues
// after a document that does not exist or cannot be read.
func indexDocuments(ctx context.Context, library *knowledge.Library, role policy.Role, names []string, p *progress) error {
	sources, requestedAt := findAllDocuments(names, library.Folder()), time.Now()
	for i := range sources {
		sources[i].Role, sources[i].RoleSetAt = role, requestedAt
		sources[i].Progress = func(done, total int) { p.updateDocument(i, done, total) }
	}
	finished := 0
	startNext := func() {
		if finished < len(sources) {
			p.startDocument(finished, len(sources), sourceName(sources[finished]))
		}
	}
	startNext()
	outcomes := library.IndexAll(ctx, sources, knowledge.Batch{Parallel: parallelDocuments, Finished: func(i int, o knowledge.Outcome) {
		if ctx.Err() != nil {
			return
		}
		p.printLine(outcomeLine(sourceName(sources[i]), o))
		finished++
		startNext()
	}})
	if ctx.Err() != nil {
		p.printLine("")
		return fmt.Errorf("stopped after %d of %d; run the command again to index the rest: %w", finished, len(sources), ctx.Err())
	}
	return summarize(sources, outcomes, role, p)
}

// summarize prints how many documents are indexed and which of them stayed private. Its error says how many are not indexed.
func summarize(sources []knowledge.Source, outcomes []knowledge.Outcome, role policy.Role, p *progress) error {
	failed, passages := 0, 0
	var leftPrivate []string
	for i, o := range outcomes {
		switch {
		case o.Err != nil:
			failed++
		case o.StayedPrivate(role):
			leftPrivate = append(leftPrivate, sourceName(sources[i]))
		default:
			passages += o.Report.Chunks
		}
	}
	total := text.Count(len(sources), "document")
	if indexed := len(sources) - failed - len(leftPrivate); indexed > 0 {
		p.printLine(fmt.Sprintf("%d of %s, %s, %s. Ask about them in the admin room; /docs lists them.", indexed, total,
			text.Count(passages, "passage"), role))
	}
	if len(leftPrivate) > 0 {
		p.printLine("Left private (admin): " + strings.Join(leftPrivate, ", ") + ". To make one public, name the file itself.")
	}
	if failed > 0 {
		return fmt.Errorf("not indexed: %d of %s", failed, total)
	}
	return nil
}

var errEmptyName = errors.New("the name is empty; write . for the current folder")

// findAllDocuments lists the documents that the names refer to, each once.
func findAllDocuments(names []string, documents string) []knowledge.Source {
	var sources []knowledge.Source
	position := map[string]int{} // the index of each origin in sources
	for _, name := range names {
		found, err := findDocuments(name, documents)
		if err != nil {
			found = []knowledge.Source{{File: knowledge.File{Origin: name}, Err: err}}
		}
		for _, s := range found {
			i, known := position[s.Origin]
			if !known {
				position[s.Origin] = len(sources)
				sources = append(sources, s)
				continue
			}
			sources[i].FoundInBulk = sources[i].FoundInBulk && s.FoundInBulk
		}
	}
	return sources
}

// findDocuments lists the documents that a name on the command line refers to. A file in the documents folder has the
// same origin as in the admin room, so that both index the same document. The origin of another file is its absolute
// path.
func findDocuments(name, documents string) ([]knowledge.Source, error) {
	if name == "" { // probably an unset variable in a script; filepath.Abs would return the working directory
		return nil, errEmptyName
	}
	if knowledge.IsAddress(name) {
		return []knowledge.Source{{File: knowledge.File{Origin: name, Name: knowledge.AddressName(name)}}}, nil
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("resolve the path: %w", err)
	}
	folder, pattern := splitPath(full)
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := knowledge.Files(root.FS(), pattern)
	if err != nil {
		return nil, err
	}
	sources := make([]knowledge.Source, len(files))
	for i, file := range files {
		sources[i] = knowledge.Source{
			File:   knowledge.File{Name: path.Base(file), Origin: originOf(filepath.Join(folder, file), documents), FoundInBulk: file != pattern},
			Folder: folder, Path: file,
		}
	}
	return sources, nil
}

// splitPath splits a path into an existing folder, with links resolved, and a pattern below it: a file name, a pattern, or "." for
// the folder itself.
func splitPath(full string) (folder, pattern string) {
	if target, err := filepath.EvalSymlinks(full); err == nil {
		if info, err := os.Stat(target); err == nil && info.IsDir() {
			return target, "."
		}
		return filepath.Dir(target), filepath.Base(target)
	}
	if base, pattern := doublestar.SplitPattern(filepath.ToSlash(full)); base != filepath.ToSlash(full) {
		return base, pattern
	}
	return filepath.Dir(full), filepath.Base(full)
}

// originOf returns the origin of a file: its path below the documents folder or, outside of it, its absolute path.
func originOf(path, documents string) string {
	if relative, err := filepath.Rel(documents, path); err == nil && filepath.IsLocal(relative) {
		return filepath.ToSlash(relative)
	}
	return path
}

// sourceName returns the name of a document in printed lines.
func sourceName(s knowledge.Source) string { return cmp.Or(s.Path, s.Name, s.Origin, `""`) }

// plainPathError removes the path from an error, because the printed line already begins with it.
func plainPathError(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// outcomeLine formats the outcome of indexing one document as a line.
func outcomeLine(name string, o knowledge.Outcome) string {
	if o.Err != nil {
		return name + ": not indexed: " + plainPathError(o.Err).Error()
	}
	r := o.Report
	line := name + ": " + text.Count(r.Chunks, "passage")
	if r.Pages > 0 {
		line += " of " + text.Count(r.Pages, "page")
	}
	if r.Unchanged {
		line += ", unchanged"
	}
	return strings.Join(append([]string{line}, r.Notes...), "\n  ")
}

// progress prints lines and, on a terminal, a progress bar below them.
type progress struct {
	lines, bar io.Writer // bar is nil without a terminal

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

// startDocument draws the bar for the next document. done is how many documents are finished.
func (p *progress) startDocument(done, total int, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
	p.total = total
	p.name = knowledge.PrintableLine(name)
	p.draw(0, "")
}

// updateDocument redraws the bar with the progress of document i, but only if i is the next document to be finished.
func (p *progress) updateDocument(i, pages, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i == p.done && p.total > 0 {
		p.draw(float64(pages)/float64(total), fmt.Sprintf(", page %d of %d", pages, total))
	}
}

// barWidth is the number of characters of a full bar.
const barWidth = 20

// Control sequences that switch line wrapping off and on. A wrapped bar could not be cleared.
const (
	wrapOff = "\x1b[?7l"
	wrapOn  = "\x1b[?7h"
)

// draw draws the bar. part is the finished part of the current document, from 0 to 1.
func (p *progress) draw(part float64, detail string) {
	if p.bar == nil {
		return
	}
	full := int(barWidth * (float64(p.done) + part) / float64(p.total))
	fmt.Fprintf(p.bar, "%s%s[%s%s] %d of %d%s: %s%s", clearLine, wrapOff, strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		p.done+1, p.total, detail, p.name, wrapOn)
}

// printLine clears the bar and then prints a line, unless the line is empty.
func (p *progress) printLine(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		fmt.Fprint(p.bar, clearLine)
	}
	if line != "" {
		fmt.Fprintln(p.lines, knowledge.PrintableLine(line))
	}
}
