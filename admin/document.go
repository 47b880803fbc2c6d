package admin

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"multis/jobs"
	"multis/knowledge"
	"multis/outbox"
	"multis/store"
)

// Index indexes documents and tells the outcome. last says that no other attempt follows.
func (dc *Documents) Index(ctx context.Context, args jobs.IndexArgs, last bool) error {
	progress, err := dc.beginProgress(ctx, args)
	if err != nil {
		return err
	}
	defer progress.end()
	sources, sent := dc.sources(ctx, args)
	outcomes := dc.library.IndexAll(ctx, sources, progress.follow(args.Path, sources))
	shown := progress.end()
	for _, o := range outcomes {
		if !last && o.Err != nil && (ctx.Err() != nil || !o.IsFinal()) {
			return o.Err
		}
	}
	ctx = context.WithoutCancel(ctx)
	return dc.store.InTx(ctx, func(tx store.Tx) error {
		room, err := store.ChatByID(ctx, tx, args.ChatID)
		if err != nil {
			return err
		}
		if sent != nil && outcomes[0].Err == nil {
			if err := dc.room.react(ctx, tx, room, *sent, markDone); err != nil {
				return err
			}
		}
		if err := store.DropSetting(ctx, tx, progress.key); err != nil {
			return err
		}
		letter := outbox.Notice(room, reportOf(args, outcomes), outbox.Answer)
		letter.Replace = shown
		if _, _, err = dc.room.box.Queue(ctx, tx, letter); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}

// sources returns the documents that are to be indexed, at least one. sent is the message with the file, if one was sent.
func (dc *Documents) sources(ctx context.Context, args jobs.IndexArgs) (sources []knowledge.Source, sent *store.Message) {
	switch file := (knowledge.File{Role: args.Role, Said: args.DecidedAt}); {
	case args.Address != "":
		file.Origin, file.Name = args.Address, knowledge.AddressName(args.Address)
		return []knowledge.Source{{File: file}}, nil
	case args.Path != "":
		return dc.fileSources(args.Path, file), nil
	default:
		source, sent := dc.sentSource(ctx, args.MessageID, file)
		return []knowledge.Source{source}, sent
	}
}

// fileSources returns the files that a path in the documents folder means. Those that were indexed before an interruption are
// unchanged the next time.
func (dc *Documents) fileSources(where string, file knowledge.File) []knowledge.Source {
	names, _, err := dc.library.Find(where)
	if err != nil {
		file.Origin, file.Name = where, path.Base(where)
		return []knowledge.Source{{File: file, Err: err}}
	}
	sources := make([]knowledge.Source, len(names))
	for i, name := range names {
		file.Origin, file.Name, file.Swept = name, path.Base(name), name != where
		sources[i] = knowledge.Source{File: file, Folder: dc.library.Folder(), Path: name}
	}
	return sources
}

// errDeleted says that the message with a file was deleted before the file was read.
var errDeleted = errors.New("the message with it was deleted")

// sentSource downloads a file that was sent. Its name is known even when it cannot be downloaded.
func (dc *Documents) sentSource(ctx context.Context, message store.MessageID, file knowledge.File) (knowledge.Source, *store.Message) {
	file.Name = "The file"
	m, err := store.MessageByID(ctx, dc.store.DB(), message)
	if err == nil && m.Attachment == nil || errors.Is(err, store.ErrNotFound) {
		err = jobs.Final(errDeleted)
	}
	if err != nil {
		return knowledge.Source{File: file, Err: err}, nil
	}
	file.Name = m.Attachment.Name
	file.Data, err = dc.files.Download(ctx, *m.Attachment, knowledge.MaxSize)
	return knowledge.Source{File: file, Err: err}, &m
}

// folderList names some files of the documents folder; empty when there are none.
func (dc *Documents) folderList() string {
	root, err := dc.library.OpenFolder()
	if err != nil {
		return "" // said already, or there is no folder
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return ""
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
