package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/policy"
	"multis/store"
)

// locked tells for each chat with messages that cannot be read why they cannot.
func (a *Admin) locked(ctx context.Context) (map[int64]string, error) {
	chats, err := store.UnreadableChats(ctx, a.Store.DB())
	if err != nil {
		return nil, err
	}
	why := make(map[int64]string, len(chats))
	for _, c := range chats {
		why[c.ChatID] = strings.TrimSuffix(strings.TrimPrefix(c.Why, "It is encrypted, and "), ".")
	}
	return why, nil
}

// lockedNote says what of a chat cannot be read or written, and why; empty when all can.
func lockedNote(c store.Chat, why map[int64]string) string {
	switch {
	case c.Unreadable > 0:
		return "🔒 " + count(c.Unreadable, "message") + " I cannot read: " + esc(why[c.ID])
	case c.Encrypted != policy.EncryptionNo && c.Encrypted != policy.EncryptionYes:
		return "🔒 I do not know whether it is encrypted, so nothing is sent"
	default:
		return ""
	}
}

// lockedStatus names the chats that cannot be read or written, and why.
func (a *Admin) lockedStatus(ctx context.Context, _ request) (string, error) {
	why, err := a.locked(ctx)
	if err != nil {
		return "", err
	}
	chats, err := store.ListChats(ctx, a.Store.DB(), "", maxChats, 0)
	if err != nil {
		return "", err
	}
	var lines []string
	more := 0
	for _, c := range chats {
		note := lockedNote(c, why)
		switch {
		case note == "" || c.ClosedWhy != "" || c.ModeIn(a.Rules.Defaults) == policy.ModeOff:
		case len(lines) == pageSize:
			more++
		default:
			lines = append(lines, esc(label(c))+" — "+note)
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}
