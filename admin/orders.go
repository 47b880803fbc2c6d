package admin

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/bridgebridge"
	"multis/internal/language/orders"
	"multis/internal/language/phrase"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// orderCommands carries out what the owner writes in plain words, such as "stop answering Ana" or "was habe ich
// verpasst?", without a model.
type orderCommands struct {
	base

	asker     Asker
	schedules *scheduleCommands
	sends     *sendCommands
	run       func(ctx context.Context, r request, name, args string) (answer, error)
}

// commands returns no commands: an order is one of the others.
func (*orderCommands) commands() []command { return nil }

// questions returns the kinds of questions of the topic.
func (oc *orderCommands) questions() []func() question {
	return []func() question{
		func() question { return &confirmOrder{orders: oc} },
	}
}

// plainOrder is the command of an order. The slots of the order are in braces.
type plainOrder struct {
	order    string // its name in package orders
	command  string
	needsYes bool // it is shown as the command and carried out after a yes
	stops    bool // it stops something, so that it waits for nothing
	shows    bool // it only shows something
	// says is the answer to an order that no command carries out.
	says string
}

// slotTyped is the slot of a command that takes the whole line as it was typed.
const slotTyped = "typed"

// The orders whose form other lines have, too: see isMeant.
const (
	orderSendLater  = "send.later"
	orderCancelDone = "cancel.done"
	orderCancel     = "cancel.about"
	orderSend       = "send"
	orderRemind     = "remind"
	orderWake       = "remind.wake"
	orderMove       = "move"
	orderModel      = "model"
	orderHours      = "business.hours"
	orderMessages   = "messages"
	orderNotes      = "memory.chat"
)

// plainOrders are all orders that package orders knows.
var plainOrders = []plainOrder{
	{order: "pause.all", command: "pause all", stops: true},
	{order: "pause.all.until", command: "pause all until {when}", stops: true},
	{order: "pause.chat", command: "pause {chat}", stops: true},
	{order: "pause.chat.until", command: "pause {chat} until {when}", stops: true},
	{order: "mode.silent", command: "mode silent {chat}", stops: true},
	{order: "mode.off", command: "mode off {chat}", stops: true},
	{order: "mode.business", command: "mode business {chat}", needsYes: true},
	{order: "mode.personal", command: "mode personal {chat}", needsYes: true},
	{order: "resume.all", command: "resume all", needsYes: true},
	{order: "resume.chat", command: "resume {chat}", needsYes: true},
	{order: "delivery.auto", command: "delivery auto {chat}", needsYes: true},
	{order: "delivery.draft", command: "delivery draft {chat}", needsYes: true},
	{order: "delivery.shadow", command: "delivery shadow {chat}", needsYes: true},
	{order: orderRemind, command: "remind {when} {timed} {rest} {text}"},
	{order: "remind.recurring", command: "remind {typed}", needsYes: true},
	{order: orderWake, command: "remind {timed} wake up"},
	{order: "jobs", command: "jobs", shows: true},
	{order: "cancel", command: "cancel {n}", needsYes: true},
	{order: orderCancel, command: "cancel {text} {last}"},
	{order: orderCancelDone, command: "cancel {last}"},
	{order: "commitments", command: "commitments", shows: true},
	{order: "commitments.chat", command: "commitments {chat}", shows: true},
	{order: "memory", command: "memory", shows: true},
	{order: orderNotes, command: "memory {chat}", shows: true},
	{order: "remember", command: "remember {text}", needsYes: true},
	{order: "forget", command: "forget {text}"},
	{order: "forget.chat", command: "forget {chat}"},
	{order: "chats", command: "chats", shows: true},
	{order: "docs", command: "docs", shows: true},
	{order: "docs.remove", command: "docs remove {text}", needsYes: true},
	{order: "index", command: "index {file}", needsYes: true},
	{order: "index.how", command: "index", shows: true},
	{order: "search", command: "search {text}", shows: true},
	{order: "ask", command: "ask {text}", shows: true},
	{order: "brief", command: "brief", shows: true},
	{order: "brief.chat", command: "brief {chat}", shows: true},
	{order: "escalations", command: "escalations", shows: true},
	{order: "why.chat", command: "why {chat}", shows: true},
	{order: "budget", command: "budget", shows: true},
	{order: "budget.limit", command: "config set budget.per_day {n}", needsYes: true},
	{order: "business", command: "business", shows: true},
	{order: orderHours, command: "business setup hours", needsYes: true},
	{order: "business.tone", command: "business setup tone", needsYes: true},
	{order: "audit", command: "audit", shows: true},
	{order: "backup", command: "jobs upkeep run backup", needsYes: true},
	{order: "export.chat", command: "export {chat}"},
	{order: "export.all", command: "export all"},
	{order: orderSend, command: "send {chat} {text}"},
	{order: orderSendLater, command: "send {chat} {timed}: {text}"},
	{order: "send.ask", command: "send {chat}"}, // the question is the owner's to put
	{order: "undo", command: "undo", needsYes: true},
	{order: "messages.answered", command: "messages {chat}", shows: true},
	{order: "chats.chat", command: "chats {chat}", shows: true},
	{order: orderMove, command: "jobs {line}", needsYes: true},
	{order: orderMessages, command: "messages {chat}", shows: true},
	{order: "messages.n", command: "messages {chat} {n}", shows: true},
	{order: "status", command: "status", shows: true},
	{order: "drafts", command: "drafts", shows: true},
	{order: "help", command: "help", shows: true},
	{order: orderModel, says: "That needs a language model, and none is configured. Set `llm.model` in config.yaml."},
	{order: "quiet", says: "I can't be quiet only towards you: mute this room in your client, which stops its rings. " +
		"`/pause all` stops everything that I send."},
}

// foundOrder is an order in a message, with the command that carries it out.
type foundOrder struct {
	plainOrder

	command string
}

// isQuestion reports whether the command may take long and changes nothing.
func (p foundOrder) isQuestion() bool {
	name, args, _ := strings.Cut(p.command, " ")
	return mayTakeLong(name, args)
}

// find returns the order in a message of the owner. found is false if the message is something else: a question, a
// command, or an answer.
func (oc *orderCommands) find(ctx context.Context, r request) (_ foundOrder, found bool, err error) {
	typed := typedText(r.message)
	if !oc.mayOrder(r) || typed == "" {
		return foundOrder{}, false, nil
	}
	names := chatNames{ctx: ctx, db: oc.store.DB()}
	order, found := orders.Find(typed, names.has)
	if names.err != nil {
		return foundOrder{}, false, names.err
	}
	if !found {
		unknown, found := aboutUnknownChat(typed)
		return unknown, found, nil
	}
	order = oc.withTime(r, order)
	isOrder, err := oc.isMeant(ctx, r, order)
	if err != nil {
		return foundOrder{}, false, err
	}
	if !isOrder {
		return foundOrder{}, false, nil
	}
	p, found := oc.plan(typed, order, &names)
	if order.IsAsked && (p.needsYes || p.stops) {
		return foundOrder{}, false, nil
	}
	return p, found, nil
}

// plan returns the command that carries out an order in a line, with the names of chats as their commands take them.
func (oc *orderCommands) plan(typed string, order orders.Order, names *chatNames) (foundOrder, bool) {
	if chat, has := order.Slots[orders.SlotChat]; has {
		order.Slots[orders.SlotChat] = names.typedName(chat)
	}
	order.Slots[slotTyped] = strings.TrimSpace(typed)
	if corrected, has := order.Slots[orders.SlotLine]; has {
		order.Slots[slotTyped] = corrected
	}
	if when, has := order.Slots[orders.SlotWhen]; has && strings.HasPrefix(order.Concept, "pause") && untilPattern.MatchString(typed) {
		order.Slots[orders.SlotWhen] = "à " + when
	}
	return planOf(order)
}

// thatPattern matches the word between a time and what is to be said then: "tomorrow at 8 that I'm late".
var thatPattern = regexp.MustCompile(`(?i)\s(?:that|dass|que)\s+`)

// withTime returns an order with the time that its text begins with in a slot of its own.
func (oc *orderCommands) withTime(r request, order orders.Order) orders.Order {
	said := order.Slots[orders.SlotText]
	that := thatPattern.FindStringIndex(said)
	switch {
	case order.Concept == orderWake && oc.schedules.hasMore(r, order.Slots[orders.SlotTimed]):
		order.Concept = orderRemind // "at 7 to call Ana" says for what
	case order.Concept == orderSend && that != nil && oc.sends.isTime(r, said[:that[0]]):
		order.Concept = orderSendLater
		order.Slots[orders.SlotTimed] = said[:that[0]]
		order.Slots[orders.SlotText] = said[that[1]:]
	}
	return order
}

// untilPattern matches the French word before a time of day, such as "9h", which is else a length.
var untilPattern = regexp.MustCompile(`(?i)\bjusqu`)

// isMeant reports whether a line that has the form of an order is one: a time in it can be read, and a reminder exists.
func (oc *orderCommands) isMeant(ctx context.Context, r request, order orders.Order) (bool, error) {
	hasModel := oc.asker.HasModel(r.room, typedText(r.message))
	p, _ := planOf(order)
	switch order.Concept {
	case orderModel, orderMove:
		return false, nil // what a model does, and what unclear reads without one
	case orderSendLater:
		return oc.sends.isTime(r, order.Slots[orders.SlotTimed]), nil
	case orderCancel:
		if !hasModel {
			return true, nil
		}
		jobs, err := oc.schedules.jobsAbout(ctx, order.Slots[orders.SlotText]+" "+order.Slots[orders.SlotLast])
		return len(jobs) > 0, err
	case orderCancelDone:
		jobs, err := oc.schedules.jobsAbout(ctx, order.Slots[orders.SlotLast])
		return len(jobs) > 0, err
	default:
		return !order.IsClause || p.stops || !hasModel, nil // a model reads the other clauses, too
	}
}

// meantBy returns the command that an unknown command means in plain words, such as /help for "/hilfe"; empty if it means none.
func (oc *orderCommands) meantBy(ctx context.Context, r request, name, args string) string {
	if !r.isOwner() {
		return ""
	}
	names := chatNames{ctx: ctx, db: oc.store.DB()}
	line := strings.TrimSpace(name + " " + args)
	for _, said := range []string{line, "my " + line, "show " + line, name} {
		order, found := orders.Find(said, names.has)
		if !found || names.err != nil {
			continue
		}
		order.Slots[slotTyped] = line
		if p, found := planOf(order); found {
			return p.command
		}
	}
	return ""
}

// planOf returns the command that carries out an order, with the order's slots in it; false if there is none.
func planOf(order orders.Order) (foundOrder, bool) {
	i := slices.IndexFunc(plainOrders, func(p plainOrder) bool { return p.order == order.Concept })
	if i < 0 {
		return foundOrder{}, false
	}
	return foundOrder{plainOrders[i], fillSlots(plainOrders[i].command, order.Slots)}, true
}

// aboutUnknownChat returns the order of a line that would stop something in a chat or send something there, if it names a
// chat that does not exist. Its command says so: as a search, nobody would see that nothing was stopped.
func aboutUnknownChat(typed string) (foundOrder, bool) {
	order, found := orders.Find(typed, isLikelyName)
	if !found || order.IsAsked || order.Slots[orders.SlotChat] == "" {
		return foundOrder{}, false
	}
	p, found := planOf(order)
	return p, found && (p.stops || p.order == orderSend)
}

// isLikelyName reports whether a text may be the name of a chat: one word that begins with a capital letter.
func isLikelyName(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsUpper(first) && !strings.Contains(strings.TrimSpace(text), " ")
}

// mayOrder reports whether a message can be an order: typed by the owner, in no thread, and not a reply.
func (oc *orderCommands) mayOrder(r request) bool {
	m := r.message
	if name, _ := parseCommand(m.Body); name != "" {
		return false
	}
	return r.isOwner() && m.Code == policy.CodeCommand && m.Kind == string(bridgebridge.Text) && m.Thread == "" && m.RelatesTo == "" &&
		m.Attachment == nil && !r.room.IsOperatorsRoom
}

// fillSlots puts the slots of an order into its command. Slots that the order does not have are left out.
func fillSlots(command string, slots map[string]string) string {
	var words []string
	for word := range strings.FieldsSeq(command) {
		if slot, isSlot := strings.CutPrefix(word, "{"); isSlot {
			slot, colon, _ := strings.Cut(slot, "}")
			word = slots[slot] + colon
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// handle carries out the order in a message, or asks for a yes. done is false if there is none.
func (oc *orderCommands) handle(ctx context.Context, r request, _ string) (_ answer, done bool, err error) {
	order, found, err := oc.find(ctx, r)
	if err != nil {
		return answer{}, false, err
	}
	if !found {
		return answer{}, false, nil
	}
	if args, isReminder := strings.CutPrefix(order.command, "remind "); isReminder && !oc.schedules.canRead(r, args) &&
		oc.asker.HasModel(r.room, typedText(r.message)) {
		return answer{}, false, nil // the model reads times in words that only it knows
	}
	if order.order == orderCancel || order.order == orderCancelDone {
		about := strings.TrimPrefix(order.command, "cancel ")
		jobs, err := oc.schedules.jobsAbout(ctx, about)
		if err != nil {
			return answer{}, false, err
		}
		if len(jobs) == 1 {
			return oc.askToCancel(jobs[0]), true, nil
		}
	}
	if order.needsYes {
		return oc.askFirst(order), true, nil
	}
	if order.says != "" {
		return answer{text: order.says}, true, nil
	}
	ans, err := oc.carryOut(ctx, r, order.command)
	if order.stops && ans.undo != "" && !strings.Contains(ans.text, "/resume") {
		ans.text += " Undo: `/undo`."
	}
	return ans, true, err
}

// askFirst shows an order as its command and asks whether it is carried out.
func (oc *orderCommands) askFirst(order foundOrder) answer {
	text := code("/"+order.command) + "? 👍 or `yes` does it."
	if order.order == orderHours {
		text += " For single days: `/config set business.holidays 2026-12-25, 2026-12-27..2027-01-02`, which replaces the list before."
	}
	return answer{
		text:     text,
		question: confirmOrder{orders: oc, Command: order.command},
		reason:   "It asks for " + order.command + ".",
	}
}

// askToCancel asks whether a job that was named by its words is ended.
func (oc *orderCommands) askToCancel(job store.Schedule) answer {
	command := fmt.Sprintf("cancel %d", job.ID)
	return answer{
		text:     code("/"+command) + ", “" + esc(text.Clip(job.Body, 100)) + "”? 👍 or `yes` does it.",
		question: confirmOrder{orders: oc, Command: command},
		reason:   "It asks for " + command + ".",
	}
}

// carryOut runs the command of an order as if it had been typed.
func (oc *orderCommands) carryOut(ctx context.Context, r request, command string) (answer, error) {
	name, args, _ := strings.Cut(command, " ")
	return oc.run(ctx, r, name, args)
}

// confirmOrder asks whether an order is carried out.
type confirmOrder struct {
	yesOrNo

	orders *orderCommands

	Command string
}

func (q confirmOrder) traits() traits { return traits{kind: "order"} }

func (q confirmOrder) answer(ctx context.Context, r request, c choice) (_ answer, done bool, err error) {
	if c.word != wordYes {
		return answer{text: "Nothing changed."}, true, nil
	}
	ans, err := q.orders.carryOut(ctx, r, q.Command)
	return ans, true, err
}

// chatNames are the names of all chats. They are read when the first one is asked for.
type chatNames struct {
	ctx   context.Context //nolint:containedctx // it lives no longer than the call that made it
	db    store.DB
	chats []store.Chat
	read  bool
	err   error
}

// has reports whether a text is the name of a chat, or words of it.
func (n *chatNames) has(name string) bool { return len(n.find(name)) > 0 }

// typedName returns the name of a chat as it is typed, for a name that has accepts. If several chats may be meant, it
// returns the words of the name, so that the command asks which one.
func (n *chatNames) typedName(name string) string {
	if found := n.find(name); len(found) == 1 {
		return found[0].TypedName()
	}
	return orders.BareName(withoutGenitive(name))
}

// find returns the chats that a name may mean: those that are called so, or else those whose names have all of its words. Words
// such as "Mrs" may stand before it.
func (n *chatNames) find(name string) []store.Chat {
	if !n.read {
		n.chats, n.err = store.ListChats(n.ctx, n.db, "", maxChats, 0)
		n.read = true
	}
	whole := plainName(withoutGenitive(name))
	bare := plainName(orders.BareName(withoutGenitive(name)))
	owner := strings.TrimSuffix(bare, "s") // of "Anas"
	for _, fits := range []func(candidate string) bool{
		func(candidate string) bool { return candidate == whole },
		func(candidate string) bool { return candidate == bare },
		func(candidate string) bool { return len(bare) > 2 && hasWords(candidate, bare) },
		func(candidate string) bool { return len(owner) > 2 && owner != bare && hasWords(candidate, owner) },
	} {
		var found []store.Chat
		for _, c := range n.chats {
			if slices.ContainsFunc(typedNames(c), func(candidate string) bool { return bare != "" && fits(plainName(candidate)) }) {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// plainName returns a name as names are compared: its words in lower case, without accents and punctuation.
func plainName(name string) string { return strings.Join(phrase.Words(name), " ") }

// withoutGenitive returns a name without the ending of "Ana's".
func withoutGenitive(name string) string {
	name = strings.TrimSpace(name)
	for _, ending := range []string{"'s", "’s"} {
		if before, has := strings.CutSuffix(name, ending); has {
			return before
		}
	}
	return name
}
