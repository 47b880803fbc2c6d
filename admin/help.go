package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/clock/schedule"
	"multis/internal/text"
)

// helpCommands shows the help, and suggests a command for text that looks like one.
type helpCommands struct {
	base

	table *commandTable
	asker Asker
}

// commands returns the commands about help.
func (h *helpCommands) commands() []command {
	return []command{
		{
			name:      "help",
			args:      "[command or group]",
			group:     groupControl,
			run:       h.show,
			operators: true,
			summary:   "the commands, or more about one",
			aliases:   []string{"pair", "unpair", "start"},
			hint:      "There is nothing to unlock: you are known by your Matrix id, which config.yaml names as `owner`.",
		},
	}
}

// firstCommands are the commands on the first screen of the help, with an example and what it does.
var firstCommands = []struct{ name, example, does string }{
	{"index", "/index", "add a document (or just send a file)"},
	{"ask", "/ask do you deliver?", "answer with sources"},
	{"mode", "/mode business Ana", "let me answer a chat"},
	{"drafts", "/drafts", "answers waiting for your approval"},
	{"why", "/why Ana", "why I answered, or didn't"},
	{"remind", "/remind 2h call Ana", "set a reminder"},
	{"pause", "/pause all", "stop sending, everywhere"},
	{"status", "/status", "what works, what needs you"},
}

// show shows the first screen of the help, a group of commands, all of them, or one.
func (h *helpCommands) show(_ context.Context, r request, args string) (answer, error) {
	name := strings.ToLower(strings.TrimLeft(args, `\/! `))
	switch {
	case name == "":
		return answer{text: h.firstScreen(r)}, nil
	case name == "all":
		return answer{text: h.groups(r, helpGroups)}, nil
	case !slices.Contains(helpGroups, name):
		return h.showOne(r, name), nil
	}
	list := h.groups(r, []string{name})
	if cmd, known := h.table.lookup(name); known && cmd.allows(r) { // /memory is a command, too
		list = h.showOne(r, name).text + "\n\n" + list
	}
	return answer{text: list}, nil
}

// firstScreen shows what one needs first, and the names of the groups. It fits on a phone.
func (h *helpCommands) firstScreen(r request) string {
	var b strings.Builder
	if r.isOwner() {
		b.WriteString("**Ask me anything**, or use a command. If your app swallows `/`, type `!`.")
	} else {
		b.WriteString("You're an operator: you can look things up. Only the owner changes things.")
	}
	for _, first := range firstCommands {
		if cmd, known := h.table.lookup(first.name); known && cmd.allows(r) {
			b.WriteString("\n" + code(first.example) + " — " + first.does)
		}
	}
	var groups []string
	for _, group := range helpGroups {
		if h.groups(r, []string{group}) != "" {
			groups = append(groups, group)
		}
	}
	b.WriteString("\n**More:** `/help " + strings.Join(groups, "`, `") + "` or `all`\nAbout one command: `/help status`")
	return b.String()
}

// groups lists the commands of groups that the sender may use.
func (h *helpCommands) groups(r request, groups []string) string {
	var parts []string
	for _, group := range groups {
		var lines []string
		for _, c := range h.table.allowed(r) {
			if c.group == group {
				lines = append(lines, c.usage()+" — "+c.summary)
			}
		}
		if len(lines) > 0 {
			parts = append(parts, "**"+group+"**\n"+strings.Join(lines, "\n"))
		}
	}
	return strings.Join(parts, "\n\n")
}

// showOne explains one command.
func (h *helpCommands) showOne(r request, name string) answer {
	cmd, known := h.table.lookup(name)
	switch {
	case !known:
		return answer{text: h.unknown(r, name, "")}
	case !cmd.allows(r):
		return notAllowedAnswer(cmd.name)
	case cmd.help == "":
		return answer{text: fmt.Sprintf("%s — %s.", cmd.usage(), cmd.summary)}
	default:
		return answer{text: fmt.Sprintf("%s — %s.\n%s", cmd.usage(), cmd.summary, cmd.help)}
	}
}

// plainCommand answers a text that is a command without its "/", or a reminder in plain words that only a model could
// understand. The zero answer means that the text is a question.
func (h *helpCommands) plainCommand(r request, text string) answer {
	words := strings.Fields(strings.ToLower(strings.TrimRight(text, ".! ")))
	if len(words) == 0 || strings.Contains(text, "?") {
		return answer{}
	}
	if words[0] == "remind" && len(words) > 1 && !h.asker.HasModel(r.room, text) {
		return h.reminderHint(r, strings.TrimSpace(text[len("remind"):]))
	}
	name := words[0]
	if cmd, found := h.table.lookupAlias(name); found && cmd.isTyped(words) {
		return answer{text: cmd.alternative()}
	}
	cmd, known := h.table.lookup(name)
	if !known || !cmd.isTyped(words) {
		return answer{}
	}
	typed := "/" + cmd.name
	if len(words) > 1 && !cmd.secret && !slices.Contains(showWords, words[1]) {
		typed += " " + strings.TrimSpace(text[len(name):])
	}
	return answer{text: "Did you mean " + code(typed) + "? Commands start with `/` or `!`."}
}

// reminderHint shows the command for "remind me in 2 hours to call Ana".
func (h *helpCommands) reminderHint(r request, text string) answer {
	at, what, err := schedule.ParseTime(text, h.room.writtenAt(r), schedule.English())
	if err != nil || what == "" {
		return answer{text: "Remind you when? Try `/remind 2h call Ana`, `/remind tomorrow 9am call Ana`."}
	}
	return answer{text: fmt.Sprintf("A reminder is a command: write %s, and I remind you %s.", code("/remind "+text), h.room.fullTime(at))}
}

// foreignCommands are commands that people know from other programs, with what to do here.
var foreignCommands = map[string]string{
	"about":       "`/status` says how things are, `/help` what I do.",
	"add":         "`/index` adds a document, `/remember TEXT` a note, `/remind WHEN TEXT` a reminder.",
	"agents-list": "`/agents` lists them.",
	"block":       "`/mode off Ana` stores and sends nothing there, `/mode silent Ana` only listens.",
	"clear":       "`/forget TOPIC` deletes messages and notes, `/cancel NUMBER` a reminder.",
	"compact":     "I shorten long conversations myself.",
	"contacts":    "`/chats` lists your chats.",
	"delete":      "`/docs remove NAME` deletes a document, `/cancel NUMBER` a reminder, `/forget TOPIC` messages and notes.",
	"heartbeat":   "Periodic checks are set under `heartbeat` in config.yaml; `/jobs upkeep` shows when the next one is.",
	"history":     "`/messages Ana` shows the last messages of a chat, `/audit` what I did.",
	"id":          "I know you by your Matrix id, which config.yaml names as `owner`.",
	"info":        "`/status` says how things are, `/help` what I do.",
	"list":        "`/chats`, `/docs`, `/jobs` and `/drafts` list things.",
	"mute":        "`/mode silent Ana` keeps me quiet there, `/pause all` everywhere.",
	"new":         "Nothing to start: just ask. `/forget all` deletes what I remember.",
	"quit":        "`/pause all` stops what I send. On the server: `systemctl stop multis`.",
	"reminders":   "`/jobs` lists them.",
	"remove":      "`/docs remove NAME` deletes a document, `/cancel NUMBER` a reminder, `/forget TOPIC` messages and notes.",
	"reset":       "Just ask: each question stands alone. `/forget all` deletes what I remember, `/config reset KEY` resets a setting.",
	"restart":     "On the server: `systemctl restart multis`. `/pause all` stops what I send.",
	"schedule":    "`/remind WHEN TEXT` sets a reminder, `/cron WHEN TEXT` a recurring one, `/jobs` lists them.",
	"sessions":    "`/chats` lists the chats, `/messages Ana` shows the last messages of one.",
	"silence":     "`/mode silent Ana` keeps me quiet there, `/pause all` everywhere.",
	"spending":    "`/budget` shows it.",
	"tell":        "`/send Ana I'm late` shows the message and sends it after your 👍.",
	"text":        "`/send Ana I'm late` shows the message and sends it after your 👍.",
	"unblock":     "`/mode business Ana` lets me answer there again, `/resume Ana` ends a pause.",
	"unpause":     "`/resume` lets me send again.",
	"upload":      "Send the file here, or name its path: `/index PATH`.",
	"usage":       "`/budget` shows what models cost.",
	"wake":        "`/remind 7am wake up` sets an alarm, `/resume` ends a pause.",
	"whoami":      "I know you by your Matrix id, which config.yaml names as `owner`.",
	"write":       "`/send Ana I'm late` shows the message and sends it after your 👍.",
}

// unknown returns the reply to an unknown command: what to do here, or else the command that it means in plain words, or a similar one.
// meant is empty for an unknown meaning.
func (h *helpCommands) unknown(r request, name, meant string) string {
	if cmd, found := h.table.lookupAlias(name); found && (r.isOwner() || cmd.allows(r)) {
		return "There's no `/" + name + "`. " + cmd.alternative()
	}
	if instead, found := foreignCommands[name]; found && r.isOwner() {
		return "There's no `/" + name + "`. " + instead
	}
	var names []string
	for _, c := range h.table.allowed(r) {
		names = append(names, c.name)
	}
	near := nearest(name, names, 1)
	if len(near) == 0 && meant != "" {
		near = []string{meant}
	}
	if len(near) == 0 {
		near = closestByPrefix(name, names)
	}
	reply := "There's no " + code("/"+text.Clip(name, 40)) + "."
	if len(near) > 0 {
		reply += " Did you mean " + code("/"+near[0]) + "?"
	}
	return reply + " `/help all` lists all commands."
}

// minCommonPrefix is the length of the common prefix from which a command is suggested.
const minCommonPrefix = 3

// closestByPrefix returns the name with the longest common prefix with a word, or none.
func closestByPrefix(word string, names []string) []string {
	best, length := "", minCommonPrefix-1
	for _, name := range names {
		n := 0
		for n < min(len(word), len(name)) && word[n] == name[n] {
			n++
		}
		if n > length {
			best, length = name, n
		}
	}
	if best == "" {
		return nil
	}
	return []string{best}
}
