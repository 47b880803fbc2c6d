package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/policy"
	"multis/schedule"
	"multis/store"
)

// whyMessages is how many messages of one chat are explained.
const whyMessages = 5

// why explains what was decided about messages of contacts: the newest, those of one chat, or one event.
func (a *Admin) why(ctx context.Context, _ request, args string) (answer, error) {
	switch {
	case args == "":
		return a.explain(ctx, 0, "", 1, "Nobody wrote to you since I started.")
	case strings.Contains(args, "$"):
		return a.whyEvent(ctx, eventOf(args))
	default:
		return a.withChat(ctx, args, pickChat{Then: "why"})
	}
}

// eventOf finds the event id in a link to a message, or in the bare id.
func eventOf(args string) id.EventID {
	link := strings.TrimSpace(args)
	if uri, err := id.ParseMatrixURIOrMatrixToURL(link); err == nil && uri != nil && uri.EventID() != "" {
		return uri.EventID()
	}
	event, _, _ := strings.Cut(link[strings.IndexByte(link, '$'):], "?")
	event, _, _ = strings.Cut(event, " ")
	return id.EventID(event)
}

// whyEvent explains the message that became an event, or the one that an answer of ours answered.
func (a *Admin) whyEvent(ctx context.Context, event id.EventID) (answer, error) {
	out, err := store.OutByEvent(ctx, a.Store.DB(), event)
	if err == nil {
		var m store.Message
		if m, err = store.AnsweredBy(ctx, a.Store.DB(), out.ID); err == nil {
			event = m.EventID
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return answer{}, err
	}
	return a.explain(ctx, 0, event, 1, "I know no message of a contact under that link. Nothing is stored of chats that are off.")
}

func (a *Admin) whyChat(ctx context.Context, chat store.Chat) (answer, error) {
	none := "Nothing came from **" + esc(label(chat)) + "** since I started."
	if chat.ModeIn(a.Rules.Defaults) == policy.ModeOff {
		none = esc(label(chat)) + " is **off**: I store nothing there, so there is nothing to explain."
	}
	return a.explain(ctx, chat.ID, "", whyMessages, none)
}

func (a *Admin) explain(ctx context.Context, chat int64, event id.EventID, limit int, none string) (answer, error) {
	messages, err := store.Explained(ctx, a.Store.DB(), chat, event, limit)
	if err != nil {
		return answer{}, err
	}
	if len(messages) == 0 {
		return answer{text: none}, nil
	}
	told, about := make([]string, len(messages)), make([]int64, len(messages))
	for i, m := range messages {
		about[i] = m.ID
		if told[i], err = a.explained(ctx, m); err != nil {
			return answer{}, err
		}
	}
	return answer{text: strings.Join(told, "\n\n"), about: about}, nil
}

// explained tells what was made of one message, and why.
func (a *Admin) explained(ctx context.Context, m store.Message) (string, error) {
	chat, err := store.ChatByID(ctx, a.Store.DB(), m.ChatID)
	if err != nil {
		return "", err
	}
	var out *store.Out
	if m.OutboxID != nil {
		o, err := store.OutByID(ctx, a.Store.DB(), *m.OutboxID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		if err == nil {
			out = &o
		}
	}
	said := quote(m.Body, 200)
	if m.RedactedAt != nil {
		said = "a message that was deleted"
	}
	if m.Kind == string(bridgebridge.Voice) && !strings.HasPrefix(m.Body, "[") && m.RedactedAt == nil {
		said = "🎤 " + said
	}
	if late := m.ReceivedAt.Sub(m.At); late >= time.Minute {
		said += " · arrived after " + schedule.Short(late)
	}
	lines := []string{
		fmt.Sprintf("**%s** in %s at %s", verdict(m, out), esc(label(chat)), a.moment(m.At)),
		said,
		esc(m.Reason),
	}
	if out == nil {
		if m.AnsweredAt != nil || (m.Action != policy.ActionAnswer && m.Action != policy.ActionHandoff) {
			lines = append(lines, "Nothing was sent.")
		}
	} else {
		lines = append(lines, a.sentLines(*out)...)
		parts, err := a.partLines(ctx, *out)
		if err != nil {
			return "", err
		}
		lines = append(lines, parts...)
	}
	// The mode decided when the message came; what it was then stands in the reason.
	now := "The chat is **" + string(chat.ModeIn(a.Rules.Defaults)) + "** now, " + a.modeOrigin(chat) + "."
	if a.Answers != nil {
		if agent, by := a.Answers(chat); agent != "" {
			now += " " + code("@"+agent) + " answers there, by " + by + "."
		}
	}
	return strings.Join(append(lines, now), "\n"), nil
}

// verdict is what became of a message, in three words.
func verdict(m store.Message, out *store.Out) string {
	switch {
	case out == nil && m.AnsweredAt == nil && (m.Action == policy.ActionAnswer || m.Action == policy.ActionHandoff || m.Action == policy.ActionListen):
		return "I am still at it"
	case out == nil || out.State == store.OutDropped:
		return "Why I was silent"
	case out.State == store.OutHeld:
		return "My answer waits for your yes"
	case out.State == store.OutFailed:
		return "My answer did not arrive"
	case out.Purpose == policy.PurposeHandover:
		return "Why I handed over to you"
	default:
		return "Why I answered"
	}
}

// modeOrigin says who decided about a chat's mode.
func (a *Admin) modeOrigin(chat store.Chat) string {
	if chat.Mode == nil {
		_, why := a.Rules.Defaults.Mode(nil, chat.Kind, chat.Protocol)
		return "by default (" + esc(strings.TrimSuffix(why, ".")) + ")"
	}
	if chat.ModeSetAt == nil {
		return "set by you"
	}
	return "set by you, " + a.moment(*chat.ModeSetAt)
}

// sentLines tells what was said, on which sources, what the gate said about it, and how far it came.
func (a *Admin) sentLines(o store.Out) []string {
	lines := []string{"My words: " + quote(bodyOf(o), 400)}
	for _, s := range o.Spans {
		lines = append(lines, "Source "+esc(s.Source)+": "+quote(s.Quote, 200))
	}
	if o.State == store.OutDropped {
		return append(lines, "Not sent: "+esc(o.Reason))
	}
	seconds := "15:04:05"
	var way []string
	if o.SentAt != nil {
		way = append(way, "sent "+o.SentAt.In(a.Rules.Zone).Format(seconds))
	}
	switch {
	case o.State == store.OutFailed:
		way = append(way, "did not arrive: "+esc(o.Error)+" ("+esc(refOf(o.ID))+")")
	case o.DeliveredAt != nil:
		way = append(way, "delivered "+o.DeliveredAt.In(a.Rules.Zone).Format(seconds))
	case o.State == store.OutHeld:
		way = append(way, "a draft: `/drafts`")
	case o.SentAt == nil:
		way = append(way, "waits to be sent")
	}
	return append(lines, esc(o.Reason)+" · "+strings.Join(way, ", "))
}

// partLines tells what became of the other parts of a long answer.
func (a *Admin) partLines(ctx context.Context, first store.Out) ([]string, error) {
	if first.PartOf == nil {
		return nil, nil
	}
	parts, err := store.Parts(ctx, a.Store.DB(), *first.PartOf)
	if err != nil {
		return nil, err
	}
	var lines []string
	for i, part := range parts {
		if part.ID != first.ID {
			lines = append(lines, fmt.Sprintf("Part %d of %d: %s", i+1, len(parts), strings.Join(a.sentLines(part), " · ")))
		}
	}
	return lines, nil
}

// bodyOf is the text of an outgoing event.
func bodyOf(o store.Out) string {
	var content struct {
		Body string `json:"body"`
		New  struct {
			Body string `json:"body"`
		} `json:"m.new_content"`
	}
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return "" // we wrote it ourselves; a text that cannot be shown is no reason to explain nothing
	}
	return cmp.Or(content.New.Body, content.Body)
}

// refOf is a short mark by which an outgoing event is found in the log.
func refOf(out uuid.UUID) string {
	text := out.String()
	return "#" + text[len(text)-4:]
}
