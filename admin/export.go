package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"multis/internal/text"
	"multis/jobs"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// ExportCommands sends the memory of chats as files.
type ExportCommands struct {
	base

	memory *memory.Memory
}

// commands returns the commands about exports.
func (ex *ExportCommands) commands() []command {
	return []command{{
		name: "export", args: "[chat or all]", group: groupMemory, run: ex.ask,
		onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
			return enqueueExport(pick.Asked, chat.ID, "**"+esc(chat.Label())+"**"), nil
		},
		chatHint: func(chatPick) string { return " to get its files" },
		summary:  "messages and notes as files",
		help: "A zip with a folder for each chat: `memory.md` (the notes), `log/2026-11-20.md` (what was said, a day each, `memory.log_retention_days` back) and `profile.json`. " +
			"`/export` gives your own, `/export Ana` a chat's, `/export all` everything. `multis export` on the command line does the same.",
	}}
}

// maxExportBytes is the maximum size of a file that is sent to the room. Homeservers accept 50 MB by default.
const maxExportBytes = 45 << 20

// ask enqueues an export of a chat, of all chats, or of the admin room.
func (ex *ExportCommands) ask(ctx context.Context, r request, args string) (answer, error) {
	switch {
	case args == "":
		return enqueueExport(r.message.ID, r.room.ID, "your own notes and questions"), nil
	case strings.EqualFold(args, "all"):
		return enqueueExport(r.message.ID, 0, "all chats"), nil
	default:
		return ex.chats.withChat(ctx, args, "export", chatPick{Asked: r.message.ID})
	}
}

// enqueueExport enqueues the export that a message asked for.
func enqueueExport(message store.MessageID, chat store.ChatID, what string) answer {
	return answer{text: "📦 I put " + what + " together.", change: func(ctx context.Context, tx store.Tx) error {
		return jobs.Enqueue(ctx, tx, jobs.ExportArgs{MessageID: message, ChatID: chat})
	}}
}

// Export writes the files of a chat, or of all, and sends them to the room where they were asked for. last says that no other attempt
// follows.
func (ex *ExportCommands) Export(ctx context.Context, args jobs.ExportArgs, last bool) error {
	err := ex.build(ctx, args)
	if err == nil || errors.Is(err, store.ErrNotFound) || !last {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	ref := fmt.Sprintf("#%d", args.MessageID)
	zerolog.Ctx(ctx).Err(err).Str("ref", ref).Msg("An export failed")
	return ex.send(ctx, args, outbox.NewNotice(store.Chat{},
		"⚠️ **The export did not work.** The log says why under "+esc(ref)+"; then try again.", outbox.Answer))
}

// build writes the files and sends them.
func (ex *ExportCommands) build(ctx context.Context, args jobs.ExportArgs) error {
	ids := []store.ChatID{args.ChatID}
	if args.ChatID == 0 {
		var err error
		if ids, err = store.AllChats(ctx, ex.store.DB()); err != nil {
			return err
		}
	}
	known, err := store.ChatsByID(ctx, ex.store.DB(), ids)
	if err != nil {
		return err
	}
	var chats []store.Chat
	for _, id := range ids {
		if c, there := known[id]; there && c.Kind != policy.KindSpace {
			chats = append(chats, c)
		}
	}
	var zip strings.Builder
	done, err := ex.memory.Export(ctx, &zip, chats)
	if err != nil {
		return err
	}
	reply := "📦 " + text.Count(done.Chats, "chat") + ": " + text.Count(done.Messages, "message") + " of the last " +
		text.Count(ex.memory.Settings.LogDays, "day") + ", " + text.Count(done.Notes, "note") + "."
	if zip.Len() > maxExportBytes {
		return ex.send(ctx, args, outbox.NewNotice(store.Chat{},
			reply+" That is "+fileSize(int64(zip.Len()))+", too much for a room: `multis export all.zip` writes it to a file.", outbox.Answer))
	}
	message := outbox.Message{
		Purpose: policy.PurposeNotice,
		Text:    reply,
		File: &outbox.File{
			Name: "multis-" + ex.room.now().In(ex.settings.Zone).Format("2006-01-02") + ".zip",
			MIME: "application/zip",
			Data: []byte(zip.String()),
		},
	}
	return ex.send(ctx, args, message)
}

// send sends a message to the room in which the export was asked for.
func (ex *ExportCommands) send(ctx context.Context, args jobs.ExportArgs, message outbox.Message) error {
	m, err := store.MessageByID(ctx, ex.store.DB(), args.MessageID)
	if err != nil {
		return err
	}
	if message.Chat, err = store.ChatByID(ctx, ex.store.DB(), m.ChatID); err != nil {
		return err
	}
	return ex.store.InTx(ctx, func(tx store.Tx) error {
		if _, _, err := ex.room.box.Queue(ctx, tx, message); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}
