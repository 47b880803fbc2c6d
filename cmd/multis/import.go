package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/transcript"
)

// importCmd reads what other programs kept of conversations.
type importCmd struct {
	What string `arg:"" name:"path" type:"existingpath" help:"A chat that WhatsApp exported (.txt), or the data folder of the first multis."`
	Chat string `help:"The chat it belongs to, by name or number, as multis shows it. Defaults to the one of the same name, else to a new one."`
	Me   string `help:"What you are called in the file. Needed where that is not plain, as in groups."`
}

// Run imports, and says what came of it.
func (c importCmd) Run(ctx context.Context, all *cli) error {
	cfg, st, closeDB, err := open(ctx, all.Config)
	if err != nil {
		return err
	}
	defer closeDB()
	mem, err := openMemory(cfg, st)
	if err != nil {
		return err
	}
	return c.run(ctx, mem, cfg.TimeZone, os.Stderr)
}

func (c importCmd) run(ctx context.Context, mem *memory.Memory, zone *time.Location, say io.Writer) error {
	chats, err := c.read(zone)
	if err != nil {
		return err
	}
	if c.Chat != "" && len(chats) > 1 {
		return fmt.Errorf("%s holds %d chats: leave --chat out, or name one of its folders", c.What, len(chats))
	}
	for _, from := range chats {
		chat, err := c.into(ctx, mem, from)
		if err != nil {
			return fmt.Errorf("%s: %w", from.Name, err)
		}
		done, err := mem.Import(ctx, chat, from, c.Me)
		if errors.Is(err, memory.ErrUnknownSender) {
			return fmt.Errorf("%s: %w; say it with --me", from.Name, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", from.Name, err)
		}
		fmt.Fprintln(say, outcomeOf(chat, done))
	}
	if left := leftOut(c.What); left != "" {
		fmt.Fprintln(say, left)
	}
	fmt.Fprintln(say, "Ask about it in the admin room, with the name of the chat. It is searchable as soon as multis runs.")
	return nil
}

func (c importCmd) read(zone *time.Location) ([]transcript.Chat, error) {
	info, err := os.Stat(c.What)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	if left := leftOut(c.What); left != "" && !info.IsDir() {
		return nil, errors.New(left)
	}
	if info.IsDir() {
		chats, err := transcript.Folder(os.DirFS(c.What), zone)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.What, err)
		}
		return chats, nil
	}
	f, err := os.Open(c.What)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	defer f.Close()
	lines, err := transcript.WhatsApp(filepath.Base(c.What), f, zone)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s holds no message as WhatsApp exports them: in the chat choose Export chat, Without media", c.What)
	}
	name := whatsAppName(c.What)
	return []transcript.Chat{{ID: "whatsapp:" + name, Name: name, Platform: "whatsapp", Lines: lines}}, nil
}

// firstDocuments is where the first multis kept its documents: cut into pieces, and without the files themselves.
const firstDocuments = "documents.db"

// leftOut says what of the first multis' data is not read, and what to do about it; empty when there is nothing of the kind. path is
// that file, or the folder that it is in.
func leftOut(path string) string {
	if filepath.Base(path) != firstDocuments {
		path = filepath.Join(path, firstDocuments)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return fmt.Sprintf("Left out: 1 file, %s (%.1f MB). It holds pieces of documents, which answers cannot cite by page: index the documents themselves, "+
		"for customers with `multis index --role public FOLDER`, for you alone with `--role admin`.", path, float64(info.Size())/(1<<20))
}

// whatsAppName is whom a chat is with, told from the names that WhatsApp gives the files it exports.
func whatsAppName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, before := range []string{"WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit ", "WhatsApp Chat mit ", "Chat de WhatsApp con ", "Discussion WhatsApp avec ", "Chat WhatsApp con ", "Conversa do WhatsApp com "} {
		if rest, found := strings.CutPrefix(name, before); found {
			return strings.TrimSpace(rest)
		}
	}
	return name
}

// into finds the chat that a conversation belongs to: the one that was named, else the one that is called so on that network, else one
// of its own. Of several none is guessed.
func (c importCmd) into(ctx context.Context, mem *memory.Memory, from transcript.Chat) (store.Chat, error) {
	if c.Chat != "" {
		found, err := chatsCalled(ctx, mem.Store, []string{c.Chat})
		if err != nil {
			return store.Chat{}, err
		}
		return found[0], nil
	}
	if from.Owner {
		room, err := store.AdminChat(ctx, mem.Store.DB())
		if errors.Is(err, store.ErrNotFound) {
			return store.Chat{}, errors.New("these are your own notes, and there is no admin room yet: run multis once, then import again")
		}
		return room, err
	}
	all, err := chatsCalled(ctx, mem.Store, nil)
	if err != nil {
		return store.Chat{}, err
	}
	var fits []store.Chat
	for _, chat := range all {
		named := strings.EqualFold(chat.Name, from.Name) && chat.Kind != policy.KindAdmin && chat.Protocol != "import"
		if named && (from.Platform == "" || from.Platform == "beeper" || strings.EqualFold(chat.Protocol, from.Platform)) {
			fits = append(fits, chat)
		}
	}
	switch len(fits) {
	case 0:
		return mem.ImportedChat(ctx, from.ID, from.Name)
	case 1:
		return fits[0], nil
	default:
		return store.Chat{}, fmt.Errorf("several chats are called %q: say which with --chat %d or --chat %d", from.Name, fits[0].ID, fits[1].ID)
	}
}

// outcomeOf says what an import brought.
func outcomeOf(chat store.Chat, done memory.Imported) string {
	name := chat.Name
	if chat.Kind == policy.KindAdmin {
		name = "Your own notes"
	}
	text := fmt.Sprintf("%s: %s and %s", name, count(done.Messages, "message"), count(done.Notes, "note"))
	if done.Known > 0 {
		text += fmt.Sprintf(", %d were there", done.Known)
	}
	if done.Old > 0 {
		text += fmt.Sprintf(", %d left out that are older than what is kept (memory.retention_days, memory.admin_retention_days)", done.Old)
	}
	return text + "."
}
