package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/agent"
	"multis/appservice"
	"multis/bridgebridge"
	"multis/config"
	"multis/internal/sleep"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// outcome is what becomes of a customer's message.
type outcome string

const (
	outcomeAnswered     outcome = "answered"
	outcomeAskedBack    outcome = "asked_back"
	outcomeEscalated    outcome = "escalated"
	outcomeAcknowledged outcome = "acknowledged"
	outcomeGreeted      outcome = "greeted"
	outcomeSilent       outcome = "silent"
)

// allOutcomes lists the outcomes in the order in which they are shown.
var allOutcomes = []outcome{ //nolint:gochecknoglobals // a constant, were there constant lists
	outcomeAnswered, outcomeAskedBack, outcomeEscalated, outcomeAcknowledged, outcomeGreeted, outcomeSilent,
}

// parallelConversations is how many conversations are rehearsed at the same time.
const parallelConversations = 4

// customer is the Matrix id of the customer in each conversation.
const customer id.UserID = "@customer:rehearsal.invalid"

// rehearsal answers questions as multis run does, in a chat for each, with an outbox that sends nowhere.
type rehearsal struct {
	*assistant
	inbox *appservice.Inbox
}

// rehearse indexes the documents in a folder and asks the questions. The replies are in the order of the questions.
func rehearse(ctx context.Context, cfg *config.Config, st *store.Store, documents string,
	questions []rehearsedQuestion,
) ([]rehearsedReply, error) {
	r, err := newRehearsal(ctx, cfg, st)
	if err != nil {
		return nil, err
	}
	if err := indexDocuments(ctx, r.documents, policy.RolePublic, []string{documents}, &progress{lines: os.Stderr}); err != nil {
		return nil, err
	}
	replies := make([]rehearsedReply, len(questions))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelConversations)
	for i, q := range questions {
		group.Go(func() error {
			reply, err := r.converse(ctx, i, q)
			if err != nil {
				return fmt.Errorf("question %s: %w", q.ID, err)
			}
			reply.Failed = q.Expect.check(reply)
			replies[i] = reply
			return nil
		})
	}
	return replies, group.Wait()
}

// newRehearsal returns an assistant that sends nothing. The database is its own.
func newRehearsal(ctx context.Context, cfg *config.Config, st *store.Store) (rehearsal, error) {
	settings := inboxSettings(cfg, nil)
	settings.StoreCap = settings.SendCap
	inbox := appservice.NewInbox(st, settings)
	nowhere := newTerminal(io.Discard, false, nil)
	as, err := newAssistant(ctx, cfg, st, frontend{
		terminal:   true,
		rehearsing: true,
		inbox:      inbox,
		sender:     nowhere,
		files:      nowhere,
		rooms:      nowhere,
		describer:  nowhere,
		decrypter:  nowhere,
		historian:  nowhere,
		keeper:     nowhere,
	})
	if err != nil {
		return rehearsal{}, err
	}
	_, err = openTerminalChat(ctx, st)
	return rehearsal{as, inbox}, err
}

// converse has a conversation in a chat of its own and returns the reply to its last message.
func (r rehearsal) converse(ctx context.Context, n int, q rehearsedQuestion) (rehearsedReply, error) {
	chat, err := r.openChat(ctx, fmt.Sprintf("customer-%d", n), "Customer")
	if err != nil {
		return rehearsedReply{}, err
	}
	for _, earlier := range q.After {
		if _, err := r.say(ctx, chat, earlier); err != nil {
			return rehearsedReply{}, err
		}
	}
	reply, err := r.say(ctx, chat, q.Text)
	if err != nil {
		return rehearsedReply{}, err
	}
	reply.ID = q.ID
	cost, err := r.spent(ctx, chat.ID)
	reply.Cost = float64(cost) / 1e6
	return reply, err
}

// spent returns what a chat has cost today, in millionths of the currency; chat 0 means all.
func (r rehearsal) spent(ctx context.Context, chat store.ChatID) (int64, error) {
	return store.Spent(ctx, r.store.DB(), time.Now().In(r.cfg.TimeZone).Format(time.DateOnly), chat)
}

// openChat opens a chat in business mode whose answers are sent without a yes. unique tells it from the others.
func (r rehearsal) openChat(ctx context.Context, unique, name string) (chat store.Chat, err error) {
	room := id.RoomID("!" + unique + ":rehearsal.invalid")
	err = r.store.InTx(ctx, func(tx store.Tx) error {
		chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "rehearsal",
			ChannelID:  room.String(),
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       name,
			BridgeBot:  "@bot:rehearsal.invalid",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return errors.Join(store.SetMode(ctx, tx, chat.ID, policy.ModeBusiness), store.SetDelivery(ctx, tx, chat.ID, policy.DeliveryAuto))
	})
	return chat, err
}

// say writes a message of the customer, has it answered, and returns what is sent.
func (r rehearsal) say(ctx context.Context, chat store.Chat, body string) (rehearsedReply, error) {
	evt := newRehearsedEvent(*chat.RoomID, customer, body)
	if err := r.inbox.Receive(ctx, []*event.Event{evt}, ""); err != nil {
		return rehearsedReply{}, err
	}
	for {
		err := r.assistant.agent.Turns.Turn(ctx, chat.ID, "rehearsal", true)
		if err == nil {
			break
		}
		if !jobs.IsSnooze(err) {
			return rehearsedReply{}, err
		}
		if err := sleep.For(ctx, 5*time.Millisecond); err != nil {
			return rehearsedReply{}, err
		}
	}
	sent, err := r.send(ctx, chat)
	if err != nil {
		return rehearsedReply{}, err
	}
	said, err := store.DecidedMessages(ctx, r.store.DB(), chat.ID, evt.ID, 1)
	if err != nil {
		return rehearsedReply{}, err
	}
	if len(said) == 0 {
		return rehearsedReply{
			Outcome:   outcomeSilent,
			Sources:   []rehearsedQuote{},
			Proposals: []rehearsedProposal{},
			Reason:    "The message was not stored.",
		}, nil
	}
	return r.reply(ctx, said[0], sent)
}

// reply describes what was sent for a message.
func (r rehearsal) reply(ctx context.Context, m store.Message, sent []store.OutboxMessage) (rehearsedReply, error) {
	reply := rehearsedReply{Outcome: outcomeSilent, Reason: m.Reason, Sources: []rehearsedQuote{}, Proposals: []rehearsedProposal{}}
	var texts []string
	isAnswered := false
	for _, o := range sent {
		texts = append(texts, o.Text())
		reply.Sources = append(reply.Sources, quotesOf(o.Citations)...)
		switch o.Purpose {
		case policy.PurposeReply:
			isAnswered, reply.Outcome = true, outcomeAnswered
		case policy.PurposeClarify:
			reply.Outcome = outcomeAskedBack
		case policy.PurposeGreeting:
			reply.Outcome = outcomeGreeted
		default:
		}
	}
	reply.Text = strings.Join(texts, "\n\n")
	switch {
	case m.Code == policy.CodeAcknowledged:
		reply.Outcome = outcomeAcknowledged
	case agent.IsEscalated(m.Code) && isAnswered:
		reply.Partial = true
	case agent.IsEscalated(m.Code):
		reply.Outcome = outcomeEscalated
	}
	if reply.Outcome != outcomeEscalated && !reply.Partial {
		return reply, nil
	}
	e, err := store.EscalationOfChat(ctx, r.store.DB(), m.ChatID)
	if errors.Is(err, store.ErrNotFound) {
		return reply, nil
	}
	for _, p := range e.Proposals {
		reply.Proposals = append(reply.Proposals, rehearsedProposal{Text: p.Text, Sources: quotesOf(p.Citations)})
	}
	if len(reply.Proposals) > 0 {
		reply.Proposal = &reply.Proposals[0]
	}
	return reply, err
}

// send takes what is queued for the customer out of the outbox, as if the network had delivered it, and returns it.
func (r rehearsal) send(ctx context.Context, chat store.Chat) (sent []store.OutboxMessage, err error) {
	for {
		next, err := store.NextQueued(ctx, r.store.DB(), store.OutboxMessage{ChatID: chat.ID})
		if errors.Is(err, store.ErrNotFound) {
			return sent, nil
		}
		if err != nil {
			return nil, err
		}
		if err := r.box.Send(ctx, next, true); err != nil {
			return nil, err
		}
		o, err := store.OutboxMessageByID(ctx, r.store.DB(), next)
		if err != nil {
			return nil, err
		}
		if o.State != store.OutboxSent {
			return nil, fmt.Errorf("a message was not sent: %s", cmp.Or(o.Reason, o.Error))
		}
		sent = append(sent, o)
		echo := newRehearsedEvent(*chat.RoomID, r.cfg.Owner, o.Text())
		echo.ID = *o.EventID
		echo.Content.Raw = map[string]any{bridgebridge.ContentKey: o.ID.String()}
		if err := r.inbox.Receive(ctx, []*event.Event{echo}, ""); err != nil {
			return nil, err
		}
	}
}

// newRehearsedEvent returns a text message as an event.
func newRehearsedEvent(room id.RoomID, sender id.UserID, body string) *event.Event {
	return &event.Event{
		Type:      event.EventMessage,
		ID:        id.EventID("$" + uuid.NewString()),
		RoomID:    room,
		Sender:    sender,
		Timestamp: time.Now().UnixMilli(),
		Content:   event.Content{Parsed: &event.MessageEventContent{MsgType: event.MsgText, Body: body}},
	}
}

// citedPlace matches what follows the name of a document in a citation: its heading, and its pages or lines.
var citedPlace = regexp.MustCompile(`(?: › .*|, (?:page|line)s? [\d-]+)$`)

// documentOf returns the name of the document that a citation cites.
func documentOf(source string) string {
	return citedPlace.ReplaceAllString(strings.Trim(source, "[]"), "")
}
