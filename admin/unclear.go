package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/internal/language/orders"
	"multis/internal/text"
	"multis/store"
)

// unclear answers a line in which no order was found, where no model reads it. If the line has all of an order, what only shows is
// shown, and what changes something is asked for. Else the answer is zero, and note says what is nearest, for a search that finds
// nothing. A question that is only a part of the message was found by an order, and is not read as one again.
func (oc *orderCommands) unclear(ctx context.Context, r request, question string) (_ answer, note string, err error) {
	typed := typedText(r.message)
	if !oc.mayOrder(r) || question != typed {
		return answer{}, "", nil
	}
	names := chatNames{ctx: ctx, db: oc.store.DB()}
	order, isWhole, found := orders.Nearest(typed, names.has)
	if names.err != nil {
		return answer{}, "", names.err
	}
	if !found {
		note, err := oc.missedNote(ctx, typed, foundOrder{})
		return answer{}, note, err
	}
	if order.Concept == orderMove {
		return oc.unclearMove(ctx, r, typed)
	}
	p, _ := oc.plan(typed, order, &names)
	if !isWhole && order.Slots[orders.SlotChat] != "" && !strings.Contains(p.plainOrder.command, "{"+orders.SlotChat+"}") {
		p = foundOrder{} // what the chat is about is nearer
	}
	isMeant := isWhole
	if isMeant && order.Concept != orderModel {
		if isMeant, err = oc.isMeant(ctx, r, order); err != nil {
			return answer{}, "", err
		}
	}
	switch {
	case !isMeant, p.order == orderMessages, p.order == orderNotes, order.IsAsked && !p.shows && p.says == "":
		note, err := oc.missedNote(ctx, typed, p) // a search may find what was written
		return answer{}, note, err
	case p.says != "":
		return answer{text: p.says + aboutChat(order)}, "", nil
	case p.shows:
		ans, err := oc.carryOut(ctx, r, p.command)
		if !ans.handled { // else the question of the order is answered
			ans.text = "Nearest to that: " + code("/"+p.command) + "\n\n" + ans.text
		}
		return ans, "", err
	default:
		ans := oc.askFirst(p)
		ans.text = "I am not sure that I understood: " + ans.text
		return ans, "", nil
	}
}

// aboutChat names what shows the last messages of the chat that an order names; empty if it names none.
func aboutChat(order orders.Order) string {
	if name := order.Slots[orders.SlotChat]; name != "" {
		return " " + code("/messages "+name) + " shows the last messages."
	}
	return ""
}

// missedNote says that no order was understood, and which one is nearest: that of a part of the line, or one about a reminder or a chat
// that the line names.
func (oc *orderCommands) missedNote(ctx context.Context, typed string, p foundOrder) (string, error) {
	nearest := p.command
	if nearest == "" {
		jobs, err := oc.schedules.jobsAbout(ctx, typed)
		if err != nil {
			return "", err
		}
		names := chatNames{ctx: ctx, db: oc.store.DB()}
		name := orders.NamedChat(typed, names.has)
		switch {
		case len(jobs) > 0:
			nearest = fmt.Sprintf("jobs %d", jobs[0].ID)
		case name != "" && names.err == nil:
			nearest = "messages " + names.typedName(name)
		}
		if names.err != nil {
			return "", names.err
		}
	}
	note := "I understood no order in it, so nothing changed. "
	if nearest == "" {
		return note + "`/docs` lists your documents, `/help` what I can do.", nil
	}
	return note + "Nearest: " + code("/"+nearest) + ". `/help` lists what I can do.", nil
}

// unclearMove asks whether the reminder that a line is about is moved to the time that the line names.
func (oc *orderCommands) unclearMove(ctx context.Context, r request, typed string) (_ answer, note string, err error) {
	jobs, err := oc.schedules.jobsAbout(ctx, typed)
	if err != nil {
		return answer{}, "", err
	}
	if len(jobs) == 0 {
		return answer{}, "No reminder is about that, and nothing changed. `/jobs` lists them; `/jobs 1 edit tomorrow 9am` moves one.", nil
	}
	job := jobs[0]
	at, isTime := oc.schedules.movedTo(r, job, typed)
	if !isTime || len(jobs) > 1 {
		var lines []string
		for _, j := range jobs {
			line, err := oc.schedules.line(ctx, j)
			if err != nil {
				return answer{}, "", err
			}
			lines = append(lines, line)
		}
		return answer{text: strings.Join(lines, "\n") + fmt.Sprintf("\n`/jobs %d edit tomorrow 9am` moves it.", job.ID)}, "", nil
	}
	return oc.askToMove(job, moveCommand(job, at.In(oc.settings.Zone).Format(sendLayout)), oc.room.fullTime(at)), "", nil
}

// askToMove asks whether a job is moved.
func (oc *orderCommands) askToMove(job store.Schedule, command, to string) answer {
	return answer{
		text:     fmt.Sprintf("%s, “%s”: to **%s**? 👍 or `yes` does it.", code("/"+command), esc(text.Clip(job.Body, 100)), to),
		question: confirmOrder{orders: oc, Command: command},
		reason:   "It asks for " + command + ".",
	}
}
