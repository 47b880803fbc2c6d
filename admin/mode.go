package admin

import (
	"context"
	"fmt"
	"strings"

	"multis/policy"
	"multis/schedule"
	"multis/store"
)

// mode shows or sets what is done in a chat.
func (a *Admin) mode(ctx context.Context, _ request, args string) (answer, error) {
	mode, name := splitMode(args)
	switch {
	case mode == "" && name == "":
		return a.listed(ctx, "", pickChat{Then: "mode"})
	case name == "":
		ans, err := a.listed(ctx, "", pickChat{Then: "mode", Mode: mode})
		if ans.asks != nil {
			ans.text = "**Which chat becomes " + string(mode) + "?**\n" + ans.text
		}
		return ans, err
	default:
		return a.withChat(ctx, name, pickChat{Then: "mode", Mode: mode})
	}
}

// splitMode finds a mode at the start or the end of what follows the command; the rest is a chat's name.
func splitMode(args string) (policy.Mode, string) {
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

// meantMode finds a slip of a mode at the start or the end, when the rest is the name of a chat: what should have been typed
// after the command. Empty when there is none.
func meantMode(chats []store.Chat, args string) string {
	modes := []string{string(policy.ModeBusiness), string(policy.ModePersonal), string(policy.ModeSilent), string(policy.ModeOff)}
	fields := strings.Fields(args)
	end := len(fields) - 1
	if end < 1 {
		return ""
	}
	for _, try := range []struct{ mode, name string }{
		{fields[0], strings.Join(fields[1:], " ")},
		{fields[end], strings.Join(fields[:end], " ")},
	} {
		near := nearest(try.mode, modes, 1)
		if found, _ := match(chats, try.name); len(near) > 0 && len(found) > 0 {
			return near[0] + " " + try.name
		}
	}
	return ""
}

// pickMode asks what to do in a chat.
type pickMode struct {
	Chat  int64
	Shown policy.Mode // what the chat was in when it was asked
}

func (pickMode) kind() string    { return "mode" }
func (pickMode) command() string { return "mode" }

func (pickMode) takes(word string) bool { return policy.Mode(word).Valid() }

func (p pickMode) answer(ctx context.Context, a *Admin, _ request, c choice) (answer, bool, error) {
	mode := policy.Mode(c.word)
	if c.word == "" {
		modes := []policy.Mode{policy.ModeBusiness, policy.ModePersonal, policy.ModeSilent, policy.ModeOff}
		if c.number > len(modes) {
			return answer{text: "1 to 4, please: business, personal, silent or off."}, false, nil
		}
		mode = modes[c.number-1]
	}
	chat, err := store.ChatByID(ctx, a.Store.DB(), p.Chat)
	if err != nil {
		return answer{}, false, err
	}
	if chat.ModeIn(a.Rules.Defaults) != p.Shown {
		ans, err := a.askMode(ctx, chat, modeChanged)
		return ans, true, err
	}
	ans, err := a.setMode(ctx, chat, mode)
	return ans, true, err
}

// modeChanged goes before a question that is asked again, because the answer was to something that holds no longer.
const modeChanged = "**Its mode was changed meanwhile**, so I ask again. "

// askMode shows a chat and asks for its mode.
func (a *Admin) askMode(ctx context.Context, chat store.Chat, first string) (answer, error) {
	view, err := a.view(ctx)
	if err != nil {
		return answer{}, err
	}
	origin := "the default"
	if chat.ModeSetAt != nil {
		origin = "set by you, " + a.moment(*chat.ModeSetAt)
	}
	return answer{
		text: first + fmt.Sprintf("%s (%s)\n1 business: I answer from the public documents\n2 personal: I answer when called %s\n"+
			"3 silent: I remember, I never write\n4 off: nothing is stored, nothing is sent\nReply with a number.",
			a.chatLine(chat, view), origin, esc(view.name)),
		asks: pickMode{Chat: chat.ID, Shown: chat.ModeIn(a.Rules.Defaults)},
	}, nil
}

// setMode sets a chat's mode and says what will happen from now on.
func (a *Admin) setMode(ctx context.Context, chat store.Chat, mode policy.Mode) (answer, error) {
	if chat.Mode != nil && *chat.Mode == mode {
		text, err := a.whatFollows(ctx, chat, mode, "is "+string(mode)+" already")
		return answer{text: text}, err
	}
	text, err := a.whatFollows(ctx, chat, mode, "is now "+string(mode))
	return answer{text: text, do: func(ctx context.Context, tx store.Tx) error { return store.SetMode(ctx, tx, chat.ID, mode) }}, err
}

// whatFollows tells the owner what a mode means in this chat.
func (a *Admin) whatFollows(ctx context.Context, chat store.Chat, mode policy.Mode, what string) (string, error) {
	head := fmt.Sprintf("**%s %s.** ", esc(label(chat)), what)
	switch mode {
	case policy.ModeOff:
		return head + "Nothing is stored from now on, nothing is sent. What I stored before stays.", nil
	case policy.ModeSilent:
		return head + "I remember, I never write.", nil
	case policy.ModeBusiness, policy.ModePersonal: // below: what it takes to answer
	}
	if block := unsendable(chat); block != "" {
		return head + "But I cannot answer there yet: " + block, nil
	}
	name, err := store.AssistantName(ctx, a.Store.DB(), a.Rules.Name)
	if err != nil {
		return "", err
	}
	public, _, err := countDocuments(ctx, a.Store.DB(), policy.OwnerScope())
	if err != nil {
		return "", err
	}
	text := head + a.promise(chat, mode, name, public)
	pausedAll, err := a.pausedAll(ctx)
	switch {
	case err != nil:
		return "", err
	case pausedAll:
		text += "\nEverything is paused now: I begin after `/resume`."
	case a.paused(chat):
		text += "\nThis chat is paused now: I begin after " + code("/resume "+typed(chat)) + "."
	default:
		first := "Rather see each answer first? " + code("/delivery draft "+typed(chat)) + "."
		if chat.Mode = &mode; chat.DeliveryIn(a.Rules.Defaults) == policy.DeliveryDraft { // set by hand from now on
			first = "I show you each answer first."
		}
		text += "\n" + first + " Stop everything at once: `/pause all`."
	}
	return text, nil
}

// promise says when, from what and as whom the assistant will answer.
func (a *Admin) promise(chat store.Chat, mode policy.Mode, name string, public int) string {
	var when string
	switch {
	case chat.Kind == policy.KindGroup, mode == policy.ModePersonal:
		when = "When somebody there calls me " + esc(name) + ", I answer"
	default:
		when = "I answer what is asked there"
	}
	as := "as you"
	if a.Rules.Disclose(chat.Protocol) {
		as += ", marked " + esc("["+name+"]")
	}
	text := fmt.Sprintf("%s from the public documents (%d), %s.", when, public, as)
	if mode == policy.ModeBusiness && a.Rules.OwnerPause > 0 {
		text += " I stop for " + schedule.Short(a.Rules.OwnerPause) + " when you write there."
	}
	if public == 0 {
		text += "\nThere is no public document yet, so I hand every question to you. " + a.Rules.giveOne() + ": `/help index`."
	}
	return text
}

// unsendable says why nothing can be sent to a chat; empty when it can.
func unsendable(chat store.Chat) string {
	switch {
	case chat.ClosedWhy != "":
		return esc(chat.ClosedWhy) + "."
	case chat.RoomID == nil:
		return "it has no room at the moment."
	case chat.Unconfirmed:
		return "you have not said whether " + esc(chat.BridgeBot.String()) + " is a bridge of yours: `/bridges`."
	case chat.Encrypted != policy.EncryptionNo && chat.Encrypted != policy.EncryptionYes:
		return "I do not know whether its room is encrypted, so I send nothing in plain text."
	default:
		return ""
	}
}
