package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"multis/policy"
	"multis/store"
)

// modePage is what is shown before the mode of a chat is changed.
type modePage struct {
	Chat     store.Chat
	Was, To  policy.Mode
	Origin   string
	Effect   []string // paragraphs
	NeedsPIN bool
}

// askMode says what a mode would mean in a chat, and shows a button.
func (s chatPages) askMode(v *visit) error {
	ctx := v.r.Context()
	c, err := store.ChatByID(ctx, v.db, store.ChatID(v.id()))
	to := policy.Mode(v.r.URL.Query().Get("to"))
	if errors.Is(err, store.ErrNotFound) || err == nil && !isContactChat(c) || !to.Valid() {
		s.fail(v, v.r, http.StatusNotFound)
		return nil
	}
	if err != nil {
		return err
	}
	page := modePage{Chat: c, Was: c.ModeIn(s.Defaults), To: to, Origin: c.ModeOrigin(s.Defaults)}
	effect, needsPIN, err := s.Room.ExplainMode(ctx, c, to)
	if err != nil {
		return err
	}
	page.NeedsPIN = needsPIN
	for line := range strings.Lines(effect) {
		if line = strings.TrimSpace(line); line != "" {
			page.Effect = append(page.Effect, line)
		}
	}
	s.show(v, http.StatusOK, "mode", "Change the mode", page)
	return nil
}

// setMode changes the mode of a chat.
func (s chatPages) setMode(v *visit) error {
	change := ModeChange{
		Chat: store.ChatID(v.id()),
		Was:  policy.Mode(v.r.PostFormValue("was")),
		To:   policy.Mode(v.r.PostFormValue("to")),
		PIN:  strings.TrimSpace(v.r.PostFormValue("pin")),
	}
	if !change.Was.Valid() || !change.To.Valid() {
		return s.reject(v, "There is no such mode.", "")
	}
	c, err := store.ChatByID(v.r.Context(), v.db, change.Chat)
	if errors.Is(err, store.ErrNotFound) || err == nil && !isContactChat(c) {
		s.fail(v, v.r, http.StatusNotFound)
		return nil
	}
	if err != nil {
		return err
	}
	refused, err := s.Room.SetMode(v.r.Context(), v.session, change)
	if err != nil {
		return err
	}
	return s.settle(v, refused, "", fmt.Sprintf("/chats/%d", change.Chat))
}

// isContactChat reports whether a chat is one with contacts, and no room of multis.
func isContactChat(c store.Chat) bool { return c.Kind == policy.KindDM || c.Kind == policy.KindGroup }
