package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"multis/knowledge"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/text"
	"multis/transcript"
)

// importCmd imports conversations of other programs, and the documents of the first multis.
type importCmd struct {
	What string `arg:"" name:"path" type:"existingpath" help:"A chat that WhatsApp exported (.txt), or the data folder or documents.db of the first multis."`
	Chat string `help:"The chat it belongs to, by name or number, as multis shows it. Defaults to the one of the same name, else to a new one."`
	Me   string `help:"What you are called in the file. Needed where that is not plain, as in groups."`
}

// Run imports and prints what was imported.
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
	library, err := openLibrary(cfg, st)
	if err != nil {
		return err
	}
	return c.run(ctx, importer{mem: mem, library: library, folder: cfg.Documents.Folder, zone: cfg.TimeZone, say: os.Stderr})
}

// importer is where imported data goes.
type importer struct {
	mem     *memory.Memory
	library *knowledge.Library
	folder  string // of documents
	zone    *time.Location
	say     io.Writer
}

func (c importCmd) run(ctx context.Context, to importer) error {
	info, err := os.Stat(c.What)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	path := c.What
	if info.IsDir() {
		path = filepath.Join(c.What, firstDocuments)
	}
	if _, err := os.Stat(path); err != nil || filepath.Ext(path) != filepath.Ext(firstDocuments) {
		return c.conversations(ctx, to, info, nil)
	}
	db, err := transcript.OpenDatabase(ctx, path)
	if err != nil && info.IsDir() {
		return fmt.Errorf("%s: %w; move it away to import the rest", path, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer db.Close()
	if !info.IsDir() {
		fmt.Fprintf(to.say, "What it holds of conversations comes with the folder, which has their names: multis import %s\n", filepath.Dir(path))
	} else if err := c.conversations(ctx, to, info, db); err != nil {
		return err
	}
	if err := to.documents(ctx, db); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// firstDocuments is the database of the first multis, with the passages of its documents and its notes.
const firstDocuments = "documents.db"

// conversations imports messages and notes. db is nil if there is no documents.db.
func (c importCmd) conversations(ctx context.Context, to importer, info fs.FileInfo, db *transcript.Database) error {
	chats, err := c.read(ctx, to.zone, info, db)
	if err != nil {
		return err
	}
	if c.Chat != "" && len(chats) > 1 {
		return fmt.Errorf("%s holds %d chats: leave --chat out, or name one of its folders", c.What, len(chats))
	}
	for _, from := range chats {
		chat, err := c.into(ctx, to.mem, from)
		if err != nil {
			return fmt.Errorf("%s: %w", from.Name, err)
		}
		done, err := to.mem.Import(ctx, chat, from, c.Me)
		if errors.Is(err, memory.ErrUnknownSender) {
			return fmt.Errorf("%s: %w; say it with --me", from.Name, err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", from.Name, err)
		}
		fmt.Fprintln(to.say, outcomeOf(chat, done)+otherMode(chat, chat.ModeIn(to.mem.Defaults), from.Mode))
	}
	if len(chats) > 0 {
		fmt.Fprintln(to.say, "Ask about it in the admin room, with the name of the chat. It is searchable as soon as multis runs.")
	}
	return nil
}

func (c importCmd) read(ctx context.Context, zone *time.Location, info fs.FileInfo, db *transcript.Database) ([]transcript.Chat, error) {
	if info.IsDir() {
		chats, err := transcript.Folder(os.DirFS(c.What), zone)
		if err != nil && (db == nil || !errors.Is(err, transcript.ErrNoFolder)) {
			return nil, fmt.Errorf("%s: %w", c.What, err)
		}
		if db == nil {
			return chats, nil
		}
		noted, err := db.Remembered(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", firstDocuments, err)
		}
		return together(chats, noted), nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("import: %s is no plain file", c.What)
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

// together adds notes to the chats that they are about.
func together(chats, noted []transcript.Chat) []transcript.Chat {
	for _, more := range noted {
		i := slices.IndexFunc(chats, func(c transcript.Chat) bool { return c.ID == more.ID || c.Owner && more.Owner })
		if i < 0 {
			chats = append(chats, more)
			continue
		}
		chats[i].Notes = append(chats[i].Notes, more.Notes...)
	}
	return chats
}

// documents imports the documents of the first multis: those for customers as public, all others as private.
func (to importer) documents(ctx context.Context, db *transcript.Database) error {
	var done struct{ public, admin, known, failed int }
	for doc, err := range db.Documents(ctx) {
		if err != nil {
			return err
		}
		pieces := knowledge.ImportedDocument{Name: filepath.Base(doc.Path), Origin: originOf(doc.Path, to.folder), Element: cmp.Or(doc.Format, "txt"), Role: policy.Admin}
		if doc.Public {
			pieces.Role = policy.Public
		}
		for _, p := range doc.Passages {
			pieces.List = append(pieces.List, knowledge.ImportedPassage{Headings: p.Headings, PageFrom: p.PageFrom, PageTo: p.PageTo, Text: p.Text, Used: index.Usage(p.Used)})
		}
		report, err := to.library.ImportDocument(ctx, pieces)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			done.failed++
			fmt.Fprintln(to.say, outcomeLine(doc.Path, knowledge.Outcome{Err: cmp.Or(errors.Unwrap(err), err)})) // without the name, which the line begins with
		case report.Unchanged:
			done.known++
		case doc.Public:
			done.public++
		default:
			done.admin++
		}
	}
	line := fmt.Sprintf("Documents: %d public and %d for you alone", done.public, done.admin)
	if done.known > 0 {
		line += fmt.Sprintf(", %d were there", done.known)
	}
	fmt.Fprintln(to.say, line+". Index a file itself to have it read anew, with its pages and lines.")
	if done.failed > 0 {
		return fmt.Errorf("%s not taken in", text.Count(done.failed, "document"))
	}
	return nil
}

// whatsAppName returns the name of the contact, from the name that WhatsApp gave the exported file.
func whatsAppName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, before := range []string{"WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit ", "WhatsApp Chat mit ", "Chat de WhatsApp con ", "Discussion WhatsApp avec ", "Chat WhatsApp con ", "Conversa do WhatsApp com "} {
		if rest, found := strings.CutPrefix(name, before); found {
			return strings.TrimSpace(rest)
		}
	}
	return name
}

// into returns the chat for a conversation: the one given by --chat, else the only one of that name on that network, else a new one. It is an
// error if several chats have the name.
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

// otherMode says that a chat had another mode before; empty if it had not. The mode is never imported, because it could make multis answer.
func otherMode(chat store.Chat, now policy.Mode, was string) string {
	switch {
	case was == "" || chat.Kind == policy.KindAdmin || string(now) == was:
		return ""
	case chat.RoomID == nil && was != string(policy.ModeBusiness) && was != string(policy.ModePersonal):
		return ""
	case chat.RoomID == nil:
		return fmt.Sprintf(" It was %s there; here nothing is sent to it, because no bridge has that chat yet.", was)
	default:
		return fmt.Sprintf(" It was %s there and is %s here; in the admin room, /mode %s %s changes that.", was, now, was, chat.Name)
	}
}

// outcomeOf says what was imported into a chat.
func outcomeOf(chat store.Chat, done memory.Imported) string {
	name := chat.Name
	if chat.Kind == policy.KindAdmin {
		name = "Your own notes"
	}
	text := fmt.Sprintf("%s: %s and %s", name, text.Count(done.Messages, "message"), text.Count(done.Notes, "note"))
	if done.Known > 0 {
		text += fmt.Sprintf(", %d were there", done.Known)
	}
	if done.Old > 0 {
		text += fmt.Sprintf(", %d left out that are older than what is kept (memory.retention_days, memory.admin_retention_days)", done.Old)
	}
	return text + "."
}
