package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/knowledge"
	"multis/outbox"
	"multis/store"
)

// DocumentCommands lists, indexes, removes and watches documents.
type DocumentCommands struct {
	base

	library *knowledge.Library
	files   Files
}

// Index indexes documents and reports the result. last says that no other attempt follows.
func (dc *DocumentCommands) Index(ctx context.Context, args jobs.IndexArgs, last bool) error {
	progress, err := dc.beginProgress(ctx, args)
	if err != nil {
		return err
	}
	defer progress.end()
	sources, sent := dc.sources(ctx, args)
	outcomes := dc.library.IndexAll(ctx, sources, progress.batch(args.Path, sources))
	shown := progress.end()
	for _, o := range outcomes {
		if !last && o.Err != nil && (ctx.Err() != nil || !o.IsPermanent()) {
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
			if err := dc.room.react(ctx, tx, room, *sent, reactionDone); err != nil {
				return err
			}
		}
		if err := store.DropSetting(ctx, tx, progress.key); err != nil {
			return err
		}
		message := outbox.NewNotice(room, indexReport(args, outcomes), outbox.Answer)
		message.Replaces = shown
		if _, _, err = dc.room.box.Queue(ctx, tx, message); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}

// sources returns the documents to index, at least one. sent is the message with the file; nil if no file was sent.
func (dc *DocumentCommands) sources(ctx context.Context, args jobs.IndexArgs) (sources []knowledge.Source, sent *store.Message) {
	switch file := (knowledge.File{Role: args.Role, RoleSetAt: args.RoleSetAt}); {
	case args.Address != "":
		file.Origin, file.Name = args.Address, knowledge.AddressName(args.Address)
		return []knowledge.Source{{File: file}}, nil
	case args.Path != "":
		return dc.fileSources(args.Path, file), nil
	default:
		source, sent := dc.attachmentSource(ctx, args.MessageID, file)
		return []knowledge.Source{source}, sent
	}
}

// fileSources returns the files in the documents folder that a path, folder or pattern matches, or one source with the
// error of the search. A job may index them again, because the library skips unchanged files.
func (dc *DocumentCommands) fileSources(where string, file knowledge.File) []knowledge.Source {
	names, _, err := dc.library.Find(where)
	if err != nil {
		file.Origin, file.Name = where, path.Base(where)
		return []knowledge.Source{{File: file, Err: err}}
	}
	sources := make([]knowledge.Source, len(names))
	for i, name := range names {
		file.Origin = name
		file.Name = path.Base(name)
		file.FoundInBulk = name != where
		sources[i] = knowledge.Source{File: file, Folder: dc.library.Folder(), Path: name}
	}
	return sources
}

// errDeleted says that the message with a file was deleted before the file was read.
var errDeleted = errors.New("the message with it was deleted")

// attachmentSource downloads a file that was sent. The returned source has the file's name even if the download fails.
func (dc *DocumentCommands) attachmentSource(ctx context.Context, message store.MessageID,
	file knowledge.File,
) (knowledge.Source, *store.Message) {
	file.Name = "The file"
	m, err := store.MessageByID(ctx, dc.store.DB(), message)
	if err == nil && m.Attachment == nil || errors.Is(err, store.ErrNotFound) {
		err = jobs.Permanent(errDeleted)
	}
	if err != nil {
		return knowledge.Source{File: file, Err: err}, nil
	}
	file.Name = m.Attachment.Name
	file.Data, err = dc.files.Download(ctx, *m.Attachment, knowledge.MaxSize)
	return knowledge.Source{File: file, Err: err}, &m
}

// beginProgress starts to show the progress of indexing. It reuses the message of an interrupted attempt. The caller must call end.
func (dc *DocumentCommands) beginProgress(ctx context.Context, args jobs.IndexArgs) (*indexProgress, error) {
	room, err := store.ChatByID(ctx, dc.store.DB(), args.ChatID)
	if err != nil {
		return nil, err
	}
	p := &indexProgress{
		key:   store.Setting(fmt.Sprintf("indexing:%d:%d:%s%s", args.ChatID, args.MessageID, args.Path, args.Address)),
		since: dc.room.now(), now: dc.room.now, next: make(chan string, 1),
	}
	var event id.EventID
	if _, err := store.GetSetting(ctx, dc.store.DB(), p.key, &event); err != nil {
		return nil, err
	}
	p.live = dc.room.box.Live(room, event)
	finished := make(chan struct{})
	p.end = sync.OnceValue(func() id.EventID {
		close(p.next)
		<-finished
		return p.live.Event()
	})
	go func() {
		defer close(finished)
		for text := range p.next {
			if !p.live.Show(ctx, text) {
				continue
			}
			if err := store.PutSetting(ctx, dc.store.Writer(), p.key, p.live.Event()); err != nil {
				zerolog.Ctx(ctx).Debug().Err(err).Msg("Cannot store the event of a progress message")
			}
		}
	}()
	return p, nil
}

// folderList names some files in the documents folder; empty when there are none.
func (dc *DocumentCommands) folderList() string {
	root, err := dc.library.OpenFolder()
	if err != nil {
		return "" // there is no folder, or the error was reported already
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
