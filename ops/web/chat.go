package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// logLength is how many messages a page of a chat's log has.
const logLength = 100

// turnGap is the silence after which a message begins a turn.
const turnGap = time.Hour

// entry is a message in the log of a chat.
type entry struct {
	ID    store.MessageID // zero for what multis said
	At    time.Time
	Who   string
	Class string // "me" for the owner and operators, "out" for multis
	Text  string
	Note  string // what is to know about the text, such as that it was not sent
	fresh bool   // a contact wrote it
}

// why explains a part of a turn.
type why struct {
	Title, Tone string // Tone is "good", "warn" or "bad"
	Reason      string
	Sources     []store.Citation
	Lines       []string
}

// turn is what was said without a pause, and why.
type turn struct {
	Day     string // set if the turn is the first of a day that is shown
	Entries []entry
	Why     []why

	at time.Time
}

// OtherModes returns the modes that the chat may get.
func (p chatPage) OtherModes() []policy.Mode {
	return slices.DeleteFunc(policy.Modes(), func(m policy.Mode) bool { return m == p.Mode })
}

// chatPage is what the page of a chat shows.
type chatPage struct {
	store.Chat

	Mode       policy.Mode
	ModeOrigin string
	Delivery   policy.Delivery
	Labels     []string
	Off        bool
	Escalation *store.Escalation
	Turns      []turn
	Earlier    store.MessageID // where the next page begins; zero for none
}

// chatPages are the pages of chats.
type chatPages struct{ *Site }

// chat shows a chat and its log.
func (s chatPages) chat(v *visit) error {
	ctx := v.r.Context()
	c, err := store.ChatByID(ctx, v.db, store.ChatID(v.id()))
	if errors.Is(err, store.ErrNotFound) || err == nil && !isContactChat(c) {
		s.fail(v, v.r, http.StatusNotFound)
		return nil
	}
	if err != nil {
		return err
	}
	page := chatPage{
		Chat: c, Mode: c.ModeIn(s.Defaults), ModeOrigin: c.ModeOrigin(s.Defaults), Delivery: c.DeliveryIn(s.Defaults),
		Labels: c.LabelNames(s.Defaults), Off: c.IsOff(s.Defaults),
	}
	if !page.Off {
		if err := s.addLog(v, &page); err != nil {
			return err
		}
	}
	s.show(v, http.StatusOK, "chat", c.TypedName(), page)
	return nil
}

// addLog adds the log and the open escalation.
func (s chatPages) addLog(v *visit, page *chatPage) error {
	ctx := v.r.Context()
	e, err := store.EscalationOfChat(ctx, v.db, page.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil {
		page.Escalation = &e
	}
	before := store.MessageID(parseID(v.r.URL.Query().Get("before")))
	messages, err := store.ChatLog(ctx, v.db, page.ID, before, logLength+1)
	if err != nil {
		return err
	}
	until := v.now.AddDate(1, 0, 0)
	if before != 0 {
		if m, err := store.MessageByID(ctx, v.db, before); err == nil && m.ChatID == page.ID {
			until = m.At
		}
	}
	var from time.Time
	if len(messages) > logLength {
		messages = messages[:logLength]
		from, page.Earlier = messages[logLength-1].At, messages[logLength-1].ID
	}
	var answers []uuid.UUID
	for _, m := range messages {
		if m.OutboxID != nil {
			answers = append(answers, *m.OutboxID)
		}
	}
	said, err := store.SaidInChat(ctx, v.db, page.ID, from, until, answers)
	if err != nil {
		return err
	}
	page.Turns = s.turns(page.Chat, messages, said)
	return nil
}

// turns puts messages and what multis said into turns, the newest turn first, and explains each.
func (s chatPages) turns(c store.Chat, messages []store.Message, said []store.OutboxMessage) []turn {
	answers := map[uuid.UUID]store.OutboxMessage{}
	for _, o := range said {
		answers[o.ID] = o
	}
	type item struct {
		entry

		message *store.Message
		out     *store.OutboxMessage
	}
	var items []item
	for i := range messages {
		items = append(items, item{entry: s.messageEntry(c, messages[i]), message: &messages[i]})
	}
	for i := range said {
		if !said[i].IsErased() {
			items = append(items, item{entry: s.outboxEntry(said[i]), out: &said[i]})
		}
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	var turns []turn
	lastFresh := false
	for _, i := range items {
		begins := len(turns) == 0
		if !begins {
			last := turns[len(turns)-1]
			begins = i.fresh && !lastFresh || i.At.Sub(last.at) > turnGap
		}
		if begins {
			turns = append(turns, turn{})
		}
		t := &turns[len(turns)-1]
		t.at, lastFresh = i.At, i.fresh
		t.Entries = append(t.Entries, i.entry)
		switch {
		case i.message != nil:
			t.explain(messageWhy(*i.message, answers))
		default:
			t.explain(outboxWhy(*i.out))
		}
	}
	slices.Reverse(turns)
	day := ""
	for i := range turns {
		if d := turns[i].at.In(s.Zone).Format("Mon 2 Jan 2006"); d != day {
			turns[i].Day, day = d, d
		}
	}
	return turns
}

// explain adds an explanation, unless the last one says the same.
func (t *turn) explain(w why) {
	if w.Reason == "" && len(w.Lines) == 0 && len(w.Sources) == 0 {
		return
	}
	if n := len(t.Why); n > 0 && t.Why[n-1].Title == w.Title && t.Why[n-1].Reason == w.Reason && len(w.Lines) == 0 {
		return
	}
	t.Why = append(t.Why, w)
}

// messageEntry returns how a message is shown.
func (s *Site) messageEntry(c store.Chat, m store.Message) entry {
	contact := c.TypedName()
	if c.Kind == policy.KindGroup {
		contact = m.Sender.Localpart()
	}
	e := entry{
		ID:    m.ID,
		At:    m.At,
		Who:   s.authorName(m.Author, contact),
		Text:  m.Body,
		fresh: m.Author == policy.AuthorContact,
	}
	if m.Author == policy.AuthorOwnerClient || m.Author == policy.AuthorOwnerPhone || m.Author == policy.AuthorOperator {
		e.Class = "me"
	}
	switch {
	case m.RedactedAt != nil:
		e.Text, e.Note = "", "deleted"
	case len(m.Parked) > 0:
		e.Text, e.Note = "", "cannot be read yet"
	case m.EditedAt != nil:
		e.Note = "edited"
	}
	return e
}

// outboxEntry returns how something that multis said is shown.
func (s chatPages) outboxEntry(o store.OutboxMessage) entry {
	e := entry{At: o.CreatedAt, Who: s.Name, Class: "out", Text: o.Text()}
	if o.SentAt != nil {
		e.At = *o.SentAt
	}
	switch o.State {
	case store.OutboxDraft:
		e.Note = "a draft: not sent"
	case store.OutboxShadow:
		e.Note = "only to compare: never sent"
	case store.OutboxDropped:
		e.Note = "not sent"
	case store.OutboxFailed:
		e.Note = "not delivered"
	default:
	}
	if o.Purpose == policy.PurposeOperator {
		e.Who = "From the thread"
	}
	return e
}

// messageWhy says what was done with a message, and why.
func messageWhy(m store.Message, answers map[uuid.UUID]store.OutboxMessage) why {
	w := why{Reason: m.Reason}
	if m.Author != policy.AuthorContact {
		return w
	}
	var out *store.OutboxMessage
	if m.OutboxID != nil {
		if o, found := answers[*m.OutboxID]; found {
			out = &o
		}
	}
	w.Title, w.Tone = outcome(m, out)
	if late := m.ReceivedAt.Sub(m.At); late >= time.Minute {
		w.Lines = append(w.Lines, "It arrived after "+text.Duration(late)+".")
	}
	return w
}

// outcome says in a word how a message was handled. out is what answers it; nil for nothing.
func outcome(m store.Message, out *store.OutboxMessage) (title, tone string) {
	isOpen := m.AnsweredAt == nil &&
		(m.Action == policy.ActionAnswer || m.Action == policy.ActionEscalate || m.Action == policy.ActionTranscribe)
	switch {
	case out == nil && isOpen:
		return "In work.", "warn"
	case out == nil && m.Action == policy.ActionEscalate:
		return "Escalated.", "warn"
	case out == nil || out.State == store.OutboxDropped:
		return "Silent.", ""
	case out.State == store.OutboxDraft:
		return "Waiting for your approval.", "warn"
	case out.State == store.OutboxShadow:
		return "Only compared.", ""
	case out.State == store.OutboxFailed:
		return "Not delivered.", "bad"
	case out.Purpose == policy.PurposeEscalation:
		return "Escalated.", "warn"
	default:
		return "Answered.", "good"
	}
}

// outboxWhy says why something was said or held back, what it is based on, and whether it was delivered.
func outboxWhy(o store.OutboxMessage) why {
	w := why{Sources: o.Citations}
	switch {
	case o.DeliveredAt != nil:
		w.Lines = append(w.Lines, "Delivered "+text.Latency(o.DeliveredAt.Sub(o.CreatedAt))+" after it was written.")
	case o.State == store.OutboxSent:
		w.Lines = append(w.Lines, "Sent. The network has not said that it was delivered.")
	case o.State == store.OutboxDropped:
		w.Title, w.Reason = "Not sent.", o.Reason
	case o.State == store.OutboxFailed:
		w.Title = "Not delivered."
		w.Tone = "bad"
		w.Reason = o.Error
	case o.State == store.OutboxQueued:
		w.Lines = append(w.Lines, fmt.Sprintf("Waiting to be sent since %s.", o.CreatedAt.UTC().Format("15:04 UTC")))
	default:
	}
	return w
}
