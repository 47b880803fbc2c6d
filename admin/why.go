package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/business/desk"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// whyCommands explains why messages of contacts were answered or not.
type whyCommands struct {
	base

	asker Asker
	desk  *desk.Desk
}

// commands returns the commands about explanations.
func (ex *whyCommands) commands() []command {
	return []command{
		{
			name:      "why",
			args:      "[chat or link]",
			group:     groupChats,
			run:       ex.run,
			operators: true,
			onChat: func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) {
				return ex.explainChat(ctx, chat)
			},
			chatHint: func(chatPick) string { return " to see why I answered or kept silent there" },
			summary:  "why I answered, or didn't",
			help: "`/why` explains the newest message, `/why Ana` the last five of that chat. As a reply to a message or a card here, or with a link, it explains that one. " +
				"A link to a question of yours in this room says which calls of tools were refused for it, and why.",
		},
	}
}

// maxExplained is how many messages of one chat are explained.
const maxExplained = 5

// run explains the newest message of a contact, the last ones of a chat, or one event.
func (ex *whyCommands) run(ctx context.Context, r request, args string) (answer, error) {
	switch {
	case args == "" && cmp.Or(r.message.RelatesTo, r.message.Thread) != "":
		return ex.explainEvent(ctx, r, cmp.Or(r.message.RelatesTo, r.message.Thread))
	case args == "":
		return ex.explain(ctx, 0, "", 1, "Nobody wrote to you since I started.")
	case strings.Contains(args, "$"):
		return ex.explainEvent(ctx, r, parseEventLink(args))
	default:
		return ex.chats.withChat(ctx, args, "why", chatPick{})
	}
}

// explainEvent explains the message of an event: what a contact wrote, what multis sent, or what a card is about.
func (ex *whyCommands) explainEvent(ctx context.Context, r request, event id.EventID) (answer, error) {
	out, err := store.OutboxMessageByEvent(ctx, ex.store.DB(), event)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return ex.explainReceived(ctx, r, event)
	case err != nil:
		return answer{}, err
	case out.Purpose == policy.PurposeNotice:
		return ex.explainNotice(ctx, r, out)
	default:
		return ex.explainOutbox(ctx, out)
	}
}

// unknownEvent answers for an event that is no message of a contact.
const unknownEvent = "I know no message of a contact under that link. Nothing is stored of chats that are off."

// explainReceived explains the message of an event that somebody else sent: a question of the owner, or what a contact wrote.
func (ex *whyCommands) explainReceived(ctx context.Context, r request, event id.EventID) (answer, error) {
	m, err := store.MessageByEvent(ctx, ex.store.DB(), r.room.ID, event)
	if err == nil && r.isOwner() {
		return ex.explainQuestion(ctx, m)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return answer{}, err
	}
	return ex.explain(ctx, 0, event, 1, unknownEvent)
}

// explainQuestion says which calls of tools were refused for a message of the admin room.
func (ex *whyCommands) explainQuestion(ctx context.Context, m store.Message) (answer, error) {
	lines, err := ex.refusedLines(ctx, m)
	if err != nil {
		return answer{}, err
	}
	if len(lines) == 0 {
		lines = []string{"No call of a tool was refused for it."}
	}
	return answer{text: strings.Join(append([]string{quote(m.Body, 200), esc(m.Reason)}, lines...), "\n"), quotes: []store.MessageID{m.ID}},
		nil
}

// maxRefused is how many refused calls are shown of one message.
const maxRefused = 5

// refusedLines say which calls of tools were refused for a message, and why.
func (ex *whyCommands) refusedLines(ctx context.Context, m store.Message) ([]string, error) {
	refused, err := store.RefusedSteps(ctx, ex.store.DB(), m.ID, maxRefused)
	var lines []string
	for _, s := range refused {
		lines = append(lines, fmt.Sprintf("🚫 %s was refused: %s", code(s.Name), quote(text.OneLine(s.Text), 300)))
	}
	return lines, err
}

// explainChat explains the last messages of a chat.
func (ex *whyCommands) explainChat(ctx context.Context, chat store.Chat) (answer, error) {
	none := "Nothing came from **" + esc(chat.Label()) + "** since I started."
	if chat.ModeIn(ex.settings.Defaults) == policy.ModeOff {
		none = esc(chat.Label()) + " is **off**: I store nothing there, so there is nothing to explain."
	}
	ans, err := ex.explain(ctx, chat.ID, "", maxExplained, none)
	if err != nil {
		return answer{}, err
	}
	lines, about, err := ex.unpromptedLines(ctx, chat.ID)
	if len(lines) > 0 {
		ans.text += "\n\n" + strings.Join(lines, "\n")
		ans.quotes = append(ans.quotes, about...)
	}
	return ans, err
}

// explain explains messages of contacts, the newest first. none is the reply if there are none.
func (ex *whyCommands) explain(ctx context.Context, chat store.ChatID, event id.EventID, limit int, none string) (answer, error) {
	messages, err := store.DecidedMessages(ctx, ex.store.DB(), chat, event, limit)
	if err != nil {
		return answer{}, err
	}
	if len(messages) == 0 {
		return answer{text: none}, nil
	}
	length := maxShortText
	if len(messages) == 1 {
		length = maxWholeText
	}
	explanations, about := make([]string, len(messages)), make([]store.MessageID, len(messages))
	for i, m := range messages {
		about[i] = m.ID
		if explanations[i], err = ex.explainMessage(ctx, m, length); err != nil {
			return answer{}, err
		}
	}
	return answer{text: strings.Join(explanations, "\n\n"), quotes: about}, nil
}

const (
	// maxShortText is how much of a text is shown among others, in characters.
	maxShortText = 400
	// maxWholeText is how much of a text is shown alone: all of nearly every text.
	maxWholeText = 4000
)

// explainMessage says what was done with a message, and why. length is how much of an answer is shown.
func (ex *whyCommands) explainMessage(ctx context.Context, m store.Message, length int) (string, error) {
	chat, err := store.ChatByID(ctx, ex.store.DB(), m.ChatID)
	if err != nil {
		return "", err
	}
	var out *store.OutboxMessage
	if m.OutboxID != nil {
		o, err := store.OutboxMessageByID(ctx, ex.store.DB(), *m.OutboxID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
		if err == nil {
			out = &o
		}
	}
	quoted := quote(m.Body, 200)
	if m.RedactedAt != nil {
		quoted = "a message that was deleted"
	}
	if m.Kind == string(bridgebridge.Voice) && !strings.HasPrefix(m.Body, "[") && m.RedactedAt == nil {
		quoted = "🎤 " + quoted
	}
	if late := m.ReceivedAt.Sub(m.At); late >= time.Minute {
		quoted += " · arrived after " + text.Duration(late)
	}
	lines := []string{
		fmt.Sprintf("**%s** in %s at %s", outcomeTitle(m, out), esc(chat.Label()), ex.room.shortTime(m.At)),
		quoted,
		esc(m.Reason),
	}
	suspicion, err := ex.suspicionLines(ctx, chat, m)
	if err != nil {
		return "", err
	}
	refused, err := ex.refusedLines(ctx, m)
	if err != nil {
		return "", err
	}
	withdrawn, err := ex.withdrawnLines(ctx, m)
	if err != nil {
		return "", err
	}
	lines = slices.Concat(lines, suspicion, refused, withdrawn)
	if out == nil {
		if m.AnsweredAt != nil || (m.Action != policy.ActionAnswer && m.Action != policy.ActionEscalate) {
			lines = append(lines, "Nothing was sent.")
		}
	} else {
		lines = append(lines, ex.sentLines(*out, length)...)
		parts, err := ex.partLines(ctx, *out, length)
		if err != nil {
			return "", err
		}
		lines = append(lines, parts...)
	}
	people, err := ex.threadLines(ctx, m)
	if err != nil {
		return "", err
	}
	lines = append(lines, people...)
	// The stored reason has the mode at the time of the message, which may have changed.
	now := "The chat is **" + string(chat.ModeIn(ex.settings.Defaults)) + "** now, " + ex.modeOrigin(chat) + "."
	if agent, by := ex.asker.AnsweringAgent(chat); agent != "" {
		now += " " + code("@"+agent) + " answers there, by " + by + "."
	}
	return strings.Join(append(lines, now), "\n"), nil
}

// suspicionLines say whether a message looked like an attempt to give orders, and whether models answer its sender.
func (ex *whyCommands) suspicionLines(ctx context.Context, chat store.Chat, m store.Message) ([]string, error) {
	db, zone := ex.store.DB(), ex.settings.Zone
	score, err := store.InjectionScoreOf(ctx, db, m.ID)
	if err != nil {
		return nil, err
	}
	var lines []string
	if score.Verdict == policy.InjectionFlag || score.Verdict == policy.InjectionBlock {
		lines = append(lines, "It looks like an attempt to give me orders: "+scoreText(score)+".")
	}
	until, err := store.ModelHold(ctx, db, chat.ID, []id.UserID{m.Sender}, ex.room.now())
	if err == nil && !until.IsZero() {
		lines = append(lines, holdLine(chat, until, zone))
	}
	return lines, err
}

// outcomeTitle says in a few words how a message was handled.
func outcomeTitle(m store.Message, out *store.OutboxMessage) string {
	switch {
	case out == nil && m.AnsweredAt == nil && (m.Action == policy.ActionAnswer || m.Action == policy.ActionEscalate ||
		m.Action == policy.ActionTranscribe):
		return "I am still at it"
	case out == nil || out.State == store.OutboxDropped:
		return "Why I was silent"
	case out.State == store.OutboxDraft:
		return "My answer is waiting for your approval"
	case out.State == store.OutboxShadow:
		return "What I would have said"
	case out.State == store.OutboxFailed:
		return "My answer did not arrive"
	case out.Purpose == policy.PurposeEscalation:
		return "Why I escalated to you"
	default:
		return "Why I answered"
	}
}

// modeOrigin says who or what set the mode of a chat.
func (ex *whyCommands) modeOrigin(chat store.Chat) string {
	if chat.Mode == nil {
		return "by default (" + esc(strings.TrimSuffix(chat.ModeOrigin(ex.settings.Defaults), ".")) + ")"
	}
	if chat.ModeSetAt == nil {
		return "set by you"
	}
	return "set by you, " + ex.room.shortTime(*chat.ModeSetAt)
}

// sentLines show an outbox message: its text up to a length, its sources, the decision of the gate, and whether it was
// delivered.
func (ex *whyCommands) sentLines(o store.OutboxMessage, length int) []string {
	lines := []string{"My words: " + quote(o.Text(), length)}
	for _, s := range o.Citations {
		lines = append(lines, "Source "+esc(s.Source)+": "+quote(s.Quote, 200))
	}
	if o.State == store.OutboxDropped {
		return append(lines, "Not sent: "+esc(o.Reason))
	}
	seconds := "15:04:05"
	var way []string
	if o.SentAt != nil {
		way = append(way, "sent "+o.SentAt.In(ex.settings.Zone).Format(seconds))
	}
	switch {
	case o.State == store.OutboxFailed:
		way = append(way, "did not arrive: "+esc(o.Error)+" ("+esc(logRef(o.ID))+")")
	case o.DeliveredAt != nil:
		way = append(way, "delivered "+o.DeliveredAt.In(ex.settings.Zone).Format(seconds))
	case o.State == store.OutboxDraft:
		way = append(way, "a draft: `/drafts`")
	case o.State == store.OutboxShadow:
		way = append(way, "a shadow answer: it was not sent and cannot be (`/shadow`)")
	case o.SentAt == nil:
		way = append(way, "waits to be sent")
	}
	if o.TraceID != "" {
		way = append(way, "trace "+code(o.TraceID))
	}
	return append(lines, esc(o.Reason)+" · "+strings.Join(way, ", "))
}

// partLines show the other parts of a long answer.
func (ex *whyCommands) partLines(ctx context.Context, first store.OutboxMessage, length int) ([]string, error) {
	if first.PartOf == nil {
		return nil, nil
	}
	parts, err := store.Parts(ctx, ex.store.DB(), *first.PartOf)
	if err != nil {
		return nil, err
	}
	var lines []string
	for i, part := range parts {
		if part.ID != first.ID {
			lines = append(lines, fmt.Sprintf("Part %d of %d: %s", i+1, len(parts), strings.Join(ex.sentLines(part, length), " · ")))
		}
	}
	return lines, nil
}

// threadLines say what became of the escalation whose thread shows a message: who claimed it, what people answered from the thread, and who
// resolved it. Answers from a phone are messages of the chat.
func (ex *whyCommands) threadLines(ctx context.Context, m store.Message) ([]string, error) {
	e, err := store.EscalationOfMessage(ctx, ex.store.DB(), m.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	state := "Escalated " + ex.room.shortTime(e.OpenedAt)
	if e.ClaimedAt != nil {
		state += " · taken by " + esc(ex.desk.PersonName(e.ClaimedBy)) + " " + ex.room.shortTime(*e.ClaimedAt)
	}
	until := store.PausedForever
	if e.ClosedAt != nil {
		until = *e.ClosedAt
		state += " · over since " + ex.room.shortTime(until)
	}
	lines := []string{state + "."}
	replies, err := store.ThreadReplies(ctx, ex.store.DB(), e.ChatID, e.OpenedAt, until)
	for _, r := range replies {
		line := esc(ex.desk.PersonName(r.By)) + ", " + ex.room.shortTime(r.At) + ": " + quote(store.OutboxMessage{Content: r.Content}.Text(), 200)
		if r.State == store.OutboxDropped || r.State == store.OutboxFailed {
			line += " (not sent)"
		}
		lines = append(lines, line)
	}
	return lines, err
}
