package admin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"multis/clock/schedule"
	"multis/internal/language/orders"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// sendCommands sends the owner's own words to a chat.
type sendCommands struct {
	base

	schedules *scheduleCommands
}

// commands returns the command that sends.
func (se *sendCommands) commands() []command {
	return []command{{
		name: "send", args: "CHAT TEXT", group: groupChats, run: se.run,
		onChat: func(_ context.Context, pick chatPick, chat store.Chat) (answer, error) {
			return se.send(chat, pick.Text, pick.Now), nil
		},
		chatHint: func(chatPick) string { return " to send it there" },
		summary:  "send your words to a chat",
		help: "`/send Ana I'm late` shows the message as it will be sent, in your name: 👍 sends it. `/send --now Ana I'm late` sends it at once. " +
			"`/send Ana tomorrow at 8: happy birthday` sends it then, with `--unless-reply` only if Ana has not written by then. A name of several words goes in quotes: `/send \"Café Luna\" hello`.",
	}}
}

const (
	// nowOption is the option that sends without showing the message first.
	nowOption = "--now"
	// unlessReplyOption is the option of a later message that is not sent if the contact writes first.
	unlessReplyOption = "--unless-reply"
)

// run finds the chat at the beginning of the arguments, and sends the rest.
func (se *sendCommands) run(ctx context.Context, r request, args string) (answer, error) {
	args, now := cutOption(args, nowOption)
	args, unlessReply := cutOption(args, unlessReplyOption)
	name, body, err := se.splitChat(ctx, args)
	if err != nil {
		return answer{}, err
	}
	switch {
	case name == "":
		return answer{text: "To whom, and what? `/send Ana I'm late`"}, nil
	case body == "":
		return answer{text: "What should I send? " + code("/send "+name+" I'm late")}, nil
	case len([]rune(body)) > maxScheduleText:
		return answer{text: fmt.Sprintf("That is too long: at most %d characters.", maxScheduleText)}, nil
	}
	if what, at, isTimed := se.cutTime(r, body); isTimed {
		if unlessReply {
			what += " " + unlessReplyOption
		}
		return se.later(ctx, r, name, what, at, now)
	}
	if unlessReply {
		return answer{text: "`--unless-reply` needs a time: `/send --unless-reply Ana tomorrow at 8: are you coming?`"}, nil
	}
	return se.chats.withChat(ctx, name, "send", chatPick{Text: body, Now: now})
}

// cutOption returns arguments without an option, and whether they had it.
func cutOption(args, option string) (rest string, has bool) {
	words := strings.Fields(args)
	for _, end := range []int{0, len(words) - 1} {
		if end >= 0 && len(words) > 0 && strings.ReplaceAll(words[end], "—", "--") == option {
			if end == 0 {
				return strings.TrimSpace(args[strings.Index(args, words[0])+len(words[0]):]), true
			}
			return strings.TrimSpace(args[:strings.LastIndex(args, words[end])]), true
		}
	}
	return args, false
}

// splitChat splits arguments into the name of a chat and the text after it. A quoted name is taken as it is; else the
// longest beginning that is the name of a chat, and else the first word.
func (se *sendCommands) splitChat(ctx context.Context, args string) (name, body string, err error) {
	args = strings.TrimSpace(args)
	if rest, isQuoted := strings.CutPrefix(args, `"`); isQuoted {
		name, body, _ = strings.Cut(rest, `"`)
		return strings.TrimSpace(name), trimColon(body), nil
	}
	names := chatNames{ctx: ctx, db: se.store.DB()}
	for _, end := range wordEnds(args, orders.MaxName) {
		if names.has(args[:end]) {
			return names.typedName(strings.TrimRight(args[:end], ":,")), trimColon(args[end:]), names.err
		}
	}
	name, body, _ = strings.Cut(args, " ")
	return strings.TrimRight(name, ":,"), strings.TrimSpace(body), names.err
}

// wordEnds returns where the first words of a text end, the longest beginning first.
func wordEnds(text string, limit int) []int {
	var ends []int
	at := 0
	for word := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], word) + len(word)
		ends = append([]int{at}, ends...)
		if len(ends) == limit {
			break
		}
	}
	return ends
}

// trimColon returns a text without the colon or comma before it.
func trimColon(text string) string { return strings.TrimSpace(strings.TrimLeft(text, ":, ")) }

// cutTime finds a time at the beginning of a text with a colon after it, or a time at its end after "tomorrow" or "at".
func (se *sendCommands) cutTime(r request, body string) (what string, at time.Time, isTimed bool) {
	now := se.room.writtenAt(r)
	if when, rest, hasColon := strings.Cut(body, ": "); hasColon {
		if at, left, err := schedule.ParseTime(schedule.Readable(when, now), now, schedule.English()); err == nil && left == "" {
			return strings.TrimSpace(rest), at, true
		}
	}
	words := strings.Fields(body)
	for i := 1; i < len(words); i++ {
		when := strings.Join(words[i:], " ")
		if at, left, err := schedule.ParseTime(when, now, schedule.English()); err == nil && left == "" {
			return strings.Join(words[:i], " "), at, true
		}
	}
	return "", time.Time{}, false
}

// isTime reports whether all of a text is a time that /send reads before a colon.
func (se *sendCommands) isTime(r request, when string) bool {
	const said = "x"
	what, _, isTimed := se.cutTime(r, when+": "+said)
	return isTimed && what == said
}

// later asks whether a message is sent at a time. It is then a reminder that goes to the chat.
func (se *sendCommands) later(ctx context.Context, r request, name, body string, at time.Time, now bool) (answer, error) {
	chat, problem, err := se.chats.oneChat(ctx, name, `/send "%s" ...`)
	if err != nil {
		return answer{text: problem}, err
	}
	if problem != "" {
		return answer{text: problem}, nil
	}
	args := fmt.Sprintf("%s %s --to %q", at.In(se.settings.Zone).Format(sendLayout), body, chat.TypedName())
	if now {
		return se.schedules.remindAt(ctx, r, args)
	}
	shown, unlessReply := cutOption(body, unlessReplyOption)
	unless := ""
	if unlessReply {
		unless = ", unless they write first"
	}
	return answer{
		text: fmt.Sprintf("✉️ **To %s, %s**%s\n\n> %s\n\n👍 or `yes` sets it. To send it now: %s", esc(chat.Label()), se.room.fullTime(at),
			unless, esc(shown), code(fmt.Sprintf("/send --now %q %s", chat.TypedName(), shown))),
		question: confirmSend{sends: se, Args: args},
	}, nil
}

// confirmSend asks whether a message is sent at a time.
type confirmSend struct {
	yesOrNo

	sends *sendCommands

	Args string // of remindAt
}

func (confirmSend) traits() traits { return traits{kind: "send", command: "send"} }

func (q confirmSend) answer(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	if c.word != wordYes {
		return answer{text: "Nothing changed."}, true, nil
	}
	ans, err := q.sends.schedules.remindAt(ctx, r, q.Args)
	return ans, true, err
}

// questions returns the kinds of questions of the topic.
func (se *sendCommands) questions() []func() question {
	return []func() question{
		func() question { return &confirmSend{sends: se} },
	}
}

// send queues a message of the owner to a chat: as a draft that is shown with its network, or at once.
func (se *sendCommands) send(chat store.Chat, body string, now bool) answer {
	return answer{changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		_, decision, err := se.room.box.Queue(ctx, tx, outbox.Message{
			Chat:    chat,
			Purpose: policy.PurposeOperator,
			Text:    body,
			Draft:   !now,
		})
		switch {
		case err != nil:
			return "", err
		case !decision.Allow:
			return "⚠️ Not sent to **" + esc(chat.Label()) + "**: " + esc(decision.Why), nil
		case now && !chat.DeliveryIn(se.settings.Defaults).NeedsApproval(policy.PurposeOperator):
			return "Sending to **" + esc(chat.Label()) + "**.", nil
		default:
			return "", nil // the card of the draft is shown
		}
	}}
}
