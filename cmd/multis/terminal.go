package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// terminal is the front end of multis chat. It has the methods that multis run gets from a homeserver.
type terminal struct {
	out io.Writer
	// interactive is true if a person reads the output: it has a prompt, and styles for bold words and code.
	interactive bool
	// saveFile saves the file of an outbox message and returns a text that says where. If it is nil, only the file's name is shown.
	saveFile func(ctx context.Context, message uuid.UUID, name string) (string, error)

	mu    sync.Mutex
	shown map[uuid.UUID]bool // the outbox messages that were shown
	last  id.EventID         // the last shown message, to which typed reactions and replies refer
}

func newTerminal(out io.Writer, interactive bool, saveFile func(context.Context, uuid.UUID, string) (string, error)) *terminal {
	return &terminal{out: out, interactive: interactive, saveFile: saveFile, shown: map[uuid.UUID]bool{}}
}

const (
	clearLine = "\r\x1b[K"
	boldOn    = "\x1b[1m"
	codeOn    = "\x1b[36m"
	styleOff  = "\x1b[0m"
)

// prompt shows the prompt for the next line.
func (t *terminal) prompt() { t.printInteractive(clearLine + "> ") }

// printInteractive prints a text if the terminal is interactive.
func (t *terminal) printInteractive(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.interactive {
		fmt.Fprint(t.out, text)
	}
}

// showThinking shows that an answer is in progress. The next output replaces it.
func (t *terminal) showThinking() { t.printInteractive("…") }

// Send prints a message, or a reaction as a line of its own. It prints each message once, however often it is sent.
func (t *terminal) Send(ctx context.Context, o store.OutboxMessage, _ id.RoomID) (id.EventID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	event := id.EventID("$" + o.ID.String())
	if t.shown[o.ID] {
		return event, nil
	}
	var content struct {
		Body      string `json:"body"`
		File      string `json:"filename"`
		RelatesTo struct {
			Key string `json:"key"`
		} `json:"m.relates_to"`
	}
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return "", jobs.Permanent(fmt.Errorf("read message: %w", err))
	}
	t.shown[o.ID] = true
	if content.RelatesTo.Key != "" {
		content.Body = content.RelatesTo.Key
	} else {
		t.last = event
	}
	if content.File != "" && t.saveFile != nil {
		saved, err := t.saveFile(ctx, o.ID, content.File)
		if err != nil {
			saved = "could not be saved: " + err.Error()
		}
		content.Body += "\n" + saved
	}
	if content.Body != "" {
		rendered := "\n" + renderMarkdown(content.Body, t.interactive) + "\n\n"
		if content.RelatesTo.Key != "" {
			rendered = text.Clean(content.Body) + "\n"
		}
		if t.interactive {
			rendered = clearLine + rendered
		}
		fmt.Fprint(t.out, rendered)
	}
	return event, nil
}

// newEvent returns a typed line as an event of the owner. A lone emoji is a reaction to the last message; a line that begins with > is a
// reply to it.
func (t *terminal) newEvent(owner id.UserID, line string) *event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	evt := &event.Event{
		Type:      event.EventMessage,
		ID:        id.EventID("$" + uuid.NewString()),
		RoomID:    terminalRoom,
		Sender:    owner,
		Timestamp: time.Now().UnixMilli(),
	}
	content := &event.MessageEventContent{MsgType: event.MsgText, Body: line}
	reply, isReply := strings.CutPrefix(strings.TrimSpace(line), ">")
	switch {
	case t.last != "" && isReaction(line):
		evt.Type = event.EventReaction
		evt.Content.Parsed = &event.ReactionEventContent{RelatesTo: event.RelatesTo{
			Type:    event.RelAnnotation,
			EventID: t.last,
			Key:     strings.TrimSpace(line),
		}}
		return evt
	case t.last != "" && isReply:
		content.Body, content.RelatesTo = strings.TrimSpace(reply), (&event.RelatesTo{}).SetReplyTo(t.last)
	}
	evt.Content.Parsed = content
	return evt
}

// isReaction reports whether a line is a single emoji.
func isReaction(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && utf8.RuneCountInString(line) <= 3 && !strings.ContainsFunc(line, func(r rune) bool {
		return r < 128 && !unicode.IsDigit(r) || unicode.IsLetter(r)
	}) &&
		strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.So, r) || r == '\u20e3' })
}

// Retract does nothing: printed text cannot be removed.
func (*terminal) Retract(context.Context, store.OutboxMessage) error { return nil }

// Download fails, because without a homeserver there are no files.
func (*terminal) Download(context.Context, store.Attachment, int64) ([]byte, error) {
	return nil, errors.New("there are no attachments in a terminal; name the file's path")
}

// Fetch fails as Download does.
func (t *terminal) Fetch(ctx context.Context, _ policy.SendAs, file store.Attachment, limit int64, _ io.Writer) error {
	_, err := t.Download(ctx, file, limit)
	return err
}

// KeepFile does nothing, because a terminal receives no files.
func (*terminal) KeepFile(context.Context, store.MessageID) error { return nil }

// History does nothing, because a terminal has no history.
func (*terminal) History(context.Context, jobs.HistoryArgs) error { return nil }

// Decrypt does nothing, because nothing is encrypted.
func (*terminal) Decrypt(context.Context, jobs.DecryptArgs) error { return nil }

// MakeAdminRoom does nothing, because the terminal is the admin room.
func (*terminal) MakeAdminRoom(context.Context) error { return nil }

// Describe does nothing, because there are no other rooms.
func (*terminal) Describe(context.Context, id.RoomID) error { return nil }

// A terminal cannot open links to Matrix rooms and messages. messageLinks matches links after a text, which are removed
// together with their labels. roomLinks matches all other such links, which are replaced by their labels.
var (
	messageLinks = regexp.MustCompile(` · said in(?: https://matrix\.to/\S+)+| \(https://matrix\.to/[^)\s]+\)| (?:\(\[[^\]\n]*\]\(https://matrix\.to/[^)\s]*\)\)|· \[[^\]\n]*\]\(https://matrix\.to/[^)\s]*\))`)
	roomLinks    = regexp.MustCompile(`\[([^\]\n]*)\]\(https://matrix\.to/[^)\s]*\)`)
)

// emphasis matches words between underscores. A terminal shows them without the underscores.
var emphasis = regexp.MustCompile(`^_([^\s_](?:[^_\n]*[^\s_])?)_(?:[^\pL\pN_]|$)`)

// renderMarkdown removes the Markdown of bold, emphasis, code, room links and escapes. With styles, it shows bold and
// code in terminal styles.
func renderMarkdown(markdown string, styles bool) string {
	var b strings.Builder
	style := func(code string) {
		if styles {
			b.WriteString(code)
		}
	}
	bold := false
	for rest := roomLinks.ReplaceAllString(messageLinks.ReplaceAllString(text.Clean(markdown), ""), "$1"); rest != ""; {
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
		if found := emphasis.FindStringSubmatch(rest); found != nil && !endsInWord(b.String()) {
			rest = found[1] + rest[len(found[1])+2:]
			continue
		}
		if len(rest) > 1 && rest[0] == '\\' && strings.IndexByte(escapable, rest[1]) >= 0 {
			rest = rest[1:]
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	return b.String()
}

// endsInWord reports whether a text ends inside a word, so that an underscore after it belongs to that word.
func endsInWord(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return last == '_' || unicode.IsLetter(last) || unicode.IsDigit(last)
}

// escapable are the characters that a backslash escapes in Markdown.
const escapable = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// saveInWorkingDir returns a function that saves a file in the current folder, under a name that no other file has.
func saveInWorkingDir(st *store.Store) func(context.Context, uuid.UUID, string) (string, error) {
	return func(ctx context.Context, message uuid.UUID, name string) (string, error) {
		data, err := store.OutboxFile(ctx, st.DB(), message)
		if err != nil {
			return "", err
		}
		full, err := filepath.Abs(filepath.Base(name))
		if err != nil {
			return "", fmt.Errorf("find the current folder: %w", err)
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
