package memory

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"multis/bridgebridge"
	"multis/memory/transcript"
	"multis/policy"
	"multis/store"
)

// Exported counts what was exported.
type Exported struct {
	Chats    int
	Messages int
	Notes    int
}

// exportPage is how many messages one query reads.
const exportPage = 1000

// Export writes chats as a zip file, in the format that package transcript reads: for each chat a folder with memory.md, profile.json and
// log/YYYY-MM-DD.md. Days are those of the owner's time zone. The logs go back Settings.LogDays.
func (m *Memory) Export(ctx context.Context, w io.Writer, chats []store.Chat) (Exported, error) {
	var done Exported
	z := zip.NewWriter(w)
	for _, chat := range chats {
		e := exporter{Memory: m, zip: z, chat: chat, folder: folderOf(chat)}
		for _, write := range []func(context.Context) error{e.memory, e.profile, e.log} {
			if err := write(ctx); err != nil {
				return done, fmt.Errorf("export %s: %w", e.folder, err)
			}
		}
		done.Chats++
		done.Messages += e.messages
		done.Notes += e.notes
	}
	if err := z.Close(); err != nil {
		return done, fmt.Errorf("write the zip: %w", err)
	}
	return done, nil
}

// exporter writes the files of one chat.
type exporter struct {
	*Memory
	zip      *zip.Writer
	chat     store.Chat
	folder   string
	messages int
	notes    int
}

func (e *exporter) create(name string) (io.Writer, error) {
	return e.zip.CreateHeader(&zip.FileHeader{Name: e.folder + "/" + name, Method: zip.Deflate, Modified: e.Now()})
}

// memory writes memory.md, with a section for each capture.
func (e *exporter) memory(ctx context.Context) error {
	var sections []store.Section
	err := e.Store.AsOwner(ctx, scopeOf(e.chat), func(tx store.Tx) (err error) {
		sections, err = store.Sections(ctx, tx, NotesRole(e.chat))
		return err
	})
	if err != nil {
		return err
	}
	if len(sections) == 0 {
		return nil
	}
	var b strings.Builder
	for _, s := range sections {
		fmt.Fprintf(&b, "## %s\n", s.At.UTC().Format("2006-01-02T15:04:05.000Z"))
		for _, n := range s.Notes {
			fmt.Fprintf(&b, "- %s\n", strings.Join(strings.Fields(NoteText(n)), " "))
			e.notes++
		}
		b.WriteString("\n")
	}
	w, err := e.create("memory.md")
	if err == nil {
		_, err = io.WriteString(w, b.String())
	}
	return err
}

// profile is the content of profile.json.
type profile struct {
	Name       string      `json:"name"`
	Platform   string      `json:"platform"`
	Kind       policy.Kind `json:"kind"`
	Mode       policy.Mode `json:"mode,omitempty"`
	ChatID     string      `json:"chatId"`
	Contact    string      `json:"contact,omitempty"`
	LastActive *time.Time  `json:"lastActive,omitempty"`
}

func (e *exporter) profile(context.Context) error {
	c := e.chat
	p := profile{
		Name:       c.Name,
		Platform:   c.Protocol,
		Kind:       c.Kind,
		ChatID:     c.ChannelID,
		Contact:    c.Contact.String(),
		LastActive: c.LastMessageAt,
	}
	if c.Kind != policy.KindAdmin {
		p.Mode = c.ModeIn(e.Defaults)
	}
	w, err := e.create("profile.json")
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(p)
}

// log writes the messages, a file for each day.
func (e *exporter) log(ctx context.Context) error {
	since := e.midnightDaysAgo(e.Settings.LogDays)
	var w io.Writer
	var day string
	for after := (store.Message{}); ; {
		page, err := store.MessagesOfChat(ctx, e.Store.DB(), e.chat.ID, since, after, exportPage)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		for _, said := range page {
			at := said.At.In(e.Zone)
			if d := at.Format(time.DateOnly); d != day {
				day = d
				if w, err = e.create("log/" + day + ".md"); err != nil {
					return err
				}
			}
			if _, err := io.WriteString(w, transcript.LogEntry(transcript.Line{At: at, Sender: logName(said.Author), Text: said.Body})); err != nil {
				return err
			}
			e.messages++
		}
		after = page[len(page)-1]
	}
}

// logName returns the name that the log has for an author.
func logName(a policy.Author) string {
	switch {
	case a == policy.AuthorMultisOwner, a == policy.AuthorMultisBot:
		return transcript.Assistant
	case a.IsOwner():
		return transcript.Owner
	default:
		return transcript.User
	}
}

// folderOf returns the name of a chat's folder: its name for people, and its id, which makes it unique.
func folderOf(chat store.Chat) string {
	if chat.Kind == policy.KindAdmin {
		return fmt.Sprintf("admin-%d", chat.ID)
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return '-'
		}
	}, strings.TrimSpace(chat.Name))
	if runes := []rune(name); len(runes) > 40 {
		name = string(runes[:40])
	}
	return fmt.Sprintf("%s-%s-%d", strings.Trim(name, "-"), strings.ToLower(bridgebridge.NetworkName(chat.Protocol)), chat.ID)
}
