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
	"multis/store"
)

const (
	maxCardMessages = 2500 // characters of all messages on a card, so that what stands behind them has room as well
	maxQuote        = 200  // of a quote from a document
	maxThreadLine   = 4000
)

// postCard queues the card of an escalation, with which its thread begins. While the business is closed, it mentions the
// people on call, otherwise the owner. It mentions nobody if operators may answer, because they are in the room and are
// notified later if nobody claims it.
func (d *Desk) postCard(ctx context.Context, tx store.Tx, e store.Escalation, c Case) error {
	kind, who := outbox.Alert, []id.UserID(nil)
	switch {
	case c.Closed && len(d.OnCall) > 0:
		who = d.OnCall
	case len(d.Operators) > 0 && d.ClaimWithin > 0:
		kind = outbox.Answer // an m.text, which notifies the members of the room; they are mentioned if nobody claims it
	}
	e.CardStatus = d.stateLine(e, c.Chat)
	out, err := d.queueCard(ctx, tx, cardNotice{e, c.Chat, c.Messages, kind, who})
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
	messages []store.Message
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
	notice := outbox.NewNotice(room, d.cardText(e, n.chat, messages), n.kind)
	notice.Mention = n.mention
	notice.Quotes, notice.Sources = store.IDsOf(messages), e.Sources
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
func (d *Desk) cardText(e store.Escalation, chat store.Chat, messages []store.Message) string {
	parts := []string{"🙋 **" + text.Escape(chat.Label()) + " needs a person**"}
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
	parts = append(parts, proposalParts(e.Proposals)...)
	as := "as you"
	if len(d.Operators) > 0 {
		as = "in the owner's name"
	}
	parts = append(parts, "Reply **in this thread** and it goes to "+text.Escape(bridgebridge.DisplayName(chat.Name))+" "+as+
		"; what begins with `note` stays here. "+
		"✋ take it · ✅ done, I take over again · ⏸ I stay off · [that chat]("+roomLink(chat)+")")
	if e.CardStatus != "" {
		parts = append(parts, e.CardStatus)
	}
	return strings.Join(parts, "\n\n")
}

// proposalParts shows the proposals of a card whole, as they would be sent, numbered if there are several.
func proposalParts(list []store.Proposal) []string {
	switch len(list) {
	case 0:
		return nil
	case 1:
		return []string{foundLine(list[0]), "Proposal, which 👍 sends as it stands:", quoteLines(list[0].Text)}
	}
	parts := []string{"Proposals: 👍 sends the first, a number (`2`) that one, as it stands; `learn 2` keeps it as your answer:"}
	for i, p := range list {
		parts = append(parts, fmt.Sprintf("**%d** %s", i+1, foundLine(p)), quoteLines(p.Text))
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

// stateLine says who has claimed, answered or resolved an escalation, as Markdown; empty while nobody did.
func (d *Desk) stateLine(e store.Escalation, chat store.Chat) string {
	var parts []string
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
		parts = append(parts, "over since "+clock(*e.ClosedAt, d.Now(), d.Zone)+": I answer there again")
	case chat.PausedUntil != nil && chat.PausedUntil.After(d.Now()):
		parts = append(parts, "⏸ **I stay off** until ✅")
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
