package admin

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"multis/clock"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// scheduleOptions are the options of /remind and /cron.
type scheduleOptions struct {
	agent, keep, notify, bestEffort, unlessReply bool
	to                                           string
	catchUp                                      store.CatchUp
	session                                      store.Session
	zone                                         *time.Location // nil for the owner's
}

// optionPattern matches an option of /remind and /cron. Phones turn two hyphens into a dash.
var optionPattern = regexp.MustCompile(`(?i)(^|\s)(?:--|—)(?:(agent|keep|tell|best-effort|unless-reply)|(to|late|session|tz)[=\s]\s*("[^"]*"|“[^”]*”|\S+))(\s|$)`)

// unknownOption matches what looks like an option. Words in backticks are none.
var unknownOption = regexp.MustCompile(`(?i)(?:^|\s)(--[a-z][a-z-]*)`)

// quotedWords match what stands in backticks.
var quotedWords = regexp.MustCompile("`[^`]*`")

// parseOptions reads the options in a text and returns the text without them. An answer with a text says which option cannot be read.
func parseOptions(text string) (scheduleOptions, string, answer) {
	var w scheduleOptions
	for {
		m := optionPattern.FindStringSubmatchIndex(text)
		if m == nil {
			return w, strings.TrimSpace(text), refuseUnknownOption(text)
		}
		part := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		value := strings.Trim(part(4), `"“”`)
		switch strings.ToLower(part(2) + part(3)) {
		case "agent":
			w.agent = true
		case "keep":
			w.keep = true
		case "tell":
			w.notify = true
		case "best-effort":
			w.bestEffort = true
		case "unless-reply":
			w.unlessReply = true
		case "session":
			w.session = store.Session(strings.ToLower(value))
		case "to":
			w.to = value
		case "late":
			w.catchUp = store.CatchUp(strings.ToLower(value))
		case "tz":
			zone, err := schedule.ParseZone(value)
			if err != nil {
				return w, "", answer{text: fmt.Sprintf("I don't know the time zone %s. Write its IANA name: `--tz Europe/Lisbon`.", code(value))}
			}
			w.zone = zone
		}
		text = text[:m[0]] + part(1) + text[m[10]:]
	}
}

func refuseUnknownOption(text string) answer {
	m := unknownOption.FindStringSubmatch(quotedWords.ReplaceAllString(text, ""))
	if m == nil {
		return answer{}
	}
	return answer{text: fmt.Sprintf("There is no option %s; `/help remind` lists them. If it belongs to your words, write it in backticks.",
		code(m[1]))}
}

// zoneOf returns the time zone of a new schedule.
func (sc *scheduleCommands) zoneOf(w scheduleOptions) *time.Location {
	if w.zone != nil {
		return w.zone
	}
	return sc.settings.Zone
}

// remind sets a schedule with one time, or a recurring one.
func (sc *scheduleCommands) remind(ctx context.Context, r request, args string) (answer, error) {
	w, args, refused := parseOptions(args)
	if refused.text != "" {
		return refused, nil
	}
	args = sc.readable(r, args)
	if recurring, found := sc.recurrenceIn(args); found {
		return sc.setRecurring(ctx, r, w, recurring)
	}
	at, what, err := schedule.ParseTime(args, sc.room.writtenAt(r).In(sc.zoneOf(w)), schedule.English())
	ans, err := timeErrorAnswer(err)
	if err != nil {
		return answer{}, err
	}
	if ans.text != "" {
		return ans, nil
	}
	ans, err = sc.addressedChat(ctx, r, w, args, what)
	if err != nil {
		return answer{}, err
	}
	if ans.text != "" {
		return ans, nil
	}
	return sc.set(ctx, r, w, store.Schedule{Kind: string(schedule.At), NextAt: &at, Body: what})
}

// readable returns a text with its time in English, unless English reads it as it was typed.
func (sc *scheduleCommands) readable(r request, args string) string {
	if _, found := sc.recurrenceIn(args); found {
		return args
	}
	return schedule.Readable(args, sc.room.writtenAt(r))
}

// sendLayout is the layout of the time at the beginning of what remindAt takes.
const sendLayout = "2006-01-02 15:04"

// remindAt sets a schedule with the time in sendLayout at the beginning of the arguments. No other time is read in the text after it.
func (sc *scheduleCommands) remindAt(ctx context.Context, r request, args string) (answer, error) {
	w, args, refused := parseOptions(args)
	if refused.text != "" {
		return refused, nil
	}
	end := min(len(args), len(sendLayout))
	at, _, err := schedule.ParseTime(args[:end], sc.room.writtenAt(r).In(sc.zoneOf(w)), schedule.English())
	ans, err := timeErrorAnswer(err)
	if err != nil {
		return answer{}, err
	}
	if ans.text != "" {
		return ans, nil
	}
	once := store.Schedule{Kind: string(schedule.At), NextAt: &at, Body: strings.TrimSpace(args[end:])}
	return sc.set(ctx, r, w, once)
}

// recurrencePattern matches the beginning of words that say how often something recurs: "every monday", "the first monday of each month".
var recurrencePattern = regexp.MustCompile(`(?i)(?:^|\s)((?:on\s+)?(?:the\s+)?(?:first|second|third|fourth|last|\d{1,2}(?:st|nd|rd|th))\s+(?:\w+\s+)?(?:of|in)\s+` +
	`(?:every|each)|every|each|daily|weekly|monthly|hourly)\b`)

// recurrenceIn returns the arguments of /cron for a reminder that recurs, such as "me every monday to water the plants" or
// "me to water the plants every monday".
func (sc *scheduleCommands) recurrenceIn(args string) (recurring string, found bool) {
	for _, at := range recurrencePattern.FindAllStringSubmatchIndex(args, -1) {
		before := leadingWords.ReplaceAllString(strings.TrimSpace(args[:at[2]]), "")
		often, what, found := sc.cutRecurrence(args[at[2]:])
		switch {
		case !found:
			continue
		case before == "" && what != "":
			return often + " " + leadingWords.ReplaceAllString(what, ""), true
		case before != "" && what == "":
			return often + " " + before, true
		}
	}
	return "", false
}

// maxRecurrenceWords is the maximum number of words of a recurrence without a time of day, such as "on the last friday of each month".
const maxRecurrenceWords = 7

// cutRecurrence splits a text into the recurrence at its beginning and the rest. Without a time of day it is at 9:00.
func (sc *scheduleCommands) cutRecurrence(text string) (often, rest string, found bool) {
	_, _, rest, err := schedule.ParseRecurrence(text, sc.localNow(), schedule.English())
	if err == nil {
		return strings.TrimSpace(strings.TrimSuffix(text, rest)), rest, true
	}
	words := strings.Fields(text)
	for n := min(len(words), maxRecurrenceWords); n > 0; n-- {
		often = strings.Join(words[:n], " ") + fmt.Sprintf(" %d:00", tomorrowHour)
		if _, _, left, err := schedule.ParseRecurrence(often, sc.localNow(), schedule.English()); err == nil && left == "" {
			return often, strings.Join(words[n:], " "), true
		}
	}
	return "", "", false
}

// localNow returns the time in the owner's zone.
func (sc *scheduleCommands) localNow() time.Time { return sc.room.now().In(sc.settings.Zone) }

// leadingWords match the words before what a reminder is about: "me to call Ana".
var leadingWords = regexp.MustCompile(`(?i)^(?:(?:me|us)\b\s*)?(?:(?:to|that|about)\b\s*)?`)

// canRead reports whether the time of a reminder can be read.
func (sc *scheduleCommands) canRead(r request, args string) bool {
	_, args, refused := parseOptions(args)
	if refused.text != "" {
		return true // the answer says what is wrong
	}
	args = sc.readable(r, args)
	if _, found := sc.recurrenceIn(args); found {
		return true
	}
	_, _, err := schedule.ParseTime(args, sc.room.writtenAt(r), schedule.English())
	return err == nil
}

// hasMore reports whether a text is a time and something after it.
func (sc *scheduleCommands) hasMore(r request, args string) bool {
	_, rest, err := schedule.ParseTime(sc.readable(r, args), sc.room.writtenAt(r), schedule.English())
	return err == nil && rest != ""
}

// addressedPattern matches words that are addressed to a chat: "to Ana: hello".
var addressedPattern = regexp.MustCompile(`(?i)(?:^|\s)to ([^:]{1,60}):\s+(\S.*)$`)

// addressedChat asks whether a reminder that addresses a chat, such as "to Ana: hello", should be sent there. The zero
// answer means that it addresses none.
func (sc *scheduleCommands) addressedChat(ctx context.Context, r request, w scheduleOptions, args, what string) (answer, error) {
	m := addressedPattern.FindStringSubmatch(text.OneLine(args))
	if m == nil || w.to != "" || !r.isOwner() || !strings.HasSuffix(text.OneLine(what), m[1]+": "+m[2]) {
		return answer{}, nil
	}
	chats, err := store.ListChats(ctx, sc.store.DB(), "", maxChats, 0)
	if err != nil {
		return answer{}, err
	}
	found, sure := matchChats(chats, m[1])
	if len(found) == 0 || !sure {
		return answer{}, nil
	}
	when := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text.OneLine(args), m[1]+": "+m[2]), "to "))
	return answer{text: fmt.Sprintf("Send this to **%s**? Then type %s. To remind only yourself, leave “to” out.",
		esc(found[0].Label()), code(fmt.Sprintf("/remind %s %s --to %q", when, m[2], found[0].TypedName())))}, nil
}

// cron sets a schedule that recurs.
func (sc *scheduleCommands) cron(ctx context.Context, r request, args string) (answer, error) {
	w, args, refused := parseOptions(args)
	if refused.text != "" {
		return refused, nil
	}
	return sc.setRecurring(ctx, r, w, sc.readable(r, args))
}

// setRecurring sets a schedule whose recurrence is at the beginning of a text.
func (sc *scheduleCommands) setRecurring(ctx context.Context, r request, w scheduleOptions, text string) (answer, error) {
	zone := sc.zoneOf(w)
	kind, spec, what, err := schedule.ParseRecurrence(text, r.now.In(zone), schedule.English())
	ans, err := timeErrorAnswer(err)
	if err != nil {
		return ans, err
	}
	if ans.text != "" {
		return ans, nil
	}
	plan, err := schedule.Open(kind, spec, zone)
	if err != nil {
		return answer{}, err
	}
	next := plan.Next(r.now.Truncate(time.Second))
	return sc.set(ctx, r, w, store.Schedule{Kind: string(kind), Spec: spec, NextAt: &next, Body: what})
}

// set completes a schedule with its options. The returned answer inserts it and confirms it.
func (sc *scheduleCommands) set(ctx context.Context, r request, w scheduleOptions, s store.Schedule) (answer, error) {
	s.Action = store.ActionSay
	s.Zone = sc.zoneOf(w).String()
	if r.message.ID != 0 {
		s.MessageID = &r.message.ID
	}
	s.CatchUp = store.CatchOnce
	s.Keep = w.keep
	s.CreatedBy = r.message.Sender
	s.CreatedAt = r.now
	s.Session = cmp.Or(w.session, store.SessionIsolated)
	s.Tell = w.notify
	s.BestEffort = w.bestEffort
	s.UnlessReply = w.unlessReply
	if w.agent {
		s.Action = store.ActionAsk
	}
	ans, err := sc.setTarget(ctx, r, w, &s)
	if err != nil {
		return ans, err
	}
	if ans.text != "" {
		return ans, nil
	}
	if w.catchUp != "" {
		s.CatchUp = w.catchUp
	}
	if ans := sc.agents.unknownAgent(s.Body); w.agent && ans.text != "" {
		return ans, nil
	}
	if w.agent {
		if s.Tools, err = sc.agents.toolNames(ctx, r.room); err != nil {
			return answer{}, err
		}
	}
	switch {
	case w.agent && !sc.asker.HasModel(r.room, s.Body):
		return answer{text: "`--agent` needs a model to work with: set `llm.model` in config.yaml. Without `--agent` I say your words at that time."}, nil
	case s.Body == "":
		return answer{text: "Remind you of what? Put it after the time: `/remind 2h call Ana`."}, nil
	case utf8.RuneCountInString(s.Body) > maxScheduleText:
		return answer{text: fmt.Sprintf("That is too long: at most %d characters.", maxScheduleText)}, nil
	case !s.CatchUp.Valid():
		return answer{text: "`--late` is `once` (late, within a day), `skip` or `all`."}, nil
	case !s.Session.Valid() || (w.session != "" && !w.agent):
		return answer{text: "`--session` goes with `--agent`: `isolated` starts with nothing but what you ask, `main` with what was said here."},
			nil
	case (w.notify || w.bestEffort) && w.to == "":
		return answer{text: "`--tell` and `--best-effort` go with `--to`."}, nil
	case w.unlessReply && (w.to == "" || schedule.Kind(s.Kind) != schedule.At):
		return answer{text: "`--unless-reply` goes with `--to` and one time: I don't send the message if they write first."}, nil
	}
	if s.ID, err = store.NextScheduleID(ctx, sc.store.DB()); err != nil {
		return answer{}, err
	}
	text, err := sc.confirmation(ctx, s)
	return answer{
		text:   text,
		undo:   fmt.Sprintf("cancel %d", s.ID),
		change: func(ctx context.Context, tx store.Tx) error { return clock.Add(ctx, tx, s) },
	}, err
}

// setTarget sets the chat to which a schedule sends. An answer with a text says why that is not possible.
func (sc *scheduleCommands) setTarget(ctx context.Context, r request, w scheduleOptions, s *store.Schedule) (answer, error) {
	switch {
	case (w.agent || w.to != "") && !r.isOwner():
		return answer{text: "Only the owner can schedule tasks or messages to others. You can set plain reminders."}, nil
	case w.to == "":
		return answer{}, nil
	case w.agent:
		return answer{text: "What I work out by myself comes here, for you to read first: leave `--to` out."}, nil
	}
	chat, problem, err := sc.chats.oneChat(ctx, w.to, `--to "%s"`)
	switch {
	case err != nil || problem != "":
		return answer{text: problem}, err
	case chat.ModeIn(sc.settings.Defaults) == policy.ModeOff:
		return answer{text: esc(chat.Label()) + " is off: nothing goes there."}, nil
	}
	s.ChatID = &chat.ID
	return answer{}, nil
}

// confirmation says what was set, and when it is due.
func (sc *scheduleCommands) confirmation(ctx context.Context, s store.Schedule) (string, error) {
	where, err := sc.target(ctx, s)
	if err != nil {
		return "", err
	}
	what := endSentence(esc(text.Clip(s.Body, 300))) + " " + where + "Set."
	if schedule.Kind(s.Kind) == schedule.At {
		return fmt.Sprintf("⏰ **%s**%s — %s (`/jobs %d` to change)", sc.room.fullTime(*s.NextAt), sc.zoneNote(s), what, s.ID), nil
	}
	upcoming, err := sc.upcoming(s)
	reply := fmt.Sprintf("🔁 %s%s — %s Next: %s. (`/jobs %d` to change)", recurrenceText(s), sc.zoneNote(s), what, upcoming, s.ID)
	if s.Action == store.ActionSay && s.ChatID == nil && workPattern.MatchString(s.Body) {
		reply += "\nI repeat these words each time. With `--agent` I work on them instead."
	}
	return reply, err
}

// workPattern matches words that ask for work, not for a reminder.
var workPattern = regexp.MustCompile(`(?i)\b(summari[sz]e|summary|digest|brief|briefing|report|check|find|compare|review|list|what|which|who)\b|\?`)

// target says who works on a schedule, or to which chat it sends; empty for a plain reminder.
func (sc *scheduleCommands) target(ctx context.Context, s store.Schedule) (string, error) {
	switch {
	case s.Action == store.ActionAsk:
		return "I'll work on it and tell you here. ", nil
	case s.ChatID == nil:
		return "", nil
	}
	chat, err := store.ChatByID(ctx, sc.store.DB(), *s.ChatID)
	unless := ""
	if s.UnlessReply {
		unless = ", unless they write first"
	}
	return "I'll send it to **" + esc(chat.Label()) + "** in your name" + unless + ". ", err
}
