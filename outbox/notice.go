package outbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"maunium.net/go/mautrix/format"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// NoticeKind says how a letter to an admin room reaches the owner.
type NoticeKind int

const (
	// Quiet is what multis says by itself and needs nobody for: an m.notice, which no client pushes.
	Quiet NoticeKind = iota
	// Answer is what the owner asked for: an m.text.
	Answer
	// Ring is what needs the owner: an m.text that mentions them, so that it is pushed in a room with operators as well.
	Ring
)

// address sets what makes a notice of a kind ring or not. owner is mentioned unless somebody else is.
func (c *content) address(l Letter, owner id.UserID) {
	c.MsgType, c.Mentions = "m.text", &mentions{}
	switch mentioned := cmp.Or(l.Mention, owner); {
	case l.Kind == Quiet:
		c.MsgType = "m.notice"
	case l.Kind == Ring && mentioned != "":
		c.Mentions.Users = []id.UserID{mentioned}
	}
}

// MaxNotice is the length of the longest notice, in characters. With its HTML it stays well below what one event may hold.
const MaxNotice = 8000

// maxRendered is how many bytes a notice may have with its HTML. Matrix allows 65,536 for the whole event.
const maxRendered = 50_000

// Notice is a letter to an admin room, written in Markdown. One of which the markup leaves nothing, or makes too much, goes as it was written.
func Notice(admin store.Chat, markdown string, kind NoticeKind) Letter {
	written := text.Clip(text.Clean(markdown), MaxNotice)
	rendered := format.RenderMarkdown(written, true, false) // raw HTML is escaped
	l := Letter{Chat: admin, Purpose: policy.PurposeNotice, Text: rendered.Body, HTML: rendered.FormattedBody, Kind: kind}
	if strings.TrimSpace(l.Text) == "" || len(l.Text)+len(l.HTML) > maxRendered {
		l.Text, l.HTML = written, ""
	}
	return l
}

// Plain is Markdown as it reads without markup, however long it is.
func Plain(markdown string) string {
	return format.RenderMarkdown(text.Clean(markdown), true, false).Body
}

// cleaned is a letter without the characters that the gate refuses and the secrets of the configuration. It is done once, before anything looks at the text: what is
// checked is what is sent.
func (l Letter) cleaned() Letter {
	l.Text, l.HTML = policy.Hide(text.Clean(l.Text)), policy.Hide(text.Clean(l.HTML))
	if l.File != nil {
		file := *l.File
		file.Name = text.OneLine(file.Name)
		if file.MIME == plainText {
			file.Data = []byte(policy.Hide(text.Clean(string(file.Data))))
		}
		l.File = &file
	}
	return l
}

// ErrRefusedNotice is returned for a notice that the gate refuses for what it is.
var ErrRefusedNotice = errors.New("the owner cannot be told")

// roomWait is how long a notice waits for its room before it is tried again.
const roomWait = 10 * time.Second

// refusedNotice is what becomes of a notice that may not go: it is tried again until its room can be written to.
func refusedNotice(d policy.Decision) error {
	if d.Code.Homeless() || d.Code == policy.CodeEncryptionUnknown {
		return jobs.Later(roomWait)
	}
	return fmt.Errorf("%w: %s", ErrRefusedNotice, d.Why)
}

// noticeRoom is the admin room that a notice goes to: the present one, when the one that it was meant for is gone.
func noticeRoom(ctx context.Context, db store.DB, chat int64) (store.Chat, error) {
	room, err := store.ChatByID(ctx, db, chat)
	if err != nil || room.Usable() || room.Kind != policy.KindAdmin {
		return room, err
	}
	present, err := store.AdminChat(ctx, db)
	if errors.Is(err, store.ErrNotFound) {
		return room, nil
	}
	return present, err
}

// moveNotice has a notice that cannot be sent where it was meant for sent to the present admin room.
func (b *Box) moveNotice(ctx context.Context, tx store.Tx, o store.Out, d policy.Decision) error {
	room, err := noticeRoom(ctx, tx, o.ChatID)
	if err != nil {
		return err
	}
	if room.ID == o.ChatID {
		return refusedNotice(d)
	}
	var c struct {
		content
		New *content `json:"m.new_content"`
	}
	if err := json.Unmarshal(o.Content, &c); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	switch {
	case c.New != nil: // what it replaces stands in the other room
		c.content = *c.New
		c.Key = o.ID.String()
	case c.RelatesTo != nil: // a reaction
		return b.drop(ctx, tx, o, d.Code, d.Why)
	}
	raw, err := json.Marshal(c.content)
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	if err := store.ReaddressOut(ctx, tx, o.ID, room.ID, raw); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.SendArgs{Out: o.ID})
}

// isMissed tells whether the owner has to know that a row cannot be sent. A notice that tells this of another one ends there, or the
// notices about notices would never end; nobody misses a reaction of multis in the admin room.
func isMissed(o store.Out) bool {
	var c content
	if o.Purpose != policy.PurposeNotice {
		return true
	}
	return o.EventType != "m.reaction" && json.Unmarshal(o.Content, &c) == nil && c.Unsent == ""
}

// markdownSigns are the characters that mean something in Markdown.
const markdownSigns = "\\`*_{}[]()<>#+-.!|~&:@"

// Escape makes text that somebody else wrote stand in Markdown as what it is: no bold, links, lists, mentions or HTML come of
// it. Line ends stay in the text but cannot begin a block.
func Escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\r':
			b.WriteByte(' ')
			continue
		case r < 128 && strings.ContainsRune(markdownSigns, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
