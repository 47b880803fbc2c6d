package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/policy"
	"multis/store"
)

// unreadableLines names the chats that cannot be read or written, and why.
func (st *status) unreadableLines(ctx context.Context, _ request) (string, error) {
	why, err := st.states.unreadable(ctx)
	if err != nil {
		return "", err
	}
	chats, err := store.ListChats(ctx, st.store.DB(), "", maxChats, 0)
	if err != nil {
		return "", err
	}
	var lines []string
	more := 0
	for _, c := range chats {
		note := lockedNote(c, why)
		switch {
		case note == "" || c.ClosedWhy != "" || c.ModeIn(st.rules.Defaults) == policy.ModeOff:
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
