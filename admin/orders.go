package admin

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/bridgebridge"
	"multis/internal/language/orders"
	"multis/internal/language/phrase"
	"multis/policy"
	"multis/store"
)

// orderCommands carries out what the owner writes in plain words, such as "stop answering Ana" or "was habe ich
// verpasst?", without a model.
type orderCommands struct {
	base

	asker     Asker
	schedules *scheduleCommands
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

// caution says what is done with an order before it is carried out.
type caution int

const (
	atOnce    caution = iota // it shows something, stops something, or its command asks before it changes anything
	confirmed                // it is shown as the command and carried out after a yes
)

// plainOrder is the command of an order. The slots of the order are in braces.
type plainOrder struct {
	concept string // of package orders
	command string
	caution caution
	stops   bool // it stops something, so that it waits for nothing
}

// plainOrders are all orders that package orders knows.
var plainOrders = []plainOrder{
	{concept: "pause.all", command: "pause all", stops: true},
	{concept: "pause.all.until", command: "pause all until {when}", stops: true},
	{concept: "pause.chat", command: "pause {chat}", stops: true},
	{concept: "pause.chat.until", command: "pause {chat} until {when}", stops: true},
	{concept: "mode.silent", command: "mode silent {chat}", stops: true},
	{concept: "mode.off", command: "mode off {chat}", stops: true},
	{concept: "mode.business", command: "mode business {chat}", caution: confirmed},
	{concept: "mode.personal", command: "mode personal {chat}", caution: confirmed},
	{concept: "resume.all", command: "resume all", caution: confirmed},
	{concept: "resume.chat", command: "resume {chat}", caution: confirmed},
	{concept: "delivery.auto", command: "delivery auto {chat}", caution: confirmed},
	{concept: "delivery.draft", command: "delivery draft {chat}", caution: confirmed},
	{concept: "delivery.shadow", command: "delivery shadow {chat}", caution: confirmed},
	{concept: "remind", command: "remind {when} {timed} {rest} {text}"},
	{concept: "remind.recurring", command: "remind {typed}", caution: confirmed},
	{concept: "jobs", command: "jobs"},
	{concept: "cancel", command: "cancel {n}", caution: confirmed},
	{concept: "commitments", command: "commitments"},
	{concept: "commitments.chat", command: "commitments {chat}"},
	{concept: "memory", command: "memory"},
	{concept: "memory.chat", command: "memory {chat}"},
	{concept: "remember", command: "remember {text}", caution: confirmed},
	{concept: "forget", command: "forget {text}"},
	{concept: "chats", command: "chats"},
	{concept: "docs", command: "docs"},
	{concept: "index", command: "index {file}", caution: confirmed},
	{concept: "search", command: "search {text}"},
	{concept: "ask", command: "ask {text}"},
	{concept: "brief", command: "brief"},
	{concept: "brief.chat", command: "brief {chat}"},
	{concept: "escalations", command: "escalations"},
	{concept: "why.chat", command: "why {chat}"},
	{concept: "budget", command: "budget"},
	{concept: "audit", command: "audit"},
	{concept: "backup", command: "jobs upkeep run backup", caution: confirmed},
	{concept: "export.chat", command: "export {chat}"},
	{concept: "export.all", command: "export all"},
	{concept: "send", command: "send {chat} {text}"},
	{concept: "undo", command: "undo", caution: confirmed},
	{concept: "messages", command: "messages {chat}"},
	{concept: "messages.n", command: "messages {chat} {n}"},
	{concept: "status", command: "status"},
	{concept: "drafts", command: "drafts"},
	{concept: "help", command: "help"},
}

// planned is an order in a message: the command that carries it out.
type planned struct {
	plainOrder

	command string
}

// isQuestion reports whether the command may take long and changes nothing.
func (p planned) isQuestion() bool {
	name, args, _ := strings.Cut(p.command, " ")
	return mayTakeLong(name, args)
}

// find returns the order in a message of the owner. found is false if the message is something else: a question, a
// command, or an answer.
func (oc *orderCommands) find(ctx context.Context, r request) (_ planned, found bool, err error) {
	typed := typedText(r.message)
	if !oc.mayOrder(r) || typed == "" {
		return planned{}, false, nil
	}
	names := chatNames{ctx: ctx, db: oc.store.DB()}
	order, found := orders.Find(typed, names.has)
	if names.err != nil {
		return planned{}, false, names.err
	}
	if !found {
		unknown, found := aboutUnknownChat(typed)
		return unknown, found, nil
	}
	if chat, has := order.Slots[orders.SlotChat]; has {
		order.Slots[orders.SlotChat] = names.typedName(chat)
	}
	order.Slots["typed"] = strings.TrimSpace(typed)
	p, found := planOf(order)
	if order.IsAsked && (p.caution == confirmed || p.stops) {
		return planned{}, false, nil
	}
	return p, found, nil
}

// planOf returns the command that carries out an order, with the order's slots in it; false if there is none.
func planOf(order orders.Order) (planned, bool) {
	i := slices.IndexFunc(plainOrders, func(p plainOrder) bool { return p.concept == order.Concept })
	if i < 0 {
		return planned{}, false
	}
	return planned{plainOrders[i], fillSlots(plainOrders[i].command, order.Slots)}, true
}

// aboutUnknownChat returns the order of a line that would stop something in a chat or send something there, if it names a
// chat that does not exist. Its command says so: as a search, nobody would see that nothing was stopped.
func aboutUnknownChat(typed string) (planned, bool) {
	order, found := orders.Find(typed, isLikelyName)
	if !found || order.IsAsked || order.Slots[orders.SlotChat] == "" {
		return planned{}, false
	}
	p, found := planOf(order)
	return p, found && (p.stops || p.concept == "send")
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
			word = slots[strings.TrimSuffix(slot, "}")]
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
	if order.caution == confirmed {
		return answer{
			text:     code("/"+order.command) + "? 👍 or `yes` does it.",
			question: confirmOrder{orders: oc, Command: order.command},
			reason:   "It asks for " + order.command + ".",
		}, true, nil
	}
	ans, err := oc.carryOut(ctx, r, order.command)
	if order.stops && ans.undo != "" && !strings.Contains(ans.text, "/resume") {
		ans.text += " Undo: `/undo`."
	}
	return ans, true, err
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

// has reports whether a text is the name of a chat, or its first word.
func (n *chatNames) has(name string) bool { return n.find(name) != nil }

// typedName returns the name of a chat as it is typed, for a name that has accepts.
func (n *chatNames) typedName(name string) string {
	if chat := n.find(name); chat != nil && foldName(bridgebridge.DisplayName(chat.Name)) == foldName(withoutGenitive(name)) {
		return withoutGenitive(name)
	}
	if chat := n.find(name); chat != nil {
		return chat.TypedName()
	}
	return name
}

// find returns the chat that a name means: by its whole name, or by the first word of it. It returns nil if there is none.
func (n *chatNames) find(name string) *store.Chat {
	if !n.read {
		n.chats, n.err = store.ListChats(n.ctx, n.db, "", maxChats, 0)
		n.read = true
	}
	name = plainName(withoutGenitive(name))
	if name == "" {
		return nil
	}
	for _, level := range []func(candidate string) bool{
		func(candidate string) bool { return candidate == name },
		func(candidate string) bool {
			first, _, _ := strings.Cut(candidate, " ")
			return len(name) > 2 && first == name
		},
	} {
		for i, c := range n.chats {
			if slices.ContainsFunc(typedNames(c), func(candidate string) bool { return level(plainName(candidate)) }) {
				return &n.chats[i]
			}
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
