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
			args:      "[command]",
			group:     groupControl,
			run:       h.show,
			operators: true,
			summary:   "this list, or more about one command",
			aliases:   []string{"pair", "unpair", "start"},
			hint:      "There is nothing to unlock: you are known by your Matrix id, which config.yaml names as `owner`.",
		},
	}
}

// show lists the commands that the sender may use, or explains one.
func (h *helpCommands) show(_ context.Context, r request, args string) (answer, error) {
	if args != "" {
		return h.showOne(r, strings.ToLower(strings.TrimLeft(args, "/!"))), nil
	}
	var b strings.Builder
	b.WriteString("Write `/` or `!` before a command.")
	if r.isOwner() {
		b.WriteString(" Anything else is a question to me.")
	} else {
		b.WriteString(" You are an operator here: you see what I do, the owner decides.")
	}
	group := ""
	for _, c := range h.table.allowed(r) {
		if c.group != group {
			group = c.group
			b.WriteString("\n\n**" + group + "**")
		}
		b.WriteString("\n" + c.usage() + " — " + c.summary)
	}
	b.WriteString("\n\n`/help mode` says more about one of them.")
	return answer{text: b.String()}, nil
}

// showOne explains one command.
func (h *helpCommands) showOne(r request, name string) answer {
	cmd, known := h.table.lookup(name)
	switch {
	case !known:
		return answer{text: h.unknown(r, name)}
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
	return answer{text: "Did you mean " + code(typed) + "? A command begins with `/` or `!`."}
}

// reminderHint shows the command for "remind me in 2 hours to call Ana".
func (h *helpCommands) reminderHint(r request, text string) answer {
	at, what, err := schedule.ParseTime(text, h.room.writtenAt(r), schedule.English())
	if err != nil || what == "" {
		return answer{text: "A reminder is a command: `/remind 2h call Ana`, `/remind tomorrow 9am call Ana`."}
	}
	return answer{text: fmt.Sprintf("A reminder is a command: write %s, and I remind you %s.", code("/remind "+text), h.room.fullTime(at))}
}

// unknown returns the reply to an unknown command, with a similar one if there is one.
func (h *helpCommands) unknown(r request, name string) string {
	if cmd, found := h.table.lookupAlias(name); found && (r.isOwner() || cmd.allows(r)) {
		return "There is no `/" + name + "`. " + cmd.alternative()
	}
	var names []string
	for _, c := range h.table.allowed(r) {
		names = append(names, c.name)
	}
	near := nearest(name, names, 1)
	if len(near) == 0 {
		near = closestByPrefix(name, names)
	}
	reply := "I don't know " + code("/"+text.Clip(name, 40)) + "."
	if len(near) > 0 {
		reply += " Did you mean `/" + near[0] + "`?"
	}
	return reply + " `/help` lists what I do."
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
