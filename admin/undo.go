package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// undoTime is how long the last change can be taken back.
const undoTime = 10 * time.Minute

// lastChange is what was changed last in the admin room.
type lastChange struct {
	At   time.Time `json:"at"`
	By   string    `json:"by"`             // the Matrix id of whoever changed it
	Undo string    `json:"undo,omitempty"` // the command that takes it back; empty if there is none
}

// undoCommands takes back the last change.
type undoCommands struct {
	base

	run func(ctx context.Context, r request, name, args string) (answer, error)
}

// commands returns the command that takes back.
func (uc *undoCommands) commands() []command {
	return []command{{
		name: "undo", group: groupControl, run: uc.undo,
		summary: "take back the last change",
		alone:   true,
		help: "For " + text.Duration(undoTime) + " after a change of a mode, a delivery, a pause, a name or a reminder. " +
			"What was sent or deleted stays so.",
	}}
}

// undo runs the command that takes back the last change.
func (uc *undoCommands) undo(ctx context.Context, r request, _ string) (answer, error) {
	var last lastChange
	found, err := store.GetSetting(ctx, uc.store.DB(), store.SettingLastChange, &last)
	if err != nil {
		return answer{}, err
	}
	switch {
	case !found, r.now.Sub(last.At) > undoTime:
		return answer{text: "Nothing was changed in the last " + text.Duration(undoTime) + "."}, nil
	case last.By != r.message.Sender.String():
		return answer{text: "The last change was not yours."}, nil
	case last.Undo == "":
		return answer{text: "The last change can't be taken back."}, nil
	}
	name, args, _ := strings.Cut(last.Undo, " ")
	return uc.run(ctx, r, name, args)
}

// chatCommand returns a command about a chat, which it names by its number.
func chatCommand(command string, chat store.Chat) string {
	return fmt.Sprintf("%s #%d", command, chat.ID)
}

// noteChange stores how the change of a request is taken back. It stores no text of people.
func noteChange(ctx context.Context, tx store.Tx, r request, ans answer) error {
	if ans.keepsUndo || (ans.change == nil && ans.changeWithText == nil) {
		return nil
	}
	return store.PutSetting(ctx, tx, store.SettingLastChange, lastChange{
		At:   r.now.UTC(),
		By:   r.message.Sender.String(),
		Undo: ans.undo,
	})
}
