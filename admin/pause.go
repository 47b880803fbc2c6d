package admin

import (
	"context"
	"slices"
	"strings"
	"time"

	"multis/business/desk"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/store"
)

// pauseCommands pauses and resumes all chats, or one.
type pauseCommands struct {
	base

	desk *desk.Desk
}

// commands returns the commands about pauses.
func (ps *pauseCommands) commands() []command {
	return []command{
		{
			name: "pause", args: "[all or chat]", group: groupControl, run: ps.pause,
			onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
				return ps.pauseChat(chat, pick), nil
			},
			chatHint: func(chatPick) string { return " to pause it" },
			summary:  "stop sending",
			aliases:  []string{"stop", "quiet"},
			hint:     "`/pause all` stops everything that I send, `/cancel-task` what I work on.",
			alone:    true,
			help:     "`/pause` and `/pause all` stop everything at once, what waits to be sent included. `/pause Ana` stops my answers there, `/pause Ana until 18:00` for a while. Otherwise both last until `/resume`.",
		},
		{
			name: "resume", args: "[all or chat]", group: groupControl, run: ps.resume,
			onChat: func(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) {
				return ps.resumeChat(ctx, chat)
			},
			chatHint: func(chatPick) string { return " to let me answer there" },
			summary:  "send again",
			alone:    true,
			help: "`/resume` ends `/pause all`; chats that were paused one by one stay paused. " +
				"`/resume Ana` lets me answer there at once, even if you wrote there a moment ago.",
		},
	}
}

// pause stops everything that is sent, or the answers in one chat.
func (ps *pauseCommands) pause(ctx context.Context, r request, args string) (answer, error) {
	name, when, hasEnd := strings.Cut(args, " until ")
	var until *time.Time
	if hasEnd {
		if at, isTime := ps.endOf(r, when); isTime {
			until = &at
		}
	}
	unread := hasEnd && until == nil
	if name != "" && !strings.EqualFold(name, "all") {
		return ps.chats.withChat(ctx, name, "pause", chatPick{Until: until, HasUnreadTime: unread})
	}
	text := "**Everything is paused.** Nothing is sent, not even queued messages. I still remember what comes in. `/resume` ends it."
	if hasEnd {
		text += " I can't end it at a time: set a reminder, such as `/remind 2h resume`."
	}
	return answer{
		text: text,
		undo: "resume all",
		change: func(ctx context.Context, tx store.Tx) error {
			return store.PutSetting(ctx, tx, store.SettingPause, store.Pause{Since: r.now.UTC()})
		},
	}, nil
}

// endOf returns the time at which a pause ends; false if the words are no time.
func (ps *pauseCommands) endOf(r request, when string) (time.Time, bool) {
	at, rest, err := schedule.ParseTime(ps.end(r, when), ps.room.writtenAt(r), schedule.English())
	return at, err == nil && rest == ""
}

// end returns the time at which a pause ends in English. "9h" is a length there, and "à 9h" a time of day.
func (ps *pauseCommands) end(r request, when string) string {
	const at = "à "
	when, isClock := strings.CutPrefix(when, at)
	candidates := []string{schedule.InEnglish(at + when), schedule.InEnglish(when)}
	if !isClock {
		candidates = slices.Insert(candidates, 0, when)
	}
	for _, in := range []string{"in ", "en ", "dans "} { // a length, such as "una semana"
		candidates = append(candidates, schedule.InEnglish(in+when))
	}
	for _, english := range candidates {
		if _, rest, err := schedule.ParseTime(english, ps.room.writtenAt(r), schedule.English()); err == nil && rest == "" {
			return english
		}
	}
	return when
}

// pauseChat stops the answers in a chat.
func (ps *pauseCommands) pauseChat(chat store.Chat, pick chatPick) answer {
	until := pick.Until
	end := store.PausedForever
	name := "**" + esc(chat.Label())
	text := name + " is paused.** I remember, and answer nothing there until " + code("/resume "+chat.TypedName()) + "."
	if until != nil {
		end = *until
		text = name + " is paused until " + ps.room.fullTime(end) + ".** I remember, and answer nothing there. " +
			code("/resume "+chat.TypedName()) + " ends it."
	}
	if pick.HasUnreadTime {
		text += " I don't understand until when; a time looks like " + code("/pause "+chat.TypedName()+" until 18:00") + "."
	}
	return answer{
		text:   text,
		undo:   chatCommand("resume", chat),
		change: func(ctx context.Context, tx store.Tx) error { return store.PauseChat(ctx, tx, chat.ID, &end) },
	}
}

// resume ends the pause of everything, or of one chat.
func (ps *pauseCommands) resume(ctx context.Context, _ request, args string) (answer, error) {
	if args != "" && !strings.EqualFold(args, "all") {
		return ps.chats.withChat(ctx, args, "resume", chatPick{})
	}
	pausedAll, err := ps.states.isAllPaused(ctx)
	if err != nil {
		return answer{}, err
	}
	still, err := ps.states.pausedNames(ctx)
	if err != nil {
		return answer{}, err
	}
	reply := "**I'm back.** I won't answer messages that arrived while paused."
	if !pausedAll {
		reply = "Not everything was paused."
	}
	if len(still) > 0 {
		reply += "\nStill paused: " + text.List(still) + ". `/resume` and a name ends that."
	}
	return answer{text: reply, undo: "pause all", change: func(ctx context.Context, tx store.Tx) error {
		return store.DropSetting(ctx, tx, store.SettingPause)
	}}, nil
}

// resumeChat ends a chat's pause, its escalation, and the pause after the owner wrote there.
func (ps *pauseCommands) resumeChat(ctx context.Context, chat store.Chat) (answer, error) {
	view, err := ps.states.overview(ctx)
	if err != nil {
		return answer{}, err
	}
	text := "**" + esc(chat.Label()) + ": I answer again.**"
	if !ps.states.isPaused(chat) && !view.escalated[chat.ID] && !ps.states.quietUntil(chat).After(ps.room.now()) {
		text = "**" + esc(chat.Label()) + " was not paused.**"
	}
	switch mode := chat.ModeIn(ps.settings.Defaults); {
	case !mode.Answers():
		text += " It is " + string(mode) + ", so I still write nothing there: " + code("/mode business "+chat.TypedName()) + " changes that."
	case unsendableReason(chat) != "":
		text += " But I cannot answer there: " + unsendableReason(chat)
	default:
		text += " It is " + string(mode) + "."
	}
	if view.pausedAll {
		text += " Everything is still paused: `/resume` ends that."
	}
	return answer{text: text, undo: chatCommand("pause", chat), change: func(ctx context.Context, tx store.Tx) error {
		if err := store.ResumeChat(ctx, tx, chat.ID); err != nil {
			return err
		}
		return ps.desk.ResolveChat(ctx, tx, chat.ID)
	}}, nil
}
