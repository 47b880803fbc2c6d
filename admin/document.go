package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"multis/jobs"
	"multis/knowledge"
	"multis/store"
)

// Index reads a document into the library and tells the outcome. last says that no other attempt follows.
func (a *Admin) Index(ctx context.Context, args jobs.IndexArgs, last bool) error {
	file, sent, err := a.readDocument(ctx, args)
	var report knowledge.Report
	if err == nil {
		if report, err = a.Library.Index(ctx, file); err != nil {
			err = cmp.Or(errors.Unwrap(err), err) // without the file's name, which stands in front below
		}
	}
	if err != nil && !last && !forGood(err) {
		return err
	}
	text := outcome(report)
	if err != nil {
		text = "⚠️ **" + esc(file.Name) + "** is not indexed: " + esc(fileTrouble(err)) + "."
	}
	ctx = context.WithoutCancel(ctx)
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		room, err := store.ChatByID(ctx, tx, args.Chat)
		if err != nil {
			return err
		}
		if sent != nil && report.Chunks > 0 {
			if err := a.react(ctx, tx, room, *sent, markDone); err != nil {
				return err
			}
		}
		_, err = a.say(ctx, tx, room, text, nil)
		return err
	})
}

func outcome(r knowledge.Report) string {
	what := "done"
	if r.Unchanged {
		what = "unchanged"
	}
	return fmt.Sprintf("📄 **%s** — %s: %s, %s.", esc(r.Name), what, count(r.Chunks, "passage"), whose(r.Role))
}

// readDocument fetches what is to be indexed. Its name is known even when it cannot be read; sent is the message that
// carried it, nil for a file in the folder.
func (a *Admin) readDocument(ctx context.Context, args jobs.IndexArgs) (file knowledge.File, sent *store.Message, err error) {
	if args.Path != "" {
		file = knowledge.File{Name: path.Base(args.Path), Origin: args.Path, Role: args.Role}
		file.Data, err = a.openDocument(args.Path)
		return file, nil, err
	}
	file = knowledge.File{Name: "The file", Role: args.Role}
	m, err := store.MessageByID(ctx, a.Store.DB(), args.Message)
	if err == nil && m.Attachment == nil || errors.Is(err, store.ErrNotFound) {
		err = errGone
	}
	if err != nil {
		return file, nil, err
	}
	file.Name = m.Attachment.Name
	file.Data, err = a.Files.Download(ctx, *m.Attachment, knowledge.MaxSize)
	return file, &m, err
}

var (
	// errGone: the message was deleted before its file was read.
	errGone = errors.New("the message with it was deleted")
	// errNoFile: there is a folder, or worse, under the name.
	errNoFile = errors.New("it is not a file")
	// errNoFolder: config.yaml names none.
	errNoFolder = errors.New("there is no documents folder")
)

// forGood tells whether another attempt would fail the same way.
func forGood(err error) bool {
	for _, known := range []error{errGone, errNoFile, errNoFolder} {
		if errors.Is(err, known) {
			return true
		}
	}
	var onDisk *fs.PathError
	return knowledge.IsFinal(err) || errors.As(err, &onDisk) || jobs.IsFinal(err)
}

// fileTrouble says in few words why a file could not be taken.
func fileTrouble(err error) string {
	var onDisk *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file in the documents folder"
	case errors.Is(err, fs.ErrPermission):
		return "I may not read it"
	case errors.As(err, &onDisk):
		return onDisk.Err.Error()
	default:
		return err.Error()
	}
}

// statDocument looks at a file of the documents folder. Links that lead out of the folder are not followed.
func (a *Admin) statDocument(where string) (fs.FileInfo, error) {
	root, err := a.documentsRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return regular(root, where)
}

// openDocument reads a file of the documents folder, as far as the library takes it.
func (a *Admin) openDocument(where string) ([]byte, error) {
	root, err := a.documentsRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := regular(root, where); err != nil { // before it is opened: opening a pipe would wait for ever
		return nil, err
	}
	f, err := root.Open(where)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, knowledge.MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return data, nil
}

func (a *Admin) documentsRoot() (*os.Root, error) {
	if a.Rules.Documents == "" {
		return nil, errNoFolder
	}
	root, err := os.OpenRoot(a.Rules.Documents)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoFolder
	}
	if err != nil {
		return nil, fmt.Errorf("open the documents folder: %w", err)
	}
	return root, nil
}

func regular(root *os.Root, where string) (fs.FileInfo, error) {
	info, err := root.Stat(where)
	if err != nil {
		return nil, fmt.Errorf("look at it: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	return info, nil
}

// folderList names some files of the documents folder; empty when there are none.
func (a *Admin) folderList() string {
	entries, err := os.ReadDir(a.Rules.Documents)
	if err != nil {
		return "" // said already, or there is no folder
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && len(names) < pageSize {
			names = append(names, code(e.Name()))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " There: " + strings.Join(names, ", ") + "."
}
