package admin

import (
	"context"
	"strconv"
	"strings"
	"time"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// pausedForever is the end of a pause that only /resume ends.
var pausedForever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// pause stops everything, or the answers in one chat.
func (a *Admin) pause(ctx context.Context, r request, args string) (answer, error) {
	if args != "" && !strings.EqualFold(args, "all") {
		return a.withChat(ctx, args, pickChat{Then: "pause"})
	}
	return answer{
		text: "**Everything is paused.** Nothing goes out, not even queued messages. I still remember what comes in. `/resume` ends it.",
		do: func(ctx context.Context, tx store.Tx) error {
			return store.PutSetting(ctx, tx, store.SettingPause, store.Pause{Since: r.now.UTC()})
		},
	}, nil
}

func (a *Admin) pauseChat(chat store.Chat) answer {
	return answer{
		text: "**" + esc(label(chat)) + " is paused.** I remember, and answer nothing there until " + code("/resume "+typed(chat)) + ".",
		do: func(ctx context.Context, tx store.Tx) error {
			until := pausedForever
			return store.PauseChat(ctx, tx, chat.ID, &until)
		},
	}
}

// resume ends the pause of everything, or lets the assistant answer in one chat at once.
func (a *Admin) resume(ctx context.Context, _ request, args string) (answer, error) {
	if args != "" && !strings.EqualFold(args, "all") {
		return a.withChat(ctx, args, pickChat{Then: "resume"})
	}
	pausedAll, err := a.pausedAll(ctx)
	if err != nil {
		return answer{}, err
	}
	still, err := a.pausedChats(ctx)
	if err != nil {
		return answer{}, err
	}
	text := "**I'm back.** I won't answer messages that arrived while paused."
	if !pausedAll {
		text = "Not everything was paused."
	}
	if len(still) > 0 {
		text += "\nStill paused: " + list(still) + ". `/resume` and a name ends that."
	}
	return answer{text: text, do: func(ctx context.Context, tx store.Tx) error {
		return store.DropSetting(ctx, tx, store.SettingPause)
	}}, nil
}

// resumeChat ends a chat's pause, its hand-over and the quiet after the owner wrote there.
func (a *Admin) resumeChat(ctx context.Context, chat store.Chat) (answer, error) {
	view, err := a.view(ctx)
	if err != nil {
		return answer{}, err
	}
	text := "**" + esc(label(chat)) + ": I take over again.**"
	if !a.paused(chat) && !view.waiting[chat.ID] && !a.quietUntil(chat).After(a.Now()) {
		text = "**" + esc(label(chat)) + " was not paused.**"
	}
	switch mode := chat.ModeIn(a.Rules.Defaults); {
	case mode == policy.ModeSilent, mode == policy.ModeOff:
		text += " It is " + string(mode) + ", so I still write nothing there: " + code("/mode business "+typed(chat)) + " changes that."
	case unsendable(chat) != "":
		text += " But I cannot answer there: " + unsendable(chat)
	default:
		text += " It is " + string(mode) + "."
	}
	if view.pausedAll {
		text += " Everything is still paused: `/resume` ends that."
	}
	return answer{text: text, do: func(ctx context.Context, tx store.Tx) error {
		if err := store.ResumeChat(ctx, tx, chat.ID); err != nil {
			return err
		}
		closed, err := store.CloseEscalation(ctx, tx, chat.ID, pausedForever)
		if err != nil || !closed {
			return err
		}
		return jobs.Emit(ctx, tx, store.HookHandoff, strconv.FormatInt(chat.ID, 10))
	}}, nil
}

// pausedChats names the chats that were paused one by one.
func (a *Admin) pausedChats(ctx context.Context) ([]string, error) {
	chats, err := store.ListChats(ctx, a.Store.DB(), "", maxChats, 0)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range chats {
		if a.paused(c) {
			names = append(names, esc(label(c)))
		}
	}
	if len(names) > pageSize {
		names = append(names[:pageSize-1], count(len(names)-pageSize+1, "other"))
	}
	return names, nil
}
