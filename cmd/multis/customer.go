package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"multis/config"
	"multis/internal/text"
	"multis/store"
)

// talk has a conversation with a customer: it reads what the customer writes, a message a line, and shows what he gets.
// The documents are the public ones of the database, and nobody else gets anything. For a question that a person has to
// answer it also shows what that person may send, and a number after a colon picks one, as the owner does on the card.
func talk(ctx context.Context, cfg *config.Config, st *store.Store, in io.Reader, out io.Writer) error {
	r, err := newRehearsal(ctx, cfg, st)
	if err != nil {
		return err
	}
	chat, err := r.openChat(ctx, uuid.NewString(), "Customer")
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "Write as a customer. :1 sends the first suggested reply as the owner would. To end, type exit or Ctrl-D.")
	for line := range readLines(ctx, in) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		shown := ""
		if number, isPick := pickNumber(line); isPick {
			shown, err = r.pick(ctx, chat, number)
		} else {
			var reply rehearsedReply
			if reply, err = r.say(ctx, chat, line); err == nil {
				shown = reply.shown()
			}
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, shown)
	}
	return nil
}

// pickNumber reads ":2".
func pickNumber(line string) (number int, isPick bool) {
	digits, isPick := strings.CutPrefix(line, ":")
	number, err := strconv.Atoi(digits)
	return number, isPick && err == nil
}

// pick sends a suggested reply of the chat's escalation as the owner does in its thread, and returns what the customer gets.
func (r rehearsal) pick(ctx context.Context, chat store.Chat, number int) (string, error) {
	problem := ""
	err := r.store.InTx(ctx, func(tx store.Tx) error {
		var err error
		problem, err = r.desk.Pick(ctx, tx, chat.ID, number)
		return err
	})
	if err != nil {
		return "", err
	}
	if problem != "" {
		return problem, nil
	}
	sent, err := r.send(ctx, chat)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, o := range sent {
		texts = append(texts, o.Text())
	}
	return strings.Join(texts, "\n\n") + "\n  (the owner sent it)", nil
}

// shown returns a reply as it is shown in a terminal: what the customer gets, and below it why.
func (r rehearsedReply) shown() string {
	var lines []string
	if r.Text != "" {
		lines = append(lines, r.Text)
	}
	said := "  (" + strings.ReplaceAll(string(r.Outcome), "_", " ")
	if r.Partial {
		said += " in part"
	}
	lines = append(lines, said+": "+text.OneLine(r.Reason)+")")
	for i, p := range r.Proposals {
		lines = append(lines, fmt.Sprintf("  :%d %s", i+1, text.OneLine(p.Text)))
	}
	return strings.Join(lines, "\n")
}
