package main

import (
	"archive/zip"
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

	"multis/internal/text"
	"multis/knowledge"
	"multis/memory"
	"multis/memory/transcript"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// importCmd imports conversations from other programs, and the documents of the first version of multis.
type importCmd struct {
	Path string `arg:"" name:"path" help:"A chat that WhatsApp (.txt or .zip) or Telegram (result.json) exported, or the data folder or documents.db of the first multis."`
	Chat string `help:"The chat it belongs to, by name or number, as multis shows it. Defaults to the one of the same name, else to a new one."`
	Me   string `help:"Your name in the file. Needed where it cannot be found out, as in groups."`
}

// Run imports and prints what was imported.
func (c importCmd) Run(ctx context.Context, global *cli) error {
	cfg, st, closeDB, err := open(ctx, global.Config)
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
	return c.run(ctx, importer{
		memory: mem,
		docs:   library,
		folder: cfg.Documents.Folder,
		zone:   cfg.TimeZone,
		out:    os.Stderr,
	})
}

// importer stores imported data.
type importer struct {
	memory *memory.Memory
	docs   *knowledge.Library
	folder string // folder of the documents
	zone   *time.Location
	out    io.Writer
}

func (c importCmd) run(ctx context.Context, im importer) error {
	info, err := os.Stat(c.Path)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	path := c.Path
	if info.IsDir() {
		path = filepath.Join(c.Path, documentsFile)
	}
	if _, err := os.Stat(path); err != nil || filepath.Ext(path) != filepath.Ext(documentsFile) {
		return c.importChats(ctx, im, info, nil)
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
		fmt.Fprintf(im.out, "Only its documents are imported. To import its conversations too, import the folder: multis import %s\n",
			filepath.Dir(path))
	} else if err := c.importChats(ctx, im, info, db); err != nil {
		return err
	}
	if err := im.importDocuments(ctx, db); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// documentsFile is the database of the first version of multis, with the passages of its documents and its notes.
const documentsFile = "documents.db"

// importChats imports messages and notes. db is nil if there is no documents.db.
func (c importCmd) importChats(ctx context.Context, im importer, info fs.FileInfo, db *transcript.Database) error {
	chats, err := c.readChats(ctx, im.zone, info, db)
	if err != nil {
		return err
	}
	if c.Chat != "" && len(chats) > 1 {
		return fmt.Errorf("%s holds %d chats: leave --chat out, or name one of its folders", c.Path, len(chats))
	}
	targets := make([]store.Chat, len(chats))
	for i, imported := range chats { // all are checked before the first is stored
		if targets[i], err = c.targetChat(ctx, im.memory, imported); err != nil {
			return fmt.Errorf("%s: %w", imported.Name, err)
		}
		if err := memory.CheckImport(targets[i], imported, c.Me); err != nil {
			return fmt.Errorf("%s: %w; name yourself with --me", imported.Name, err)
		}
	}
	for i, imported := range chats {
		chat := targets[i]
		if chat.ID == 0 {
			if chat, err = im.memory.ImportedChat(ctx, imported.ID, imported.Name); err != nil {
				return fmt.Errorf("%s: %w", imported.Name, err)
			}
		}
		done, err := im.memory.Import(ctx, chat, imported, c.Me)
		if err != nil {
			return fmt.Errorf("%s: %w", imported.Name, err)
		}
		fmt.Fprintln(im.out, importSummary(chat, done)+formerModeText(chat, chat.ModeIn(im.memory.Defaults), policy.Mode(imported.Mode)))
	}
	if len(chats) > 0 {
		fmt.Fprintln(im.out, "Ask about it in the admin room, with the name of the chat. It is searchable as soon as multis runs.")
	}
	return nil
}

func (c importCmd) readChats(ctx context.Context, zone *time.Location, info fs.FileInfo,
	db *transcript.Database,
) ([]transcript.Chat, error) {
	if info.IsDir() {
		chats, err := transcript.Folder(os.DirFS(c.Path), zone)
		if err != nil && (db == nil || !errors.Is(err, transcript.ErrNoFolder)) {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		if db == nil {
			return chats, nil
		}
		noted, err := db.Notes(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", documentsFile, err)
		}
		return mergeNotes(chats, noted), nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("import: %s is not a plain file", c.Path)
	}
	f, err := os.Open(c.Path)
	if err != nil {
		return nil, fmt.Errorf("import: %w", err)
	}
	defer f.Close()
	switch strings.ToLower(filepath.Ext(c.Path)) {
	case ".json":
		return transcript.Telegram(filepath.Base(c.Path), f, zone)
	case ".zip":
		return c.readZip(f, info.Size(), zone)
	default:
		return c.readWhatsApp(f, zone)
	}
}

// readZip reads the chat in a packed folder, as an iPhone exports it.
func (c importCmd) readZip(f io.ReaderAt, size int64, zone *time.Location) ([]transcript.Chat, error) {
	packed, err := zip.NewReader(f, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	for _, entry := range packed.File {
		if filepath.Ext(entry.Name) != ".txt" {
			continue
		}
		chat, err := entry.Open()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Path, err)
		}
		defer chat.Close()
		return c.readWhatsApp(io.LimitReader(chat, maxPackedChat), zone)
	}
	return nil, fmt.Errorf("%s holds no chat that WhatsApp exported (a .txt file)", c.Path)
}

// maxPackedChat is how much of a packed chat is read, in bytes.
const maxPackedChat = 256 << 20

func (c importCmd) readWhatsApp(f io.Reader, zone *time.Location) ([]transcript.Chat, error) {
	lines, err := transcript.WhatsApp(filepath.Base(c.Path), f, zone)
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s holds no message as WhatsApp exports them: in the chat choose Export chat, Without media", c.Path)
	}
	name := whatsAppName(c.Path)
	return []transcript.Chat{{ID: "whatsapp:" + name, Name: name, Platform: "whatsapp", Lines: lines}}, nil
}

// mergeNotes adds each note to the chat that it is about.
func mergeNotes(chats, noted []transcript.Chat) []transcript.Chat {
	for _, notes := range noted {
		i := slices.IndexFunc(chats, func(c transcript.Chat) bool { return c.ID == notes.ID || c.Owner && notes.Owner })
		if i < 0 {
			chats = append(chats, notes)
			continue
		}
		chats[i].Notes = append(chats[i].Notes, notes.Notes...)
	}
	return chats
}

// importDocuments imports the documents of the first version of multis: those for customers as public, all others as private.
func (im importer) importDocuments(ctx context.Context, db *transcript.Database) error {
	var done struct{ public, admin, known, failed int }
	for doc, err := range db.Documents(ctx) {
		if err != nil {
			return err
		}
		document := knowledge.ImportedDocument{
			Name:   filepath.Base(doc.Path),
			Origin: originOf(doc.Path, im.folder),
			Format: cmp.Or(doc.Format, "txt"),
			Role:   policy.RoleAdmin,
		}
		if doc.Public {
			document.Role = policy.RolePublic
		}
		for _, p := range doc.Passages {
			document.Passages = append(document.Passages, knowledge.ImportedPassage{
				Headings: p.Headings,
				PageFrom: p.PageFrom,
				PageTo:   p.PageTo,
				Text:     p.Text,
				Used:     index.Usage(p.Used),
			})
		}
		report, err := im.docs.ImportDocument(ctx, document)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			done.failed++
			fmt.Fprintln(im.out, outcomeLine(doc.Path, knowledge.Outcome{Err: cmp.Or(errors.Unwrap(err), err)})) // the line already has the name
		case report.Unchanged:
			done.known++
		case doc.Public:
			done.public++
		default:
			done.admin++
		}
	}
	line := fmt.Sprintf("Documents: %d public and %d only for you", done.public, done.admin)
	if done.known > 0 {
		line += fmt.Sprintf(", %d were there", done.known)
	}
	fmt.Fprintln(im.out, line+". Index a file itself to have it read again, with its pages and lines.")
	if done.failed > 0 {
		return fmt.Errorf("%s not imported", text.Count(done.failed, "document"))
	}
	return nil
}

// whatsAppName returns the name of the contact, which is part of the name that WhatsApp gives an exported file.
func whatsAppName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	for _, before := range []string{
		"WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit ", "WhatsApp Chat mit ",
		"Chat de WhatsApp con ", "Discussion WhatsApp avec ", "Chat WhatsApp con ", "Conversa do WhatsApp com ",
	} {
		if rest, found := strings.CutPrefix(name, before); found {
			return strings.TrimSpace(rest)
		}
	}
	return name
}

// targetChat returns the chat into which a conversation is imported: the chat given by --chat, else the only one of that
// name on that network, else one without an id, which is to be created. It returns an error if several chats have the name.
func (c importCmd) targetChat(ctx context.Context, mem *memory.Memory, imported transcript.Chat) (store.Chat, error) {
	if c.Chat != "" {
		found, err := chatsNamed(ctx, mem.Store, []string{c.Chat})
		if err != nil {
			return store.Chat{}, err
		}
		return found[0], nil
	}
	if imported.Owner {
		room, err := store.AdminChat(ctx, mem.Store.DB())
		if errors.Is(err, store.ErrNotFound) {
			return store.Chat{}, errors.New("these are your own notes, and there is no admin room yet: run multis once, then import again")
		}
		return room, err
	}
	all, err := chatsNamed(ctx, mem.Store, nil)
	if err != nil {
		return store.Chat{}, err
	}
	var matches []store.Chat
	for _, chat := range all {
		sameName := strings.EqualFold(chat.Name, imported.Name) && chat.Kind != policy.KindAdmin && chat.Protocol != "import"
		if sameName && (imported.Platform == "" || imported.Platform == "beeper" || strings.EqualFold(chat.Protocol, imported.Platform)) {
			matches = append(matches, chat)
		}
	}
	switch len(matches) {
	case 0:
		return store.Chat{Name: imported.Name}, nil
	case 1:
		return matches[0], nil
	default:
		return store.Chat{}, fmt.Errorf("several chats are called %q: say which with --chat %d or --chat %d", imported.Name, matches[0].ID,
			matches[1].ID)
	}
}

// formerModeText says which mode a chat had in the first version of multis; empty if its mode is the same now, or not
// known. The mode is only shown, never imported, because multis would then answer in chats in which the owner has not
// allowed that here.
func formerModeText(chat store.Chat, mode, former policy.Mode) string {
	switch {
	case !former.Valid() || chat.Kind == policy.KindAdmin || mode == former:
		return ""
	case chat.RoomID == nil && !former.Answers():
		return ""
	case chat.RoomID == nil:
		return fmt.Sprintf(" It was %s there; here nothing is sent to it, because no bridge has that chat yet.", former)
	default:
		return fmt.Sprintf(" It was %s there and is %s here; in the admin room, /mode %s %s changes that.", former, mode, former, chat.Name)
	}
}

// importSummary describes, in a sentence, what was imported into a chat.
func importSummary(chat store.Chat, done memory.Imported) string {
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
