package admin

import (
	"context"
	"fmt"
	"strings"
)

// help lists the commands, and suggests one for what is none.
type help struct {
	table *commandTable
	asker Asker
	room  *room
	rules Rules
}

// commands are those about help.
func (h *help) commands() []command {
	return []command{
		{
			name: "help", args: "[command]", group: groupControl, run: h.show, operators: true,
			summary: "this list, or more about one command",
		},
	}
}

func (h *help) show(_ context.Context, r request, args string) (answer, error) {
	if args != "" {
		return h.showOne(r, strings.ToLower(strings.TrimLeft(args, "/!"))), nil
	}
	var b strings.Builder
	b.WriteString("Write `/` or `!` before a command.")
	if r.byOwner() {
		b.WriteString(" Anything else is a question to me.")
	} else {
		b.WriteString(" You are an operator here: you see what I do, the owner decides.")
	}
	group := ""
	for _, c := range h.table.commands {
		if !c.allows(r) {
			continue
		}
		if c.group != group {
			group = c.group
			b.WriteString("\n\n**" + group + "**")
		}
		b.WriteString("\n" + c.usage() + " — " + c.summary)
	}
	b.WriteString("\n\n`/help mode` says more about one of them.")
	return answer{text: b.String()}, nil
}

func (h *help) showOne(r request, name string) answer {
	cmd, known := h.table.lookup(name)
	switch {
	case !known:
		return answer{text: h.unknown(r, name)}
	case !cmd.allows(r):
		return refusal(cmd.name)
	case cmd.help == "":
		return answer{text: fmt.Sprintf("%s — %s.", cmd.usage(), cmd.summary)}
	default:
		return answer{text: fmt.Sprintf("%s — %s.\n%s", cmd.usage(), cmd.summary, cmd.help)}
	}
}
