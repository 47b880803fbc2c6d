package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/safety/pin"
	"multis/store"
)

// modeCommands lists the chats and sets their modes.
type modeCommands struct {
	base
}

// commands returns the commands about chats and their modes.
func (md *modeCommands) commands() []command {
	return []command{
		{
			name:      "chats",
			args:      "[name]",
			group:     groupChats,
			run:       md.list,
			operators: true,
			summary:   "find a chat",
			alone:     true,
		},
		{
			name: "mode", args: "[mode] [chat]", group: groupChats, run: md.run,
			onChat:   md.picked,
			chatHint: md.hint,
			summary:  "what I may do in a chat",
			alone:    true,
			takes:    func(words []string) bool { return policy.Mode(words[0]).Valid() },
			help: "**business**: I answer from the public documents. **personal**: I answer when somebody calls me by my name. " +
				"**silent**: I remember and never write. **off**: nothing is stored, nothing is sent. " +
				"`/mode` lists the chats, `/mode business Ana` sets one, `/mode Ana` asks.",
		},
	}
}

// questions returns the kinds of questions of the topic.
func (md *modeCommands) questions() []func() question {
	return []func() question{
		func() question { return &pickMode{modes: md} },
	}
}

// run shows or sets the mode of a chat.
func (md *modeCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	mode, name := parseModeArgs(args)
	switch {
	case mode == "" && name == "":
		return md.chats.list(ctx, "", "mode", chatPick{})
	case name == "":
		ans, err := md.chats.list(ctx, "", "mode", chatPick{Mode: mode})
		if ans.question != nil {
			ans.text = "**Which chat becomes " + string(mode) + "?**\n" + ans.text
		}
		return ans, err
	default:
		return md.chats.withChat(ctx, name, "mode", chatPick{Mode: mode})
	}
}

// parseModeArgs finds a mode at the beginning or the end of the arguments. The rest is the name of a chat.
func parseModeArgs(args string) (policy.Mode, string) {
	fields := strings.Fields(args)
	if len(fields) == 0 {
		return "", ""
	}
	if first := policy.Mode(strings.ToLower(fields[0])); first.Valid() {
		return first, strings.Join(fields[1:], " ")
	}
	end := len(fields) - 1
	if last := policy.Mode(strings.ToLower(fields[end])); end > 0 && last.Valid() {
		return last, strings.Join(fields[:end], " ")
	}
	return "", strings.Join(fields, " ")
}

// pickMode asks for the mode of a chat.
type pickMode struct {
	modes *modeCommands

	Chat  store.ChatID
	Shown policy.Mode // the mode of the chat when the question was asked
}

func (pickMode) traits() traits {
	return traits{kind: "mode", command: "mode"}
}

func (pickMode) accepts(word string) bool { return policy.Mode(word).Valid() }

func (p pickMode) answer(ctx context.Context, _ request, c choice) (_ answer, done bool, err error) {
	mode := policy.Mode(c.word)
	if c.word == "" {
		modes := policy.Modes()
		if c.number > len(modes) {
			return answer{text: "1 to 4, please: business, personal, silent or off."}, false, nil
		}
		mode = modes[c.number-1]
	}
	chat, err := store.ChatByID(ctx, p.modes.store.DB(), p.Chat)
	if err != nil {
		return answer{}, false, err
	}
	if chat.ModeIn(p.modes.settings.Defaults) != p.Shown {
		ans, err := p.modes.ask(ctx, chat, modeChangedText)
		return ans, true, err
	}
	ans, err := p.modes.set(ctx, chat, mode)
	return ans, true, err
}

// modeChangedText begins a question that is asked again because the mode was changed after it was asked.
const modeChangedText = "**The mode has changed since I asked.** Please choose again. "

// ask shows a chat and asks for its mode.
func (md *modeCommands) ask(ctx context.Context, chat store.Chat, first string) (answer, error) {
	view, err := md.states.overview(ctx)
	if err != nil {
		return answer{}, err
	}
	origin := "the default"
	if chat.ModeSetAt != nil {
		origin = "set by you, " + md.room.shortTime(*chat.ModeSetAt)
	}
	return answer{
		text: first + fmt.Sprintf("%s (%s)\n1 business: I answer from the public documents\n2 personal: I answer when called %s\n"+
			"3 silent: I remember, I never write\n4 off: nothing is stored, nothing is sent\nReply with a number.",
			md.states.line(chat, view), origin, esc(view.name)),
		question: pickMode{modes: md, Chat: chat.ID, Shown: chat.ModeIn(md.settings.Defaults)},
	}, nil
}

// set sets the mode of a chat and says what happens there from now on.
func (md *modeCommands) set(ctx context.Context, chat store.Chat, mode policy.Mode) (answer, error) {
	if chat.Mode != nil && *chat.Mode == mode {
		text, err := md.effectText(ctx, chat, mode, "is "+string(mode)+" already")
		return answer{text: text}, err
	}
	text, err := md.effectText(ctx, chat, mode, "is now "+string(mode))
	undo := chatCommand("mode "+string(chat.ModeIn(md.settings.Defaults)), chat)
	ans := answer{text: text, undo: undo, change: func(ctx context.Context, tx store.Tx) error {
		if err := store.SetMode(ctx, tx, chat.ID, mode); err != nil {
			return err
		}
		return jobs.EnqueueForChanges(ctx, tx, chat.ID)
	}}
	if mode == policy.ModeOff {
		ans.pin = &pinNeed{pin.ActionModeOff, fmt.Sprintf("mode off for %s (%d)", chat.Label(), chat.ID)}
	}
	return ans, err
}

// effectText explains what a mode means in a chat.
func (md *modeCommands) effectText(ctx context.Context, chat store.Chat, mode policy.Mode, what string) (string, error) {
	head := fmt.Sprintf("**%s %s.** ", esc(chat.Label()), what)
	switch mode {
	case policy.ModeOff:
		return head + "Nothing is stored from now on, nothing is sent. What I stored before stays.", nil
	case policy.ModeSilent:
		return head + "I remember, I never write.", nil
	case policy.ModeBusiness, policy.ModePersonal: // explained below
	}
	if block := unsendableReason(chat); block != "" {
		return head + "But I cannot answer there yet: " + block, nil
	}
	name, err := store.AssistantName(ctx, md.store.DB(), md.settings.Name)
	if err != nil {
		return "", err
	}
	public, _, err := countDocuments(ctx, md.store.DB(), policy.OwnerScope())
	if err != nil {
		return "", err
	}
	chat.Mode = &mode // delivery depends on whether the mode was set by hand
	delivery := chat.DeliveryIn(md.settings.Defaults)
	text := head + md.answerRule(chat, delivery, name, public)
	pausedAll, err := md.states.isAllPaused(ctx)
	switch {
	case err != nil:
		return "", err
	case pausedAll:
		text += "\nEverything is paused now: I begin after `/resume`."
	case md.states.isPaused(chat):
		text += "\nThis chat is paused now: I begin after " + code("/resume "+chat.TypedName()) + "."
	default:
		first := "Rather see each answer first? " + code("/delivery draft "+chat.TypedName()) + ". "
		switch delivery {
		case policy.DeliveryDraft:
			first = "I show you each answer first. "
		case policy.DeliveryShadow:
			first = ""
		case policy.DeliveryAuto:
		}
		text += "\n" + first + "Stop everything at once: `/pause all`."
	}
	return text, nil
}

// answerRule says when multis answers in a chat with a mode of its own, from which documents and under which name, or
// that it sends nothing.
func (md *modeCommands) answerRule(chat store.Chat, delivery policy.Delivery, name string, public int) string {
	isShadow, isCalled := delivery == policy.DeliveryShadow, chat.Kind == policy.KindGroup || *chat.Mode == policy.ModePersonal
	when := ""
	if isCalled {
		when = "When somebody there calls me " + esc(name) + ", "
	}
	switch {
	case isShadow:
		return when + fmt.Sprintf("I show you here what I would answer from the public documents (%d), and send nothing: you answer.", public)
	case isCalled:
		when += "I answer"
	default:
		when = "I answer what is asked there"
	}
	as := "as you"
	if md.settings.Disclose(chat.Protocol) {
		as += ", marked " + esc("["+name+"]")
	}
	reply := fmt.Sprintf("%s from the public documents (%d), %s.", when, public, as)
	if *chat.Mode == policy.ModeBusiness && md.settings.OwnerPause > 0 {
		reply += " I stop for " + text.Duration(md.settings.OwnerPause) + " when you write there."
	}
	if public == 0 {
		reply += "\nThere is no public document yet, so I escalate every question to you. " + md.settings.addDocumentHint() + ": `/help index`."
	}
	return reply
}

// list lists the chats whose name contains a text.
func (md *modeCommands) list(ctx context.Context, r request, args string) (answer, error) {
	then := "mode"
	if !r.isOwner() {
		then = "why"
	}
	return md.chats.list(ctx, args, then, chatPick{})
}

// picked sets the given mode in the chat that was picked, or asks for one.
func (md *modeCommands) picked(ctx context.Context, pick chatPick, chat store.Chat) (answer, error) {
	switch {
	case pick.Mode == "":
		return md.ask(ctx, chat, "")
	case pick.stale:
		return md.ask(ctx, chat, modeChangedText)
	default:
		return md.set(ctx, chat, pick.Mode)
	}
}

// hint says what a number does in the list of chats.
func (md *modeCommands) hint(pick chatPick) string {
	if pick.Mode == "" {
		return ", or `/mode business` and a name"
	}
	return " to make it **" + string(pick.Mode) + "**"
}
