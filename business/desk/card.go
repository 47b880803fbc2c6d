package desk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

const (
	maxCardMessages = 2500 // characters of all messages on a card, so that what stands behind them has room as well
	maxQuote        = 200  // of a quote from a document
	maxBefore       = 4    // messages before the question
	maxLineBefore   = 200  // characters of each of them
	// conversationSpan is how old the messages before the question may be.
	conversationSpan = 24 * time.Hour
	maxThreadLine    = 4000
)

// postCard queues the card of an escalation, with which its thread begins. It mentions who has claimed the escalation; while
// the business is closed, the people on call; otherwise the owner. It mentions nobody if operators may answer, because they
// are in the room and are notified later if nobody claims it.
func (d *Desk) postCard(ctx context.Context, tx store.Tx, e store.Escalation, c Case) error {
	kind, who := outbox.Alert, []id.UserID(nil)
	switch {
	case e.ClaimedBy != "":
		who = []id.UserID{e.ClaimedBy}
	case c.Closed && len(d.OnCall) > 0:
		who = d.OnCall
	case len(d.Operators) > 0 && d.ClaimWithin > 0:
		kind = outbox.Answer // an m.text, which notifies the members of the room; they are mentioned if nobody claims it
	}
	held, err := holdingOf(ctx, tx, e)
	if err != nil {
		return err
	}
	e.CardStatus = d.stateLine(e, c.Chat, held)
	out, err := d.queueCard(ctx, tx, cardNotice{
		e:        e,
		chat:     c.Chat,
		messages: c.Messages,
		held:     held,
		kind:     kind,
		mention:  who,
	})
	if err != nil {
		return err
	}
	e.CardID = &out
	if err := store.SetEscalationCard(ctx, tx, e); err != nil {
		return err
	}
	return d.show(ctx, tx, e.ID, out, c.Messages...)
}

// cardNotice is what queueCard sends.
type cardNotice struct {
	e        store.Escalation
	chat     store.Chat
	messages []store.Message    // the question
	before   []store.ThreadLine // what was said before it, the oldest first; queueCard reads it
	held     holding
	kind     outbox.NoticeKind
	mention  []id.UserID // with kind Alert; nil for the owner
}

// queueCard queues the card, or its replacement if it was sent.
func (d *Desk) queueCard(ctx context.Context, tx store.Tx, n cardNotice) (uuid.UUID, error) {
	e, messages := n.e, n.messages
	room, err := d.room(ctx, tx, e)
	if err != nil {
		return uuid.Nil, err
	}
	if n.before, err = store.LinesBefore(ctx, tx, messages[0].ID, conversationSpan, maxBefore); err != nil {
		return uuid.Nil, err
	}
	slices.Reverse(n.before)
	notice := outbox.NewNotice(room, d.cardText(n), n.kind)
	notice.Mention = n.mention
	notice.Quotes, notice.Sources = store.IDsOf(messages), e.Sources
	for _, line := range n.before {
		notice.Quotes = append(notice.Quotes, line.ID)
	}
	if e.CardEvent != nil {
		notice.Replaces = *e.CardEvent
	}
	out, _, err := d.Box.Queue(ctx, tx, notice)
	return out, err
}

// room returns the room of an escalation's thread: that of its card, or before it has one the room for operators or the admin room.
func (d *Desk) room(ctx context.Context, tx store.Tx, e store.Escalation) (store.Chat, error) {
	if e.CardRoom != 0 {
		return store.ChatByID(ctx, tx, e.CardRoom)
	}
	if d.OwnRoom {
		room, err := store.OperatorsChat(ctx, tx)
		if gone, err := isMissing(err); !gone {
			return room, err
		}
	}
	return outbox.AdminRoom(ctx, tx)
}

// cardText returns the card of an escalation as Markdown.
func (d *Desk) cardText(n cardNotice) string {
	e, chat := n.e, n.chat
	messages := n.messages
	title := "🙋 **" + text.Escape(chat.Label()) + " needs a person**"
	if e.Cause == policy.CauseDanger {
		title = "🚨 **" + text.Escape(chat.Label()) + " needs a person now: danger or pain**"
	}
	parts := []string{title}
	if len(n.before) > 0 {
		parts = append(parts, d.beforeText(chat, n.before))
	}
	var quoted []string
	limit := questionLimit(messages)
	for _, m := range messages {
		line := strings.TrimSpace(quoteLines(strings.TrimSpace(text.Clean(text.Clip(shownText(m), limit)))))
		if m.Attachment != nil && chat.RoomID != nil {
			line += " ([see it](" + chat.RoomID.EventURI(m.EventID).MatrixToURL() + "))"
		}
		quoted = append(quoted, line)
	}
	parts = append(parts, strings.Join(quoted, "\n>\n"))
	if e.Reason != "" {
		parts = append(parts, "Why: "+text.Escape(e.Reason))
	}
	parts = append(parts, proposalParts(e.Proposals, n.held)...)
	as := "as you"
	if len(d.Operators) > 0 {
		as = "in the owner's name"
	}
	parts = append(parts, "Reply **in this thread** to answer "+text.Escape(bridgebridge.DisplayName(chat.Name))+" "+as+
		". Start a message with `note` to keep it internal. "+
		"✋ claim · ✅ resolve (I answer again) · ⏸ pause me · [open chat]("+roomLink(chat)+")")
	if e.CardStatus != "" {
		parts = append(parts, e.CardStatus)
	}
	return strings.Join(parts, "\n\n")
}

// beforeText shows what was said before the question, each message in a line that begins with its author, so that none
// looks like a line of the card.
func (d *Desk) beforeText(chat store.Chat, before []store.ThreadLine) string {
	lines := []string{"Before:"}
	for _, m := range before {
		said := text.Clip(text.OneLine(text.Clean(shownText(m.Message))), maxLineBefore)
		lines = append(lines, "- "+clock(m.At, d.Now(), d.Zone)+" "+text.Escape(threadUpdate{d}.speaker(chat, m))+": "+text.Escape(said))
	}
	return strings.Join(lines, "\n")
}

// proposalParts shows what a sign or a number on the card sends, whole, numbered if there are several: the proposals, and
// after them the holding message.
func proposalParts(list []store.Proposal, held holding) []string {
	switch offered := len(list) + held.offered(); {
	case offered == 0:
		return nil
	case offered == 1 && held.isDraft():
		return []string{"For now, only that a person will answer (👍 sends it):", held.text()}
	case offered == 1:
		return []string{foundLine(list[0]), "Suggested reply (👍 sends it):", quoteLines(list[0].Text)}
	}
	parts := []string{"Suggested replies: 👍 sends the first, a number (`2`) sends that one. `learn 2` saves it as your answer."}
	for i, p := range list {
		parts = append(parts, fmt.Sprintf("**%d** %s", i+1, foundLine(p)), quoteLines(p.Text))
	}
	if held.isDraft() {
		parts = append(parts, fmt.Sprintf("**%d** For now, only that a person will answer:", len(list)+1), held.text())
	}
	return parts
}

// foundLine says where a proposal was found.
func foundLine(p store.Proposal) string {
	var lines []string
	for _, c := range p.Citations {
		lines = append(lines, "Found in "+text.Escape(c.Source)+": “"+text.Escape(text.Clip(text.OneLine(c.Quote), maxQuote))+"”")
	}
	return strings.Join(lines, "\n\n")
}

// questionLimit returns how many characters of each message a card shows: all of most messages, and a share of each if
// they are too long together. Operators read the card only, and not the chat.
func questionLimit(messages []store.Message) int {
	lengths := make([]int, len(messages))
	for i, m := range messages {
		lengths[i] = len([]rune(shownText(m)))
	}
	slices.Sort(lengths)
	left := maxCardMessages
	for i, n := range lengths {
		share := left / (len(lengths) - i)
		if n > share {
			return max(share, 1)
		}
		left -= n
	}
	return maxCardMessages
}

// stateLine says who has claimed, answered or resolved an escalation, and whether the contact was told that a person will
// answer, where that needs approval. It is Markdown; empty if there is nothing to say.
func (d *Desk) stateLine(e store.Escalation, chat store.Chat, held holding) string {
	var parts []string
	switch {
	case held.isDraft():
		parts = append(parts, "⏳ not told yet that a person will answer")
	case held.State != "":
		parts = append(parts, "✉️ told that a person will answer, "+clock(held.CreatedAt, d.Now(), d.Zone))
	}
	if e.ClaimedAt != nil {
		parts = append(parts, "✋ **"+text.Escape(d.PersonName(e.ClaimedBy))+"**, "+clock(*e.ClaimedAt, d.Now(), d.Zone))
	}
	if e.AnsweredAt != nil {
		parts = append(parts, "answered "+clock(*e.AnsweredAt, d.Now(), d.Zone))
	}
	switch {
	case e.ClosedAt != nil && e.ClosedBy != "":
		parts = append(parts, "✅ **resolved** by "+text.Escape(d.PersonName(e.ClosedBy))+", "+clock(*e.ClosedAt, d.Now(), d.Zone))
	case e.ClosedAt != nil:
		parts = append(parts, "**closed** "+clock(*e.ClosedAt, d.Now(), d.Zone)+", I answer again")
	case chat.PausedUntil != nil && chat.PausedUntil.After(d.Now()):
		parts = append(parts, "⏸ **paused** until ✅")
	}
	return strings.Join(parts, " · ")
}

// clock formats a time as people in the room read it: the time of day, with the day if it is not today.
func clock(at, now time.Time, zone *time.Location) string {
	local, now := at.In(zone), now.In(zone)
	if local.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return local.Format("15:04")
	}
	return local.Format("Mon 2 Jan, 15:04")
}

// quoteLines returns a text as a Markdown quote that keeps its lines.
func quoteLines(s string) string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		lines = append(lines, "> "+text.Escape(line)+"  ")
	}
	return strings.Join(lines, "\n")
}

// roomLink is the address of a chat's room for people.
func roomLink(chat store.Chat) string {
	if chat.RoomID == nil {
		return "https://matrix.to/"
	}
	return chat.RoomID.URI().MatrixToURL()
}
