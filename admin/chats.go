package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// chatPicker finds the chat that a command is about: by its name, or by asking.
type chatPicker struct {
	store    *store.Store
	states   *chatStates
	table    *commandTable
	settings Settings
}

const (
	// maxPicks is how many chats can be paged through.
	maxPicks = 1000
)

// pickChat asks which chat is meant, ten on a page. The numbers continue from page to page.
type pickChat struct {
	picker *chatPicker

	// Command is the name of the command that continues with the chat.
	Command string `json:"Then"`
	chatPick
	Chats []store.ChatID
	From  int           // the first one shown on this page
	Shown []policy.Mode `json:",omitempty"` // the modes of the chats shown so far
}

func (p pickChat) traits() traits {
	return traits{kind: "chat", command: p.Command}
}

func (pickChat) accepts(word string) bool { return word == wordMore || word == "next" }

func (p pickChat) answer(ctx context.Context, _ request, c choice) (_ answer, done bool, err error) {
	if c.word != "" {
		if p.From+pageSize >= len(p.Chats) {
			return answer{text: "That was all of them."}, false, nil
		}
		p.From += pageSize
		ans, err := p.picker.page(ctx, p, "")
		return ans, true, err
	}
	n := c.number
	if c.onPage {
		n += p.From
	}
	shown := min(p.From+pageSize, len(p.Chats))
	if n < 1 || n > shown {
		return answer{text: fmt.Sprintf("I showed 1 to %d. Which one?", shown)}, false, nil
	}
	chat, err := store.ChatByID(ctx, p.picker.store.DB(), p.Chats[n-1])
	if err != nil {
		return answer{}, false, err
	}
	p.stale = len(p.Shown) < n || p.Shown[n-1] != chat.ModeIn(p.picker.settings.Defaults)
	ans, err := p.picker.picked(ctx, p, chat)
	return ans, true, err
}

// picked continues the command with the chat.
func (k *chatPicker) picked(ctx context.Context, p pickChat, chat store.Chat) (answer, error) {
	cmd, known := k.table.lookup(p.Command)
	if !known || cmd.onChat == nil {
		return answer{}, fmt.Errorf("continue with a chat: command %q is unknown", p.Command)
	}
	return cmd.onChat(ctx, p.chatPick, chat)
}

// candidates returns the chats that a command may be about.
func (k *chatPicker) candidates(ctx context.Context, pick chatPick) ([]store.Chat, error) {
	chats, err := store.ListChats(ctx, k.store.DB(), "", maxChats, 0)
	if err != nil {
		return chats, err
	}
	if !pick.Customers {
		return chats, nil
	}
	open, err := store.UnresolvedEscalations(ctx, k.store.DB())
	return slices.DeleteFunc(chats, func(c store.Chat) bool { return !k.isCustomer(c, open) }), err
}

// isCustomer reports whether operators may see a chat and answer there. open are all open escalations.
func (k *chatPicker) isCustomer(c store.Chat, open []store.Escalation) bool {
	return c.ModeIn(k.settings.Defaults) == policy.ModeBusiness || slices.ContainsFunc(open, func(e store.Escalation) bool {
		return e.ChatID == c.ID
	})
}

// withChat continues a command with the chat that a name means, or asks when the name is not clear.
func (k *chatPicker) withChat(ctx context.Context, name, command string, pick chatPick) (answer, error) {
	p := pickChat{Command: command, chatPick: pick}
	chats, err := k.candidates(ctx, pick)
	if err != nil {
		return answer{}, err
	}
	found, sure := matchChats(chats, name)
	switch {
	case len(found) == 0 && p.Command == "mode" && p.Mode == "" && suggestMode(chats, name) != "":
		return answer{text: "Did you mean " + code("/mode "+suggestMode(chats, name)) + "?"}, nil
	case len(found) == 0:
		return answer{text: unknownChatText(chats, name)}, nil
	case len(found) == 1 && sure:
		return k.picked(ctx, p, found[0])
	}
	p.Chats = chatIDs(found)
	return k.page(ctx, p, fmt.Sprintf("**Which one?** %s with %s:", text.Count(len(found), "chat"), quote(name, 60)))
}

// oneChat returns the chat that a name means, without opening a picker. problem is the reply if the name is unknown or
// ambiguous. example is a format for the command with the name of a chat.
func (k *chatPicker) oneChat(ctx context.Context, name, example string) (chat store.Chat, problem string, err error) {
	chats, err := store.ListChats(ctx, k.store.DB(), "", maxChats, 0)
	if err != nil {
		return store.Chat{}, "", err
	}
	found, sure := matchChats(chats, name)
	if len(found) == 1 && sure {
		return found[0], "", nil
	}
	if len(found) == 0 {
		return store.Chat{}, unknownChatText(chats, name), nil
	}
	shown := found[:min(len(found), pageSize)]
	return store.Chat{}, "Which one? " + text.List(chatLabels(shown)) + ". Write it as it is shown here: " +
		code(fmt.Sprintf(example, found[0].Label())) + ".", nil
}

// matchChats returns the chats that a typed name may mean. The name may include the network or the number, or be the
// number alone. It tries equal names, then names that begin with it, then those that contain it, then those with all of
// its words, and returns the matches of the first step that has any. sure is true for the first two steps: then a single
// match needs no confirmation.
func matchChats(chats []store.Chat, name string) (found []store.Chat, sure bool) {
	name = foldName(name)
	if i := slices.IndexFunc(chats, func(c store.Chat) bool { return name == fmt.Sprintf("#%d", c.ID) }); i >= 0 {
		return chats[i : i+1], true
	}
	for level, fits := range []func(candidate string) bool{
		func(candidate string) bool { return candidate == name },
		func(candidate string) bool { return strings.HasPrefix(candidate, name) },
		func(candidate string) bool { return strings.Contains(candidate, name) },
		func(candidate string) bool { return hasWords(candidate, name) },
	} {
		for _, c := range chats {
			if slices.ContainsFunc(typedNames(c), fits) {
				found = append(found, c)
			}
		}
		if len(found) > 0 {
			return found, level < 2
		}
	}
	return nil, false
}

// typedNames returns the ways to type a chat's name: alone, and with its network or its number.
func typedNames(c store.Chat) []string {
	name, full := foldName(bridgebridge.DisplayName(c.Name)), foldName(c.Label())
	return []string{name, foldName(c.Name), foldName(c.TypedName()), full, strings.ReplaceAll(full, " · ", " ")}
}

// hasWords reports whether each of the words is a word of the text.
func hasWords(text, words string) bool {
	has := strings.Fields(text)
	return words != "" && !slices.ContainsFunc(strings.Fields(words), func(w string) bool { return !slices.Contains(has, w) })
}

// unknownChatText says that no chat has the given name, and suggests similar names.
func unknownChatText(chats []store.Chat, name string) string {
	names := make([]string, len(chats))
	for i, c := range chats {
		names[i] = c.Name
	}
	if foldName(name) == "" {
		return "In that name of a chat there is nothing that can be seen. `/chats` lists them."
	}
	reply := "I know no chat called " + quote(name, 60) + "."
	if near := nearest(text.Clip(name, 60), names, 3); len(near) > 0 {
		for i := range near {
			near[i] = "**" + esc(near[i]) + "**"
		}
		reply += " Did you mean " + strings.Join(near, ", ") + "?"
	}
	return reply + " `/chats` lists them; a chat appears with its first message."
}

// list shows the chats whose name contains a text, the newest first. The empty text matches all.
func (k *chatPicker) list(ctx context.Context, part, command string, pick chatPick) (answer, error) {
	p := pickChat{Command: command, chatPick: pick}
	chats, err := k.candidates(ctx, pick)
	if err != nil {
		return answer{}, err
	}
	if len(chats) == 0 {
		return answer{text: "There are no chats yet. Each appears with its first message after a bridge is logged in."}, nil
	}
	part = foldName(part)
	found := slices.DeleteFunc(slices.Clone(chats), func(c store.Chat) bool { return !strings.Contains(foldName(c.Label()), part) })
	if len(found) == 0 {
		return answer{text: unknownChatText(chats, part)}, nil
	}
	p.Chats = chatIDs(found)
	return k.page(ctx, p, "")
}

// chatIDs returns the ids of chats, at most maxPicks.
func chatIDs(chats []store.Chat) []store.ChatID {
	chats = chats[:min(len(chats), maxPicks)]
	out := make([]store.ChatID, len(chats))
	for i, c := range chats {
		out[i] = c.ID
	}
	return out
}

// page shows one page of a list and asks for a number. The title of the list is used if title is empty.
func (k *chatPicker) page(ctx context.Context, p pickChat, title string) (answer, error) {
	p.picker = k
	until := min(p.From+pageSize, len(p.Chats))
	chats, err := store.ChatsByID(ctx, k.store.DB(), p.Chats[p.From:until])
	if err != nil {
		return answer{}, err
	}
	view, err := k.states.overview(ctx)
	if err != nil {
		return answer{}, err
	}
	if title == "" {
		title = fmt.Sprintf("**Chats** (%s, newest first)", pageRange(p.From, until, len(p.Chats)))
	}
	lines := []string{title}
	for i, id := range p.Chats[p.From:until] {
		text := k.states.line(chats[id], view)
		if p.Command == "delivery" {
			text += " · `" + string(chats[id].DeliveryIn(k.settings.Defaults)) + "`"
		}
		lines = append(lines, fmt.Sprintf("%d %s", p.From+i+1, text))
		p.Shown = append(p.Shown, chats[id].ModeIn(k.settings.Defaults))
	}
	return answer{text: strings.Join(lines, "\n") + "\n" + k.hint(p, until < len(p.Chats)), question: p}, nil
}

// pageRange says which entries of a list are shown: "1 to 10 of 155".
func pageRange(from, until, all int) string {
	switch {
	case from == 0 && until == all:
		return strconv.Itoa(all)
	case from == 0:
		return fmt.Sprintf("%d of %d", until, all)
	default:
		return fmt.Sprintf("%d to %d of %d", from+1, until, all)
	}
}

// hint says how to answer.
func (k *chatPicker) hint(p pickChat, more bool) string {
	hint := "Reply with a number"
	if cmd, known := k.table.lookup(p.Command); known && cmd.chatHint != nil {
		hint += cmd.chatHint(p.chatPick)
	}
	if more {
		hint += ". `more` or ➡️ shows the next"
	}
	return hint + "."
}

// suggestMode returns the arguments of /mode that a text with a misspelled mode may mean; empty if there are none.
func suggestMode(chats []store.Chat, args string) string {
	var modes []string
	for _, mode := range policy.Modes() {
		modes = append(modes, string(mode))
	}
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
		if found, _ := matchChats(chats, try.name); len(near) > 0 && len(found) > 0 {
			return near[0] + " " + try.name
		}
	}
	return ""
}
