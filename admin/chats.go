package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/policy"
	"multis/store"
)

const (
	// maxChats is how many chats are looked through; the newest come first.
	maxChats = 10_000
	// maxPicks is how many of them one list can be paged through.
	maxPicks = 1000
	pageSize = 10
)

// pickChat asks which chat is meant, ten a page. The numbers keep their meaning from page to page.
type pickChat struct {
	// Then is the command that goes on with the chat.
	Then     string
	Mode     policy.Mode     `json:",omitempty"` // for /mode, when it is known already
	Delivery policy.Delivery `json:",omitempty"` // for /delivery, when it is known already
	Agent    string          `json:",omitempty"` // for /agent: who is to answer there
	Since    int64           `json:",omitempty"` // for /import: the day to read back to, in Unix seconds
	Asked    int64           `json:",omitempty"` // for /export: the message that asked
	Chats    []int64
	From     int           // the first one shown on this page
	Shown    []policy.Mode `json:",omitempty"` // what the chats shown so far were in
}

func (pickChat) kind() string      { return "chat" }
func (p pickChat) command() string { return p.Then }

func (pickChat) takes(word string) bool { return word == wordMore || word == "next" }

func (p pickChat) answer(ctx context.Context, a *Admin, _ request, c choice) (answer, bool, error) {
	if c.word != "" {
		if p.From+pageSize >= len(p.Chats) {
			return answer{text: "That was all of them."}, false, nil
		}
		p.From += pageSize
		ans, err := a.page(ctx, p, "")
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
	chat, err := store.ChatByID(ctx, a.Store.DB(), p.Chats[n-1])
	if err != nil {
		return answer{}, false, err
	}
	if p.Mode != "" && (len(p.Shown) < n || p.Shown[n-1] != chat.ModeIn(a.Rules.Defaults)) {
		ans, err := a.askMode(ctx, chat, modeChanged)
		return ans, true, err
	}
	ans, err := a.picked(ctx, p, chat)
	return ans, true, err
}

// picked goes on with the chat that was meant.
func (a *Admin) picked(ctx context.Context, p pickChat, chat store.Chat) (answer, error) {
	switch p.Then {
	case "mode":
		if p.Mode == "" {
			return a.askMode(ctx, chat, "")
		}
		return a.setMode(ctx, chat, p.Mode)
	case "pause":
		return a.pauseChat(chat), nil
	case "resume":
		return a.resumeChat(ctx, chat)
	case "delivery":
		return a.setDelivery(chat, p.Delivery), nil
	case "why":
		return a.whyChat(ctx, chat)
	case "memory":
		return a.showMemory(ctx, chat)
	case "agent":
		return a.setAgent(chat, p.Agent), nil
	case "commitments":
		return a.listPromises(ctx, " ("+esc(label(chat))+")", []int64{chat.ID})
	case "import":
		return a.readHistory(chat, p.Since), nil
	case "export":
		return exporting(p.Asked, chat.ID, "**"+esc(label(chat))+"**"), nil
	case "unmerge":
		return a.unmergeChat(ctx, chat)
	case "forget":
		return a.askForgetChat(ctx, chat)
	case "erase":
		return a.askErase(ctx, chat)
	default:
		return answer{}, fmt.Errorf("go on with a chat: command %q is unknown", p.Then)
	}
}

// withChat goes on with the one chat that a name means. Several are asked about, never guessed.
func (a *Admin) withChat(ctx context.Context, name string, p pickChat) (answer, error) {
	chats, err := store.ListChats(ctx, a.Store.DB(), "", maxChats, 0)
	if err != nil {
		return answer{}, err
	}
	found, sure := match(chats, name)
	switch {
	case len(found) == 0 && p.Then == "mode" && p.Mode == "" && meantMode(chats, name) != "":
		return answer{text: "Did you mean " + code("/mode "+meantMode(chats, name)) + "?"}, nil
	case len(found) == 0:
		return answer{text: noChat(chats, name)}, nil
	case len(found) == 1 && sure:
		return a.picked(ctx, p, found[0])
	}
	p.Chats = ids(found)
	return a.page(ctx, p, fmt.Sprintf("**Which one?** %s with %s:", count(len(found), "chat"), quote(name, 60)))
}

// oneChat finds the one chat that was typed for a command that takes no other. problem says why there is none; typed is the
// command with a chat's name in it.
func (a *Admin) oneChat(ctx context.Context, name, typed string) (chat store.Chat, problem string, err error) {
	chats, err := store.ListChats(ctx, a.Store.DB(), "", maxChats, 0)
	if err != nil {
		return store.Chat{}, "", err
	}
	found, sure := match(chats, name)
	if len(found) == 1 && sure {
		return found[0], "", nil
	}
	if len(found) == 0 {
		return store.Chat{}, noChat(chats, name), nil
	}
	shown := found[:min(len(found), pageSize)]
	return store.Chat{}, "Which one? " + list(labels(shown)) + ". Write it as it is shown here: " + code(fmt.Sprintf(typed, label(found[0]))) + ".", nil
}

// match finds the chats that are typed as a name, with or without the network and the number, or as a number alone: those called
// exactly so, else those that begin with it, those that contain it, those that have all its words. sure says that one alone is the
// one; a part from the middle of a name is never sure.
func match(chats []store.Chat, name string) (found []store.Chat, sure bool) {
	name = fold(name)
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

// typedNames are the ways in which a chat is written: its name alone, and with its network or its number.
func typedNames(c store.Chat) []string {
	name, full := fold(bridgebridge.DisplayName(c.Name)), fold(label(c))
	return []string{name, fold(c.Name), fold(typed(c)), full, strings.ReplaceAll(full, " · ", " ")}
}

// hasWords tells whether each word is one of the text's.
func hasWords(text, words string) bool {
	has := strings.Fields(text)
	return words != "" && !slices.ContainsFunc(strings.Fields(words), func(w string) bool { return !slices.Contains(has, w) })
}

// noChat names the chats that come nearest to a name.
func noChat(chats []store.Chat, name string) string {
	names := make([]string, len(chats))
	for i, c := range chats {
		names[i] = c.Name
	}
	text := "I know no chat called " + quote(name, 60) + "."
	if near := nearest(clip(name, 60), names, 3); len(near) > 0 {
		for i := range near {
			near[i] = "**" + esc(near[i]) + "**"
		}
		text += " Did you mean " + strings.Join(near, ", ") + "?"
	}
	return text + " `/chats` lists them; a chat appears with its first message."
}

// chats finds chats by a part of their name.
func (a *Admin) chats(ctx context.Context, r request, args string) (answer, error) {
	then := "mode"
	if !r.byOwner() {
		then = "why"
	}
	return a.listed(ctx, args, pickChat{Then: then})
}

// listed shows the chats whose name holds a text, newest first; an empty text fits all.
func (a *Admin) listed(ctx context.Context, part string, p pickChat) (answer, error) {
	chats, err := store.ListChats(ctx, a.Store.DB(), "", maxChats, 0)
	if err != nil {
		return answer{}, err
	}
	if len(chats) == 0 {
		return answer{text: "There are no chats yet. Each appears with its first message after a bridge is logged in."}, nil
	}
	part = fold(part)
	found := slices.DeleteFunc(slices.Clone(chats), func(c store.Chat) bool { return !strings.Contains(fold(label(c)), part) })
	if len(found) == 0 {
		return answer{text: noChat(chats, part)}, nil
	}
	p.Chats = ids(found)
	return a.page(ctx, p, "")
}

// ids are the chats of a list, as far as it can be paged through.
func ids(chats []store.Chat) []int64 {
	chats = chats[:min(len(chats), maxPicks)]
	out := make([]int64, len(chats))
	for i, c := range chats {
		out[i] = c.ID
	}
	return out
}

// page shows one page of a list and asks for a number. An empty title is the plain one.
func (a *Admin) page(ctx context.Context, p pickChat, title string) (answer, error) {
	until := min(p.From+pageSize, len(p.Chats))
	chats, err := store.ChatsByID(ctx, a.Store.DB(), p.Chats[p.From:until])
	if err != nil {
		return answer{}, err
	}
	view, err := a.view(ctx)
	if err != nil {
		return answer{}, err
	}
	if title == "" {
		title = fmt.Sprintf("**Chats** (%s, newest first)", pageOf(p.From, until, len(p.Chats)))
	}
	lines := []string{title}
	for i, id := range p.Chats[p.From:until] {
		text := a.chatLine(chats[id], view)
		if p.Then == "delivery" {
			text += " · `" + string(chats[id].DeliveryIn(a.Rules.Defaults)) + "`"
		}
		lines = append(lines, fmt.Sprintf("%d %s", p.From+i+1, text))
		p.Shown = append(p.Shown, chats[id].ModeIn(a.Rules.Defaults))
	}
	return answer{text: strings.Join(lines, "\n") + "\n" + p.hint(until < len(p.Chats)), asks: p}, nil
}

// pageOf says which part of a list is shown.
func pageOf(from, until, all int) string {
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
func (p pickChat) hint(more bool) string {
	hint := "Reply with a number"
	switch {
	case p.Then == "mode" && p.Mode == "":
		hint += ", or `/mode business` and a name"
	case p.Then == "mode":
		hint += " to make it **" + string(p.Mode) + "**"
	case p.Then == "pause":
		hint += " to pause it"
	case p.Then == "resume":
		hint += " to let me answer there"
	case p.Then == "delivery" && p.Delivery != "":
		hint += " to set it to **" + string(p.Delivery) + "**"
	case p.Then == "agent":
		hint += " to have it answered there"
	case p.Then == "memory":
		hint += " to see its notes"
	case p.Then == "import":
		hint += " to read what was said there"
	case p.Then == "unmerge":
		hint += " to have it remember for itself"
	case p.Then == "export":
		hint += " to get its files"
	case p.Then == "forget", p.Then == "erase":
		hint += " (I ask before anything goes)"
	case p.Then == "why":
		hint += " to see why I answered or kept silent there"
	}
	if more {
		hint += ". `more` or ➡️ shows the next"
	}
	return hint + "."
}

// view is what there is to know beside the chats themselves to say how they are.
type view struct {
	name      string // what the assistant is called
	pausedAll bool
	waiting   map[int64]bool   // the chats that wait for a person
	locked    map[int64]string // why what is encrypted there cannot be read
}

func (a *Admin) view(ctx context.Context) (v view, err error) {
	if v.pausedAll, err = a.pausedAll(ctx); err != nil {
		return view{}, err
	}
	if v.name, err = store.AssistantName(ctx, a.Store.DB(), a.Rules.Name); err != nil {
		return view{}, err
	}
	if v.locked, err = a.locked(ctx); err != nil {
		return view{}, err
	}
	open, err := store.OpenEscalations(ctx, a.Store.DB())
	v.waiting = make(map[int64]bool, len(open))
	for _, e := range open {
		v.waiting[e.ChatID] = true
	}
	return v, err
}

// chatLine says in one line what there is to know about a chat.
func (a *Admin) chatLine(c store.Chat, v view) string {
	mode := c.ModeIn(a.Rules.Defaults)
	parts := []string{esc(label(c)) + " — " + a.modeNote(c, mode, v)}
	if c.Namesake && c.Contact != "" { // it often holds the number
		parts = append(parts, code(c.Contact.Localpart()))
	}
	switch {
	case mode == policy.ModeOff:
		parts = append(parts, "nothing is stored")
	case c.ClosedWhy != "":
		parts = append(parts, esc(c.ClosedWhy))
	case c.RoomID == nil:
		parts = append(parts, "no room at the moment")
	case lockedNote(c, v.locked) != "":
		parts = append(parts, lockedNote(c, v.locked))
	}
	switch {
	case mode == policy.ModeOff:
	case c.LastMessageAt != nil:
		parts = append(parts, a.ago(*c.LastMessageAt))
	default:
		parts = append(parts, "no message yet")
	}
	return strings.Join(parts, " · ")
}

// modeNote says a chat's mode and whether it answers now.
func (a *Admin) modeNote(c store.Chat, mode policy.Mode, v view) string {
	note := "**" + string(mode) + "**"
	switch {
	case mode == policy.ModeSilent:
		return "silent"
	case mode == policy.ModeOff:
		return note
	case v.pausedAll || a.paused(c):
		return note + ", paused"
	case unsendable(c) != "":
		return note + ", cannot answer"
	case a.quietUntil(c).After(a.Now()):
		return note + ", quiet until " + a.moment(a.quietUntil(c))
	case mode == policy.ModePersonal || c.Kind == policy.KindGroup:
		note += ", when called " + esc(v.name)
	default:
		note += ", answers on"
	}
	if c.DeliveryIn(a.Rules.Defaults) == policy.DeliveryDraft {
		note += " as drafts"
	}
	if v.waiting[c.ID] {
		note += ", waits for you"
	}
	return note
}

// paused tells whether the chat itself is paused.
func (a *Admin) paused(c store.Chat) bool {
	return c.PausedUntil != nil && c.PausedUntil.After(a.Now())
}

// quietUntil is when the quiet ends that began when the owner wrote there; zero without one.
func (a *Admin) quietUntil(c store.Chat) time.Time {
	p := c.Presence(false, c.ModeIn(a.Rules.Defaults), a.Rules.OwnerPause, a.Now())
	if p.OwnerWroteAt.IsZero() {
		return time.Time{}
	}
	return p.OwnerWroteAt.Add(p.OwnerPause)
}

// pausedAll tells whether everything is paused.
func (a *Admin) pausedAll(ctx context.Context) (bool, error) {
	var pause store.Pause
	return store.GetSetting(ctx, a.Store.DB(), store.SettingPause, &pause)
}
