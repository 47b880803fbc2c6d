package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// The marks on a question that has ended.
const (
	markDone     = "✅"
	markDeclined = "❌"
	markExpired  = "⌛ expired"
	markOutdated = "⏹ outdated, its task was stopped"
)

// markOf returns the mark for a yes or a no.
func markOf(isYes bool) string {
	if isYes {
		return markDone
	}
	return markDeclined
}

// EndQuestion writes on the message of a question that nobody has answered that it has expired, or that its task was
// stopped. A late answer to an expired question is still told so.
func (a *Admin) EndQuestion(ctx context.Context, dialog int64, isExpired bool) error {
	return a.store.InTx(ctx, func(tx store.Tx) error {
		d, err := store.DialogByID(ctx, tx, dialog)
		if errors.Is(err, store.ErrNotFound) || (err == nil && d.Done) {
			return nil
		}
		if err != nil {
			return err
		}
		mark := markExpired
		switch wait := d.ExpiresAt.Sub(a.room.now()); {
		case isExpired && wait > 0:
			return jobs.Snooze(wait)
		case !isExpired:
			mark = markOutdated
			if _, err := store.FinishDialog(ctx, tx, d.ID); err != nil {
				return err
			}
		}
		if err := a.room.endQuestion(ctx, tx, d, mark); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}

// openUntil matches what write adds to a question.
var openUntil = regexp.MustCompile(`Open until [^.<\n]*\.`)

// endQuestion writes on the message of a question how it ended, so that nobody takes it for an open one. A
// terminal cannot change what it has printed.
func (rm *room) endQuestion(ctx context.Context, tx store.Tx, d store.Dialog, mark string) error {
	if rm.settings.Terminal {
		return nil
	}
	shown, err := store.OutboxMessageByID(ctx, tx, d.OutboxID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && shown.EventID == nil) {
		return nil
	}
	if err != nil {
		return err
	}
	var content struct {
		Body string `json:"body"`
		HTML string `json:"formatted_body"`
	}
	if err := json.Unmarshal(shown.Content, &content); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	if shown.Replaces != "" || !openUntil.MatchString(content.Body) {
		return nil
	}
	room, err := store.ChatByID(ctx, tx, shown.ChatID)
	if err != nil {
		return err
	}
	ended := mark + " " + rm.shortTime(rm.now())
	_, _, err = rm.box.Queue(ctx, tx, outbox.Message{
		Chat:     room,
		Purpose:  policy.PurposeNotice,
		Text:     openUntil.ReplaceAllLiteralString(content.Body, ended),
		HTML:     openUntil.ReplaceAllLiteralString(content.HTML, ended),
		Kind:     outbox.Quiet,
		Replaces: *shown.EventID,
		Quotes:   shown.Quotes,
		Sources:  shown.Sources,
	})
	return err
}
