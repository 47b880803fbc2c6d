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

	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// terminal is the front end of multis chat. It implements what a homeserver does for multis run.
type terminal struct {
	out io.Writer
	// watched says that a person looks at it: with a prompt, and with bold words and code shown as such.
	watched bool
	// keep puts a file that is sent where the person finds it, and says where; nil: it is only named.
	keep func(ctx context.Context, out uuid.UUID, name string) (string, error)

	mu    sync.Mutex
	shown map[uuid.UUID]bool // the outbox rows that were shown
	last  id.EventID         // what was shown last; a reaction or a reply that is typed means it
}

func newTerminal(out io.Writer, watched bool, keep func(context.Context, uuid.UUID, string) (string, error)) *terminal {
	return &terminal{out: out, watched: watched, keep: keep, shown: map[uuid.UUID]bool{}}
}

const (
	clearLine = "\r\x1b[K"
	boldOn    = "\x1b[1m"
	codeOn    = "\x1b[36m"
	styleOff  = "\x1b[0m"
)

// prompt asks for the next line.
func (t *terminal) prompt() { t.draw(clearLine + "> ") }

// draw prints what only a person needs to see.
func (t *terminal) draw(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched {
		fmt.Fprint(t.out, text)
	}
}

// think shows that an answer is being made. The next output replaces it.
func (t *terminal) think() { t.draw("…") }

// Send prints a message, or a reaction as a line of its own. A row that was printed is not printed again, however often it is sent.
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
		return "", jobs.Final(fmt.Errorf("read message: %w", err))
	}
	t.shown[o.ID] = true
	if content.RelatesTo.Key != "" {
		content.Body = content.RelatesTo.Key
	} else {
		t.last = event
	}
	if content.File != "" && t.keep != nil {
		where, err := t.keep(ctx, o.ID, content.File)
		if err != nil {
			where = "could not be saved: " + err.Error()
		}
		content.Body += "\n" + where
	}
	if content.Body != "" {
		shown := "\n" + unmark(content.Body, t.watched) + "\n\n"
		if content.RelatesTo.Key != "" {
			shown = text.Clean(content.Body) + "\n"
		}
		if t.watched {
			shown = clearLine + shown
		}
		fmt.Fprint(t.out, shown)
	}
	return event, nil
}

// typed returns a line as an event of the owner's. An emoji alone is a reaction to the last message, and a line that begins with > replies to
// it.
func (t *terminal) typed(owner id.UserID, line string) *event.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	evt := &event.Event{
		Type: event.EventMessage, ID: id.EventID("$" + uuid.NewString()), RoomID: terminalRoom, Sender: owner, Timestamp: time.Now().UnixMilli(),
	}
	content := &event.MessageEventContent{MsgType: event.MsgText, Body: line}
	reply, replies := strings.CutPrefix(strings.TrimSpace(line), ">")
	switch {
	case t.last != "" && isReaction(line):
		evt.Type = event.EventReaction
		evt.Content.Parsed = &event.ReactionEventContent{RelatesTo: event.RelatesTo{Type: event.RelAnnotation, EventID: t.last, Key: strings.TrimSpace(line)}}
		return evt
	case t.last != "" && replies:
		content.Body, content.RelatesTo = strings.TrimSpace(reply), (&event.RelatesTo{}).SetReplyTo(t.last)
	}
	evt.Content.Parsed = content
	return evt
}

// isReaction reports whether a line is an emoji alone.
func isReaction(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && utf8.RuneCountInString(line) <= 3 && !strings.ContainsFunc(line, func(r rune) bool { return r < 128 && !unicode.IsDigit(r) || unicode.IsLetter(r) }) &&
		strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.So, r) || r == '\u20e3' })
}

// Retract does nothing: printed text cannot be removed.
func (*terminal) Retract(context.Context, store.OutboxMessage) error { return nil }

// Download fails, because without a homeserver there are no files.
func (*terminal) Download(context.Context, store.Attachment, int64) ([]byte, error) {
	return nil, errors.New("there are no attachments in a terminal; name the file's path")
}

// Fetch fails for the same reason.
func (t *terminal) Fetch(ctx context.Context, _ policy.SendAs, file store.Attachment, limit int64, _ io.Writer) error {
	_, err := t.Download(ctx, file, limit)
	return err
}

// KeepFile does nothing, because no files come in.
func (*terminal) KeepFile(context.Context, store.MessageID) error { return nil }

// History does nothing, because a terminal has no history.
func (*terminal) History(context.Context, jobs.HistoryArgs) error { return nil }

// Decrypt does nothing, because nothing is encrypted.
func (*terminal) Decrypt(context.Context, jobs.DecryptArgs) error { return nil }

// MakeAdminRoom does nothing, because the terminal is the admin room.
func (*terminal) MakeAdminRoom(context.Context) error { return nil }

// Describe does nothing, because there are no other rooms.
func (*terminal) Describe(context.Context, id.RoomID) error { return nil }

// Links into a Matrix client lead nowhere here. pointers are those that stand behind a text and only point; of the others the words stay.
var (
	pointers  = regexp.MustCompile(` · said in(?: https://matrix\.to/\S+)+| \(https://matrix\.to/[^)\s]+\)| (?:\(\[[^\]\n]*\]\(https://matrix\.to/[^)\s]*\)\)|· \[[^\]\n]*\]\(https://matrix\.to/[^)\s]*\))`)
	roomLinks = regexp.MustCompile(`\[([^\]\n]*)\]\(https://matrix\.to/[^)\s]*\)`)
)

// emphasis is words between underscores, which a terminal shows without them.
var emphasis = regexp.MustCompile(`^_([^\s_](?:[^_\n]*[^\s_])?)_(?:[^\pL\pN_]|$)`)

// unmark removes the Markdown of bold, emphasis, code, room links and escapes. With styles it shows bold and code in terminal styles.
func unmark(markdown string, styles bool) string {
	var b strings.Builder
	style := func(code string) {
		if styles {
			b.WriteString(code)
		}
	}
	bold := false
	for rest := roomLinks.ReplaceAllString(pointers.ReplaceAllString(text.Clean(markdown), ""), "$1"); rest != ""; {
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

// endsInWord reports whether an underscore after a text would belong to its last word.
func endsInWord(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return last == '_' || unicode.IsLetter(last) || unicode.IsDigit(last)
}

// escapable are the characters that a backslash escapes in Markdown.
const escapable = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// keepHere returns a function that saves a file in the current folder, under a name that is free.
func keepHere(st *store.Store) func(context.Context, uuid.UUID, string) (string, error) {
	return func(ctx context.Context, out uuid.UUID, name string) (string, error) {
		data, err := store.OutboxFile(ctx, st.DB(), out)
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
