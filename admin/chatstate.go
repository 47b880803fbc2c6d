package admin

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// chatStates describes chats: their mode, and why they cannot be read or answered.
type chatStates struct {
	store    *store.Store
	room     *room
	settings Settings
}

// chatOverview is the data for the chats' lines in a list, apart from the chats themselves.
type chatOverview struct {
	name       string // the assistant's name
	pausedAll  bool
	escalated  map[store.ChatID]bool   // the chats with an open escalation
	unreadable map[store.ChatID]string // why messages of a chat cannot be read
}

// overview reads a chatOverview.
func (s *chatStates) overview(ctx context.Context) (v chatOverview, err error) {
	if v.pausedAll, err = s.isAllPaused(ctx); err != nil {
		return chatOverview{}, err
	}
	if v.name, err = store.AssistantName(ctx, s.store.DB(), s.settings.Name); err != nil {
		return chatOverview{}, err
	}
	if v.unreadable, err = s.unreadable(ctx); err != nil {
		return chatOverview{}, err
	}
	open, err := store.WaitingEscalations(ctx, s.store.DB())
	v.escalated = make(map[store.ChatID]bool, len(open))
	for _, e := range open {
		v.escalated[e.ChatID] = true
	}
	return v, err
}

// line describes a chat in one line.
func (s *chatStates) line(c store.Chat, v chatOverview) string {
	mode := c.ModeIn(s.settings.Defaults)
	parts := []string{esc(c.Label()) + " — " + s.modeNote(c, mode, v)}
	if c.HasNamesake && c.Contact != "" { // it often contains the phone number
		parts = append(parts, code(c.Contact.Localpart()))
	}
	switch {
	case mode == policy.ModeOff:
		parts = append(parts, "nothing is stored")
	case c.ClosedReason != "":
		parts = append(parts, esc(c.ClosedReason))
	case c.RoomID == nil:
		parts = append(parts, "no room at the moment")
	case unreadableNote(c, v.unreadable) != "":
		parts = append(parts, unreadableNote(c, v.unreadable))
	}
	switch {
	case mode == policy.ModeOff:
	case c.LastMessageAt != nil:
		parts = append(parts, s.room.ago(*c.LastMessageAt))
	default:
		parts = append(parts, "no message yet")
	}
	return strings.Join(parts, " · ")
}

// modeNote describes a chat's mode, and whether multis answers there now.
func (s *chatStates) modeNote(c store.Chat, mode policy.Mode, v chatOverview) string {
	note := "**" + string(mode) + "**"
	switch {
	case mode == policy.ModeSilent:
		return "silent"
	case mode == policy.ModeOff:
		return note
	case v.pausedAll || s.isPaused(c):
		return note + ", paused"
	case unsendableReason(c) != "":
		return note + ", cannot answer"
	case s.quietUntil(c).After(s.room.now()):
		return note + ", quiet until " + s.room.shortTime(s.quietUntil(c))
	case mode == policy.ModePersonal || c.Kind == policy.KindGroup:
		note += ", when called " + esc(v.name)
	default:
		note += ", answers on"
	}
	switch c.DeliveryIn(s.settings.Defaults) {
	case policy.DeliveryDraft:
		note += " as drafts"
	case policy.DeliveryShadow:
		note += " as shadow answers"
	case policy.DeliveryAuto:
	}
	if v.escalated[c.ID] {
		note += ", waits for you"
	}
	return note
}

// isPaused reports whether the chat itself is paused.
func (s *chatStates) isPaused(c store.Chat) bool {
	return c.PausedUntil != nil && c.PausedUntil.After(s.room.now())
}

// quietUntil returns the end of the pause that began when the owner wrote in the chat; zero without one.
func (s *chatStates) quietUntil(c store.Chat) time.Time {
	p := c.Presence(false, c.ModeIn(s.settings.Defaults), s.settings.OwnerPause, s.room.now())
	if p.OwnerWroteAt.IsZero() {
		return time.Time{}
	}
	return p.OwnerWroteAt.Add(p.OwnerPause)
}

// isAllPaused reports whether everything is paused.
func (s *chatStates) isAllPaused(ctx context.Context) (bool, error) {
	var pause store.Pause
	return store.GetSetting(ctx, s.store.DB(), store.SettingPause, &pause)
}

// pausedNames names the chats that are paused individually, in Markdown.
func (s *chatStates) pausedNames(ctx context.Context) ([]string, error) {
	chats, err := store.ListChats(ctx, s.store.DB(), "", maxChats, 0)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range chats {
		if s.isPaused(c) {
			names = append(names, esc(c.Label()))
		}
	}
	if len(names) > pageSize {
		names = append(names[:pageSize-1], text.Count(len(names)-pageSize+1, "other"))
	}
	return names, nil
}

// unsendableReason says why nothing can be sent to a chat; empty when it can.
func unsendableReason(chat store.Chat) string {
	switch {
	case chat.ClosedReason != "":
		return esc(chat.ClosedReason) + "."
	case chat.RoomID == nil:
		return "it has no room at the moment."
	case chat.Unconfirmed:
		return "you have not said whether " + esc(chat.BridgeBot.String()) + " is a bridge of yours: `/bridges`."
	case chat.Encryption != policy.EncryptionNo && chat.Encryption != policy.EncryptionYes:
		return "I do not know whether its room is encrypted, so I send nothing in plain text."
	default:
		return ""
	}
}

// countChats counts the chats by network and by mode, and those that cannot be read or written.
func (s *chatStates) countChats(ctx context.Context) (networks, modes string, locked int, err error) {
	counts, err := store.CountChats(ctx, s.store.DB())
	if err != nil {
		return "", "", 0, err
	}
	var byNetwork []string
	for i, n := range counts {
		number := strconv.Itoa(n.Chats)
		if i == 0 {
			number = text.Count(n.Chats, "chat")
		}
		byNetwork = append(byNetwork, number+" on "+esc(bridgebridge.NetworkName(n.Protocol)))
	}
	chats, err := store.ListChats(ctx, s.store.DB(), "", maxChats, 0)
	if err != nil {
		return "", "", 0, err
	}
	inMode := map[policy.Mode]int{}
	for _, c := range chats {
		if c.ClosedReason != "" {
			continue
		}
		mode := c.ModeIn(s.settings.Defaults)
		inMode[mode]++
		if mode != policy.ModeOff && (c.Unreadable > 0 || c.Encryption == policy.EncryptionUnknown) {
			locked++
		}
	}
	var byMode []string
	for _, mode := range policy.Modes() {
		if n := inMode[mode]; n > 0 {
			byMode = append(byMode, fmt.Sprintf("%d %s", n, mode))
		}
	}
	return text.List(byNetwork), strings.Join(byMode, ", "), locked, nil
}

// unreadable says for each chat with unreadable messages why they cannot be read.
func (s *chatStates) unreadable(ctx context.Context) (map[store.ChatID]string, error) {
	chats, err := store.UnreadableChats(ctx, s.store.DB())
	if err != nil {
		return nil, err
	}
	why := make(map[store.ChatID]string, len(chats))
	for _, c := range chats {
		why[c.ChatID] = strings.TrimSuffix(strings.TrimPrefix(c.Why, "It is encrypted, and "), ".")
	}
	return why, nil
}

// unreadableNote says what cannot be read or written in a chat, and why; empty when all can.
func unreadableNote(c store.Chat, why map[store.ChatID]string) string {
	switch {
	case c.Unreadable > 0:
		return "🔒 " + text.Count(c.Unreadable, "message") + " I cannot read: " + esc(why[c.ID])
	case c.Encryption != policy.EncryptionNo && c.Encryption != policy.EncryptionYes:
		return "🔒 I do not know whether it is encrypted, so nothing is sent"
	default:
		return ""
	}
}

// maxChats is the maximum number of chats that are listed or searched, the newest first.
const maxChats = 10_000
