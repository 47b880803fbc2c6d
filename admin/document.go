package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"multis/jobs"
	"multis/knowledge"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Index reads documents into the library and tells the outcome. last says that no other attempt follows.
func (a *Admin) Index(ctx context.Context, args jobs.IndexArgs, last bool) error {
	progress, err := a.beginIndexing(ctx, args)
	if err != nil {
		return err
	}
	defer progress.end()
	told, sent, err := a.indexAll(ctx, args, progress)
	shown := progress.end()
	if err != nil {
		return err
	}
	for _, o := range told {
		if !last && o.err != nil && (ctx.Err() != nil || !forGood(o.err)) {
			return o.err
		}
	}
	ctx = context.WithoutCancel(ctx)
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		room, err := store.ChatByID(ctx, tx, args.Chat)
		if err != nil {
			return err
		}
		if sent != nil && told[0].err == nil {
			if err := a.react(ctx, tx, room, *sent, markDone); err != nil {
				return err
			}
		}
		if err := store.DropSetting(ctx, tx, progress.key); err != nil {
			return err
		}
		letter := outbox.Notice(room, toldOf(args, told), outbox.Answer)
		letter.Replace = shown
		if _, _, err = a.Box.Queue(ctx, tx, letter); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}

// toldOf says what became of the documents.
func toldOf(args jobs.IndexArgs, told []outcome) string {
	text := told[0].sentence()
	if len(told) > 1 {
		text = summary(args.Path, args.Role, told)
	} else if told[0].origin != args.Path && told[0].isLeftPrivate(args.Role) {
		text += "\n" + leftPrivate(args.Role, told)
	}
	if slices.ContainsFunc(told, func(o outcome) bool { return o.err == nil && o.report.Role == policy.Public }) {
		text += madePublic(args)
	}
	return text
}

// indexAll reads the documents that are meant. sent is the message with the file, if one was sent.
func (a *Admin) indexAll(ctx context.Context, args jobs.IndexArgs, progress *indexing) (told []outcome, sent *store.Message, err error) {
	switch {
	case args.Address != "":
		name := knowledge.AddressName(args.Address)
		report, failed := a.Library.IndexAddress(ctx, knowledge.File{Origin: args.Address, Role: args.Role, Said: args.Said, Progress: progress.pages("", name)})
		return []outcome{{args.Address, name, report, unnamed(failed)}}, nil, nil
	case args.Path != "":
		told, err = a.indexFiles(ctx, args, progress)
		return told, nil, err
	default:
		file, sent, err := a.sentDocument(ctx, args)
		file.Progress = progress.pages("", file.Name)
		return []outcome{a.indexOne(ctx, file, err)}, sent, nil
	}
}

// madePublic says how to take back that customers get answers from a document.
func madePublic(args jobs.IndexArgs) string {
	if where := args.Path + args.Address; where != "" {
		return "\nShared by mistake? " + code("/index "+where+" admin") + " makes it private."
	}
	return "\nShared by mistake? Reply `/index admin` to the file to make it private."
}

// indexFiles reads what a path means. Those that were read before an interruption are no work the next time.
func (a *Admin) indexFiles(ctx context.Context, args jobs.IndexArgs, progress *indexing) ([]outcome, error) {
	files, _, err := a.findDocuments(args.Path)
	if err != nil {
		return []outcome{{origin: args.Path, name: path.Base(args.Path), err: err}}, nil
	}
	root, err := a.documentsRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var told []outcome
	for i, name := range files {
		file := knowledge.File{Name: path.Base(name), Origin: name, Role: args.Role, Said: args.Said, Swept: name != args.Path}
		if file.Progress = progress.pages("", file.Name); len(files) > 1 {
			file.Progress = progress.file(args.Path, file.Name, i+1, len(files))
		}
		file.Data, err = knowledge.ReadFile(root, name)
		told = append(told, a.indexOne(ctx, file, err))
		if ctx.Err() != nil {
			break
		}
	}
	return told, nil
}

// indexOne reads one file, unless it could not even be fetched.
func (a *Admin) indexOne(ctx context.Context, file knowledge.File, err error) outcome {
	if err != nil {
		return outcome{origin: file.Origin, name: file.Name, err: err}
	}
	report, err := a.Library.Index(ctx, file)
	return outcome{file.Origin, file.Name, report, unnamed(err)}
}

// unnamed is an error of the library without the file's name, which stands in front of it here.
func unnamed(err error) error { return cmp.Or(errors.Unwrap(err), err) }

// sentDocument fetches a file that was sent. Its name is known even when it cannot be read.
func (a *Admin) sentDocument(ctx context.Context, args jobs.IndexArgs) (file knowledge.File, sent *store.Message, err error) {
	file = knowledge.File{Name: "The file", Role: args.Role, Said: args.Said}
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

// outcome is what became of one document.
type outcome struct {
	origin string // what it is named by in /index; empty for a file that was sent
	name   string
	report knowledge.Report
	err    error
}

func (o outcome) sentence() string {
	if o.err != nil {
		return o.trouble()
	}
	r, what := o.report, "done"
	if r.Unchanged {
		what = "unchanged"
	}
	amount := count(r.Chunks, "passage")
	if r.Pages > 0 {
		amount += " of " + count(r.Pages, "page")
	}
	return fmt.Sprintf("📄 **%s** — %s: %s, %s.", esc(r.Name), what, amount, whose(r.Role)) + blankPages(r.Blank)
}

func (o outcome) trouble() string {
	return "⚠️ **" + esc(o.name) + "** is not indexed: " + esc(fileTrouble(o.err)) + "."
}

// isLeftPrivate reports whether a document was to become public and did not, because it had been made private.
func (o outcome) isLeftPrivate(asked policy.Role) bool {
	return o.err == nil && asked == policy.Public && o.report.Role == policy.Admin
}

// leftPrivate names the documents that stay private; empty when there are none.
func leftPrivate(asked policy.Role, told []outcome) string {
	var names []string
	for _, o := range told {
		if o.isLeftPrivate(asked) {
			names = append(names, code(cmp.Or(o.origin, o.name)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	all := len(names)
	if names = names[:min(all, pageSize)]; len(names) < all {
		names = append(names, count(all-len(names), "other"))
	}
	return fmt.Sprintf("🔒 Left private (only you): %s. To make one public, name it: `/index NAME public`.", list(names))
}

// keeps says that a document was not given the role that was asked for all of them, because another was said of it since.
func (o outcome) keeps() string {
	return "**" + esc(o.name) + "** stays " + whose(o.report.Role) + ", as you said later."
}

// blankPages names the pages that could not be read.
func blankPages(pages []int) string {
	if len(pages) == 0 {
		return ""
	}
	var names []string
	for _, page := range pages[:min(len(pages), pageSize)] {
		names = append(names, strconv.Itoa(page))
	}
	if more := len(pages) - len(names); more > 0 {
		names = append(names, count(more, "other"))
	}
	return fmt.Sprintf(" %s %s %s no text layer (a scan, or nothing on it); I could not read %s.",
		plural(len(pages), "Page", "Pages"), list(names), plural(len(pages), "has", "have"), plural(len(pages), "it", "them"))
}

// summary tells what became of many documents, and names those that were not read or not wholly.
func summary(where string, asked policy.Role, told []outcome) string {
	read, unchanged, passages := 0, 0, 0
	var lines []string
	for _, o := range told {
		switch {
		case o.err != nil:
			lines = append(lines, o.trouble())
			continue
		case o.isLeftPrivate(asked):
			continue
		case o.report.Unchanged:
			unchanged++
		default:
			read++
		}
		if blank := blankPages(o.report.Blank); blank != "" {
			lines = append(lines, "**"+esc(o.name)+"**:"+blank)
		}
		if o.report.Role != asked {
			lines = append(lines, o.keeps())
		}
		passages += o.report.Chunks
	}
	if len(lines) > pageSize {
		lines = append(lines[:pageSize], "and "+count(len(lines)-pageSize, "more line"))
	}
	if left := leftPrivate(asked, told); left != "" {
		lines = append([]string{left}, lines...)
	}
	if read+unchanged == 0 {
		return strings.Join(lines, "\n")
	}
	first := fmt.Sprintf("📄 %s — done: %s, %s, %s.", code(where), count(read+unchanged, "document"), count(passages, "passage"), whose(asked))
	if unchanged > 0 {
		first += fmt.Sprintf(" %d %s unchanged.", unchanged, plural(unchanged, "was", "were"))
	}
	return strings.Join(append([]string{first}, lines...), "\n")
}

var (
	// errGone: the message was deleted before its file was read.
	errGone = errors.New("the message with it was deleted")
	// errNoFolder: config.yaml names none.
	errNoFolder = errors.New("there is no documents folder")
)

// forGood tells whether another attempt would fail the same way.
func forGood(err error) bool {
	for _, known := range []error{errGone, errNoFolder} {
		if errors.Is(err, known) {
			return true
		}
	}
	var onDisk *fs.PathError
	return knowledge.IsFinal(err) || errors.As(err, &onDisk) || jobs.IsFinal(err)
}

// fileTrouble says in few words why a file could not be taken.
func fileTrouble(err error) string {
	err = jobs.Plain(err)
	var onDisk *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file in the documents folder"
	case errors.Is(err, fs.ErrInvalid), errors.As(err, &onDisk) && onDisk.Err.Error() == "path escapes from parent":
		return "it lies outside the documents folder"
	case errors.Is(err, fs.ErrPermission):
		return "I may not read it"
	case errors.As(err, &onDisk):
		return onDisk.Err.Error()
	default:
		return err.Error()
	}
}

// findDocuments lists what a path means in the documents folder, with the size of the first file. Links that lead out of
// the folder are not followed.
func (a *Admin) findDocuments(where string) (files []string, size int64, err error) {
	root, err := a.documentsRoot()
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	if files, err = knowledge.Files(root.FS(), where); err != nil {
		return nil, 0, err
	}
	info, err := root.Stat(files[0])
	if err != nil {
		return nil, 0, fmt.Errorf("look at it: %w", err)
	}
	return files, info.Size(), nil
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

// folderList names some files of the documents folder; empty when there are none.
func (a *Admin) folderList() string {
	entries, err := os.ReadDir(a.Rules.Documents)
	if err != nil {
		return "" // said already, or there is no folder
	}
	var names []string
	for _, e := range entries {
		switch {
		case len(names) == pageSize:
		case e.IsDir():
			names = append(names, code(e.Name()+"/"))
		case e.Type().IsRegular():
			names = append(names, code(e.Name()))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " There: " + strings.Join(names, ", ") + "."
}
