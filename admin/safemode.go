package admin

import (
	"context"
	"strings"

	"multis/outbox"
	"multis/store"
)

// safeModeCommands shows, enters and leaves safe mode.
type safeModeCommands struct {
	base

	holds []func(context.Context, request) (string, error) // each says what else makes work wait; empty if it does not
}

// commands returns the command about safe mode.
func (sm *safeModeCommands) commands() []command {
	return []command{{
		name: "safe", args: "[on or off]", group: groupControl, run: sm.run,
		summary: "no model, no tools, nothing to contacts",
		help:    "`/safe on` stops everything but this room and my memory; what comes in is stored and waits. `/safe off` ends it, and so does a normal restart.",
	}}
}

// safeModeText says what safe mode is.
const safeModeText = "No model and no tool is called, no MCP server or hook is used, and contacts get nothing. " +
	"I still store what comes in, and this room works: `/status`, `/why`, `/search`, `/pause`, `/audit`, `/config`. What else is to be done waits and is not lost. " +
	"`/safe off` or a normal restart ends it."

// run carries out /safe.
func (sm *safeModeCommands) run(ctx context.Context, r request, args string) (answer, error) {
	safe, on, err := store.SafeModeOf(ctx, sm.store.DB())
	if err != nil {
		return answer{}, err
	}
	switch strings.ToLower(strings.TrimSpace(args)) {
	case "":
		if !on {
			return answer{text: "I am not in safe mode. `/safe on` enters it."}, nil
		}
		return answer{text: sm.onText(safe)}, nil
	case "on":
		if on {
			return answer{text: sm.onText(safe)}, nil
		}
		safe = store.SafeMode{Since: r.now.UTC(), Why: "You wrote /safe on."}
		return answer{text: sm.onText(safe), reason: "The owner entered safe mode.", change: func(ctx context.Context, tx store.Tx) error {
			return store.PutSetting(ctx, tx, store.SettingSafeMode, safe)
		}}, nil
	case "off":
		if !on {
			return answer{text: "I am not in safe mode."}, nil
		}
		next, err := sm.next(ctx, r)
		return answer{
			text: "**Safe mode has ended.** " + next, reason: "The owner left safe mode.",
			change: func(ctx context.Context, tx store.Tx) error {
				return store.DropSetting(ctx, tx, store.SettingSafeMode)
			},
		}, err
	default:
		return answer{text: "Try `/safe`, `/safe on`, `/safe off`."}, nil
	}
}

// next says what becomes of the work that waited in safe mode: it is done, or waits for another reason.
func (sm *safeModeCommands) next(ctx context.Context, r request) (string, error) {
	for _, hold := range sm.holds {
		said, err := hold(ctx, r)
		if err != nil {
			return said, err
		}
		if said != "" {
			return said, nil
		}
	}
	return "What waited is done now.", nil
}

// onText says that multis is in safe mode, since when, and why.
func (sm *safeModeCommands) onText(safe store.SafeMode) string {
	return "🛟 **Safe mode** since " + sm.room.shortTime(safe.Since) + ". " + esc(safe.Why) + "\n" + safeModeText
}

// withSafeModeNote appends a note to the reply of a command, or of a yes, that starts work: in safe mode, the work waits.
func withSafeModeNote(ctx context.Context, tx store.Tx, said string) (string, error) {
	_, safe, err := store.SafeModeOf(ctx, tx)
	if err != nil {
		return said, err
	}
	if !safe {
		return said, nil
	}
	return strings.TrimSpace(said + "\n" + "🛟 I am in safe mode: it waits until that has ended. `/safe` says why, and how to end it."), nil
}

// statusLine is the line of /status; empty outside of safe mode.
func (sm *safeModeCommands) statusLine(ctx context.Context, _ request) (string, error) {
	safe, on, err := store.SafeModeOf(ctx, sm.store.DB())
	if err != nil {
		return "", err
	}
	if !on {
		return "", nil
	}
	return "🛟 **Safe mode** since " + sm.room.shortTime(safe.Since) + ": " + esc(safe.Why) + " `/safe off` ends it.", nil
}

// notify tells the owner that multis entered or left safe mode. It writes nothing if the state has changed again meanwhile.
func (sm *safeModeCommands) notify(ctx context.Context, entered bool) error {
	safe, on, err := store.SafeModeOf(ctx, sm.store.DB())
	if err != nil {
		return err
	}
	if on != entered {
		return nil
	}
	if !on {
		next, err := sm.next(ctx, request{})
		if err != nil {
			return err
		}
		return sm.room.completeWithNotice(ctx, outbox.Quiet, "✅ Safe mode has ended. "+next)
	}
	return sm.room.completeWithNotice(ctx, outbox.Alert, sm.onText(safe))
}
