package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/agent/run"
	"multis/agent/tools"
	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

const (
	// maxMessage is the maximum length of a message that is drafted for a chat, in characters.
	maxMessage = 1500
	// maxDrafts is the maximum number of messages that one task may draft.
	maxDrafts = 5
)

// findChats returns the chats that a text names, and those with a name that several chats have.
func (c *core) findChats(ctx context.Context, said string) (named, unclear []policy.ChatName, err error) {
	chats, err := c.chatNames(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range chats {
		chats[i].Person = 0
	}
	named, unclear = policy.FindChats(said, chats)
	return named, unclear, nil
}

// drafter drafts messages to chats, which wait for the owner.
type drafter struct{ *attempt }

// messageContact carries out the tool message_contact: it checks the draft, which is queued with the task's reply, so that
// no draft is made twice.
func (r drafter) messageContact(ctx context.Context, c tools.Call) (tools.Result, error) {
	args, err := tools.Decode[tools.MessageContactArgs](c)
	if err != nil {
		return tools.BadArguments(err), nil
	}
	named, unclear, err := r.core.findChats(ctx, args.Chat)
	switch {
	case err != nil:
		return tools.Result{}, err
	case strings.TrimSpace(args.Text) == "":
		return tools.Refused(tools.CodeArguments, "text is empty"), nil
	case utf8.RuneCountInString(args.Text) > maxMessage:
		return tools.Refused(tools.CodeArguments, fmt.Sprintf("text is longer than %d characters", maxMessage)), nil
	case len(named)+len(unclear) == 0:
		return tools.Refused(tools.CodeNotFound, "No chat has that name. Say so, or ask the owner which one."), nil
	case len(named) != 1 || len(unclear) > 0:
		return tools.Refused(tools.CodeArguments,
			"Several chats have that name: "+labels(slices.Concat(named, unclear))+". Ask the owner which one."), nil
	case r.draftCalls >= maxDrafts:
		return tools.Refused(tools.CodeRefused, fmt.Sprintf("%d drafts are enough for one question.", maxDrafts)), nil
	}
	r.draftCalls++
	return tools.Result{
		ForLLM:  "The owner is shown the draft for " + labels(named) + ". Nothing is sent before he approves it: say that it waits for him.",
		ForUser: "drafted a message to " + labels(named),
	}, nil
}

// labels names chats with their networks.
func labels(chats []policy.ChatName) string {
	names := make([]string, len(chats))
	for i, c := range chats {
		names[i] = c.Name + " · " + c.Network
	}
	return strings.Join(names, ", ")
}

// draft is a message for a chat, which waits for the owner's approval.
type draft struct {
	chat store.ChatID // zero if it is named only
	name string
	text string
}

// drafts returns the messages that a task has drafted: by calls of message_contact, and in the answer of a saved task.
func (r drafter) drafts(answer string) (all []draft) {
	add := func(d draft) {
		if d.text = strings.TrimSpace(r.run.BreakLinks(d.text)); d.text != "" {
			d.text = text.Clip(d.text, maxMessage)
			all = append(all, d)
		}
	}
	for _, c := range r.run.Made {
		if c.Name != tools.MessageContactName {
			continue
		}
		if args, err := tools.Decode[tools.MessageContactArgs](tools.Call{Args: c.Args}); err == nil {
			add(draft{name: args.Chat, text: args.Text})
		}
	}
	if parsed, err := run.ParseAnswer(answer); err == nil && r.run.Task.Target != nil {
		add(draft{chat: *r.run.Task.Target, text: parsed.Message})
	}
	return all
}

// queueDrafts returns a function that queues the drafts of a task, to be sent once the owner approves them. The function is
// nil if there are none, and returns text about those that the gate refuses.
func (r drafter) queueDrafts(answer string) func(ctx context.Context, tx store.Tx) (string, error) {
	all := r.drafts(answer)
	if len(all) == 0 {
		return nil
	}
	return func(ctx context.Context, tx store.Tx) (string, error) {
		now, err := store.TaskByID(ctx, tx, r.run.Task.ID) // read again, with the messages that its tools have read
		if err != nil {
			return "", err
		}
		if now.Forgotten {
			return "", nil
		}
		var refused []string
		for _, d := range all {
			problem, err := r.queueDraft(ctx, tx, d, now.Sources)
			if err != nil {
				return "", err
			}
			if problem != "" {
				refused = append(refused, problem)
			}
		}
		return strings.Join(refused, "\n\n"), nil
	}
}

// queueDraft queues a draft. problem says for people why the gate refuses it; empty if it does not.
func (r drafter) queueDraft(ctx context.Context, tx store.Tx, d draft, sources []store.MessageID) (problem string, err error) {
	if d.chat == 0 {
		named, unclear, err := r.core.findChats(ctx, d.name)
		if err != nil {
			return "", err
		}
		if len(named) != 1 || len(unclear) > 0 {
			return notDrafted(d.name, "the chat was renamed or deleted in the meantime."), nil
		}
		d.chat = named[0].ID
	}
	to, err := store.ChatByID(ctx, tx, d.chat)
	if errors.Is(err, store.ErrNotFound) {
		return notDrafted(d.name, "the chat was deleted in the meantime."), nil
	}
	if err != nil {
		return "", err
	}
	_, decision, err := r.core.box.Queue(ctx, tx, outbox.Message{
		Chat:    to,
		Purpose: policy.PurposeDraft,
		Text:    d.text,
		Draft:   true,
		Sources: sources,
	})
	if err != nil {
		return "", err
	}
	if decision.Allow {
		return "", nil
	}
	return notDrafted(to.Label(), decision.Why), nil
}

// notDrafted tells the owner that no message is drafted for a chat, and why. A chat that was deleted may have no name any more.
func notDrafted(chat, why string) string {
	if chat == "" {
		chat = "the chat"
	}
	return fmt.Sprintf("⚠️ I drafted nothing for **%s**: %s", text.Escape(chat), text.Escape(why))
}
