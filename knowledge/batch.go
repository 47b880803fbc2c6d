package knowledge

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"multis/jobs"
	"multis/policy"
)

// Source is a document to index. Its data is given, lies in a file, or is at the address Origin.
type Source struct {
	File
	Folder string // the folder of the file; empty without a file
	Path   string // the file's path below Folder
	Err    error  // why the data could not be read, if it could not. It becomes the Err of the Outcome.
}

// Outcome is the result of indexing one document.
type Outcome struct {
	Origin string // as in the Source; empty for a document that has no place in a folder or on the web
	Name   string
	Report Report
	Err    error // does not name the document
}

// IsPermanent reports whether another attempt at the same document would fail the same way.
func (o Outcome) IsPermanent() bool {
	var onDisk *fs.PathError
	return IsPermanent(o.Err) || errors.As(o.Err, &onDisk) || jobs.IsPermanent(o.Err)
}

// StayedPrivate reports whether a document stayed private although asked is the public role, because the owner had made it private before.
func (o Outcome) StayedPrivate(asked policy.Role) bool {
	return o.Err == nil && asked == policy.RolePublic && o.Report.Role == policy.RoleAdmin
}

// Batch holds the options of IndexAll.
type Batch struct {
	// Parallel is how many documents are indexed at the same time. Defaults to 1.
	Parallel int
	// Started, unless nil, is called before the document of sources[i] is indexed, maybe from several goroutines.
	Started func(i int)
	// Finished, unless nil, is called for each document in the order of the sources, as soon as all before it are finished.
	Finished func(i int, o Outcome)
}

// IndexAll indexes documents and returns the outcome of each, in their order. It goes on after one that cannot be indexed. When ctx
// ends, it begins no further documents; their outcomes have the error of ctx.
func (l *Library) IndexAll(ctx context.Context, sources []Source, b Batch) []Outcome {
	finished := make([]chan Outcome, len(sources))
	for i := range finished {
		finished[i] = make(chan Outcome, 1)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range max(b.Parallel, 1) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(sources); i = int(next.Add(1)) - 1 {
				if b.Started != nil && ctx.Err() == nil {
					b.Started(i)
				}
				finished[i] <- l.indexSource(ctx, sources[i])
			}
		})
	}
	defer workers.Wait()
	outcomes := make([]Outcome, len(sources))
	for i := range outcomes {
		outcomes[i] = <-finished[i]
		if b.Finished != nil {
			b.Finished(i, outcomes[i])
		}
	}
	return outcomes
}

// indexSource indexes one document.
func (l *Library) indexSource(ctx context.Context, s Source) Outcome {
	o := Outcome{Origin: s.Origin, Name: s.Name, Err: s.Err}
	switch {
	case o.Err != nil:
	case ctx.Err() != nil:
		o.Err = ctx.Err()
	case s.Path != "":
		if s.Data, o.Err = readSource(s); o.Err == nil {
			o.Report, o.Err = l.index(ctx, s.File)
		}
	case IsAddress(s.Origin):
		o.Report, o.Err = l.indexAddress(ctx, s.File)
	default:
		o.Report, o.Err = l.index(ctx, s.File)
	}
	return o
}

// readSource reads the file of a source. Links that lead out of the folder are not followed.
func readSource(s Source) ([]byte, error) {
	root, err := os.OpenRoot(s.Folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return ReadFile(root, s.Path)
}
