package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// terminal is the homeserver's place taken by a terminal, or by a pipe.
type terminal struct {
	out io.Writer
	// watched says that a person looks at it: with a prompt, and with bold words and code shown as such.
	watched bool
	// keep puts a file that is sent where the person finds it, and says where; nil: it is only named.
	keep func(ctx context.Context, out uuid.UUID, name string) (string, error)
}

const (
	clearLine = "\r\x1b[K"
	boldOn    = "\x1b[1m"
	codeOn    = "\x1b[36m"
	styleOff  = "\x1b[0m"
)

// prompt asks for the next line.
func (t terminal) prompt() {
	if t.watched {
		fmt.Fprint(t.out, clearLine+"> ")
	}
}

// think shows that the answer is being made. The next output takes its place.
func (t terminal) think() {
	if t.watched {
		fmt.Fprint(t.out, "…")
	}
}

// Send shows a message. Reactions have no place in a terminal.
func (t terminal) Send(ctx context.Context, o store.Out, _ id.RoomID) (id.EventID, error) {
	var content struct {
		Body string `json:"body"`
		File string `json:"filename"`
	}
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return "", jobs.Final(fmt.Errorf("read message: %w", err))
	}
	if content.File != "" && t.keep != nil {
		where, err := t.keep(ctx, o.ID, content.File)
		if err != nil {
			where = "could not be saved: " + err.Error()
		}
		content.Body += "\n" + where
	}
	if content.Body != "" {
		text := "\n" + unmark(content.Body, t.watched) + "\n\n"
		if t.watched {
			text = clearLine + text
		}
		fmt.Fprint(t.out, text)
	}
	return id.EventID("$" + o.ID.String()), nil
}

// Retract does nothing: what stands in a terminal stands there.
func (terminal) Retract(context.Context, store.Out) error { return nil }

// Download fails: there are no files to fetch without a homeserver.
func (terminal) Download(context.Context, store.Attachment, int64) ([]byte, error) {
	return nil, errors.New("there are no attachments in a terminal; name the file's path")
}

// Fetch fails for the same reason.
func (t terminal) Fetch(ctx context.Context, _ policy.SendAs, file store.Attachment, limit int64, _ io.Writer) error {
	_, err := t.Download(ctx, file, limit)
	return err
}

// Keep does nothing: nobody sends files to a terminal.
func (terminal) Keep(context.Context, int64) error { return nil }

// History does nothing: a terminal has none.
func (terminal) History(context.Context, jobs.HistoryArgs) error { return nil }

// Decrypt does nothing: nothing is encrypted here.
func (terminal) Decrypt(context.Context, jobs.DecryptArgs) error { return nil }

// MakeAdminRoom does nothing: the terminal is the room.
func (terminal) MakeAdminRoom(context.Context) error { return nil }

// Describe does nothing: there are no rooms to describe.
func (terminal) Describe(context.Context, id.RoomID) error { return nil }

// plain takes out the signs that a terminal obeys: what contacts, pages and models wrote shall only be read.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// unmark takes the marks of Markdown's bold words, code and escapes away; with styles it shows the words in their style instead.
func unmark(markdown string, styles bool) string {
	var b strings.Builder
	style := func(code string) {
		if styles {
			b.WriteString(code)
		}
	}
	bold := false
	for rest := plain(markdown); rest != ""; {
		if after, ok := strings.CutPrefix(rest, "**"); ok && (bold || strings.Contains(after, "**")) {
			bold, rest = !bold, after
			style(map[bool]string{true: boldOn, false: styleOff}[bold])
			continue
		}
		if after, ok := strings.CutPrefix(rest, "`"); ok {
			if code, behind, closed := strings.Cut(after, "`"); closed {
				style(codeOn)
				b.WriteString(code)
				style(styleOff)
				rest = behind
				continue
			}
		}
		if len(rest) > 1 && rest[0] == '\\' && strings.IndexByte(escapable, rest[1]) >= 0 {
			rest = rest[1:]
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	return b.String()
}

// escapable is what may stand behind a backslash in Markdown and then means itself.
const escapable = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// keepHere saves files that are sent into the folder that the terminal is in, under a name that is free.
func keepHere(st *store.Store) func(context.Context, uuid.UUID, string) (string, error) {
	return func(ctx context.Context, out uuid.UUID, name string) (string, error) {
		data, err := store.OutFile(ctx, st.DB(), out)
		if err != nil {
			return "", err
		}
		full, err := filepath.Abs(filepath.Base(name))
		if err != nil {
			return "", fmt.Errorf("find this folder: %w", err)
		}
		ext := filepath.Ext(full)
		for n := 2; ; n++ {
			f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, os.ErrExist) && n < 100 {
				full = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(strings.TrimSuffix(full, ext), fmt.Sprintf("-%d", n-1)), n, ext)
				continue
			}
			if err != nil {
				return "", fmt.Errorf("save the file: %w", err)
			}
			_, err = f.Write(data)
			return "saved as " + full, errors.Join(err, f.Close())
		}
	}
}
