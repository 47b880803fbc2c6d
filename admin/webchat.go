package admin

import (
	"context"
	"fmt"
	"strconv"

	"multis/knowledge"
	"multis/ops/web"
	"multis/outbox"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// ExplainMode says what a mode means in a chat, as /mode does, and whether it needs the PIN now.
func (w *WebCommands) ExplainMode(ctx context.Context, chat store.Chat, to policy.Mode) (effect string, needsPIN bool, err error) {
	effect, err = w.modes.effectText(ctx, chat, to, "becomes "+string(to))
	if err != nil {
		return "", false, err
	}
	ans, err := w.modes.set(ctx, chat, to)
	if err != nil {
		return outbox.PlainText(effect), false, err
	}
	if ans.pin == nil {
		return outbox.PlainText(effect), false, nil
	}
	needs, _, err := w.pins.keeper.Required(ctx, w.store.DB(), ans.pin.action)
	return outbox.PlainText(effect), needs != pin.NoPIN, err
}

// SetMode sets the mode of a chat, as /mode does, if it still has the mode that the form showed.
func (w *WebCommands) SetMode(ctx context.Context, s store.WebSession, c web.ModeChange) (refused string, err error) {
	chat, err := store.ChatByID(ctx, w.store.DB(), c.Chat)
	if err != nil {
		return "", err
	}
	ans, err := w.modes.set(ctx, chat, c.To)
	if err != nil {
		return "", err
	}
	todo := deed{command: "mode", outcome: string(c.To), ref: strconv.FormatInt(int64(c.Chat), 10)}
	if ans.pin != nil {
		todo.pin, todo.digits = ans.pin.action, c.PIN
	}
	todo.change = func(ctx context.Context, tx store.Tx) error {
		locked, err := store.LockChat(ctx, tx, c.Chat)
		if err != nil {
			return err
		}
		if locked.ModeIn(w.settings.Defaults) != c.Was {
			return errShownChanged
		}
		if ans.change == nil {
			return refusal("It has that mode already.")
		}
		if err := ans.change(ctx, tx); err != nil {
			return err
		}
		return store.PutSetting(ctx, tx, store.SettingLastChange, lastChange{
			At:   w.room.now().UTC(),
			By:   s.Person.String(),
			Undo: ans.undo,
		})
	}
	return w.carryOut(ctx, s, todo)
}

// Preview answers a question as /business preview does.
func (w *WebCommands) Preview(ctx context.Context, s store.WebSession, question string) (p web.Preview, refused string, err error) {
	if w.previewer == nil {
		return p, "Nothing answers customers here.", nil
	}
	room, err := store.AdminChat(ctx, w.store.DB())
	if err != nil {
		return p, "", err
	}
	_, err = w.carryOut(ctx, s, deed{
		command: "business", outcome: "preview", words: question,
		change: func(context.Context, store.Tx) error { return nil },
	})
	if err != nil {
		return p, "", err
	}
	found, err := w.previewer.Preview(ctx, room, store.Message{}, question)
	return web.Preview(found), "", err
}

// AddDocument indexes a file as one that is sent to the admin room, and returns what was read and what was not.
func (w *WebCommands) AddDocument(ctx context.Context, s store.WebSession, u web.Upload) (report string, added bool, err error) {
	if why := whyUnindexable(u.Name, int64(len(u.Data))); why != "" {
		return outbox.PlainText(why), false, nil
	}
	_, err = w.carryOut(ctx, s, deed{
		command: "index", outcome: string(u.Role), words: u.Name,
		change: func(context.Context, store.Tx) error { return nil },
	})
	if err != nil {
		return "", false, err
	}
	file := knowledge.File{Name: u.Name, Data: u.Data, Role: u.Role, RoleSetAt: w.room.now()}
	outcome := w.documents.library.IndexAll(ctx, []knowledge.Source{{File: file}}, knowledge.Batch{})[0]
	if outcome.Err != nil && !outcome.IsPermanent() {
		return "", false, fmt.Errorf("index an upload: %w", outcome.Err)
	}
	report = outcomeText(outcome)
	if outcome.Err == nil && outcome.Report.Role != u.Role {
		report += " " + keptRoleText(outcome)
	}
	return outbox.PlainText(report), outcome.Err == nil, nil
}
