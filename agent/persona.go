package agent

import (
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"maunium.net/go/mautrix/id"

	"multis/llm"
	"multis/outbox"
	"multis/plainfile"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// Persona is somebody who answers: in which manner, with which tools, and where. Its zero value answers as multis always did.
type Persona struct {
	ID   string
	Name string // what contacts and rooms see; empty leaves the assistant's
	// Theme is its manner in a few words, Emoji the reaction by which it says that it has read a question, Avatar an mxc address.
	Theme, Emoji string
	Avatar       id.ContentURIString
	Mentions     []string // what it is called by, beside ID and Name
	Instructions string
	// Allow and Deny are patterns of tools; an empty Allow means all.
	Allow, Deny []string
	// Workspace holds its files: AGENTS.md, SOUL.md and so on, and what its file tools see. ReadPaths are further folders to read from.
	Workspace string
	ReadPaths []string
	// Model is its own with what it can hold; nil: the one for all.
	Model  llm.Model
	Limits Limits
	// Delegates are the agents that it may have work; "*": all.
	Delegates []string
	// Can are its capabilities, as others see them.
	Can []string
	// Skills are those it has; none: all that fit.
	Skills []string
	// Where it answers, the most exact one first.
	Rooms, Senders, Spaces, Accounts, Networks, Modes []string
	Default                                           bool
}

// Where is what decides who answers.
type Where struct {
	Mention string // whom the owner called
	Chat    store.Chat
	Mode    policy.Mode
}

// Route chooses who answers: whom the owner called, then whom he put in the chat, then by room, sender, space, account, network and
// mode, then the default, then the first.
func Route(all []Persona, w Where) Persona {
	p, _ := route(all, w)
	return p
}

// route is Route, with what decided.
func route(all []Persona, w Where) (p Persona, by string) {
	room := ""
	if w.Chat.RoomID != nil {
		room = w.Chat.RoomID.String()
	}
	has := func(list []string, s string) bool { return s != "" && slices.Contains(list, s) }
	for _, rule := range []struct {
		by   string
		fits func(p Persona) bool
	}{
		{"its name", func(p Persona) bool { return w.Mention != "" && p.calledBy(w.Mention) }},
		{"your choice", func(p Persona) bool { return w.Chat.Agent != "" && p.ID == w.Chat.Agent }},
		{"the room", func(p Persona) bool { return has(p.Rooms, room) }},
		{"the contact", func(p Persona) bool { return has(p.Senders, w.Chat.Contact.String()) }},
		{"the space that the room is in", func(p Persona) bool {
			return slices.ContainsFunc(w.Chat.Spaces, func(s id.RoomID) bool { return has(p.Spaces, s.String()) })
		}},
		{"the account", func(p Persona) bool { return has(p.Accounts, w.Chat.Receiver) }},
		{"the network", func(p Persona) bool {
			return slices.ContainsFunc(p.Networks, func(n string) bool {
				return w.Chat.Protocol != "" && policy.Network(n) == policy.Network(w.Chat.Protocol)
			})
		}},
		{"the chat's mode", func(p Persona) bool { return has(p.Modes, string(w.Mode)) }},
		{"default", func(p Persona) bool { return p.Default }},
		{"being the first", func(Persona) bool { return true }},
	} {
		if i := slices.IndexFunc(all, rule.fits); i >= 0 {
			return all[i], rule.by
		}
	}
	return Persona{}, ""
}

// Answers says which agent answers in a contact's chat, and what decided that; empty: multis itself does.
func (a *Agent) Answers(chat store.Chat) (agent, by string) {
	p, by := route(a.Personas, Where{Chat: chat, Mode: chat.ModeIn(a.Defaults)})
	return p.ID, by
}

// calledBy tells whether a persona goes by a name, in any case.
func (p Persona) calledBy(name string) bool {
	return slices.ContainsFunc(append([]string{p.ID, p.Name}, p.Mentions...), func(own string) bool { return own != "" && strings.EqualFold(own, name) })
}

// mention takes "@name" off the beginning of what the owner wrote, when it is somebody's name.
func mention(all []Persona, text string) (name, rest string) {
	called, found := strings.CutPrefix(strings.TrimSpace(text), "@")
	if !found {
		return "", text
	}
	first, rest, _ := strings.Cut(called, " ")
	first = strings.TrimRight(first, ":,")
	if !slices.ContainsFunc(all, func(p Persona) bool { return p.calledBy(first) }) {
		return "", text
	}
	return first, strings.TrimSpace(rest)
}

// contactFiles are those of a persona's files that a contact's turn reads; the owner's reads all of them.
var (
	contactFiles = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md"}
	childFiles   = []string{"AGENTS.md", "TOOLS.md"} // for who works for another
	ownerFiles   = []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"}
)

// maxPersonaFile is how much of one of its files is read, in bytes.
const maxPersonaFile = 8000

// prompt is how a persona wants to answer. Its files are read anew each time, so a change holds from the next answer on.
func (p Persona) prompt(contact bool) string {
	var parts []string
	if p.Theme != "" {
		parts = append(parts, "Your manner: "+p.Theme+".")
	}
	if p.Instructions != "" {
		parts = append(parts, strings.TrimSpace(p.Instructions))
	}
	files := ownerFiles
	if contact {
		files = contactFiles
	}
	return p.promptFrom(parts, files)
}

// promptFrom adds its files to what else there is to say.
func (p Persona) promptFrom(parts, files []string) string {
	if p.Workspace != "" {
		parts = append(parts, readFiles(p.Workspace, files)...)
	}
	return strings.Join(parts, "\n\n")
}

// readFiles reads a folder's files, and says which are not there. A folder that is not there has none to miss.
func readFiles(folder string, names []string) []string {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil
	}
	defer root.Close()
	var parts, missing []string
	for _, name := range names {
		text, size, err := readFile(root, name, maxPersonaFile)
		switch {
		case err != nil && (name == "HEARTBEAT.md" || name == "BOOTSTRAP.md"): // which most have not
		case err != nil:
			missing = append(missing, name)
		case text == "":
		case size > maxPersonaFile:
			parts = append(parts, fmt.Sprintf("## %s\n%s\n[%s is cut here: %d of %d bytes]", path.Base(name), text, name, len(text), size))
		default:
			parts = append(parts, "## "+path.Base(name)+"\n"+text)
		}
	}
	if len(missing) > 0 && len(parts) > 0 {
		parts = append(parts, "[not written yet: "+strings.Join(missing, ", ")+"]")
	}
	return parts
}

// readFile reads the beginning of a file, and how many bytes there are of it all.
func readFile(root *os.Root, name string, most int64) (text string, size int64, err error) {
	f, info, err := plainfile.OpenIn(root, name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	mark := "\uFFFD"
	if info.Size() > most {
		mark = "" // of the letter that is cut in two
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(data), mark)), info.Size(), err
}

// modelOf is the model that a persona answers with, and what it can hold.
func (a *Agent) modelOf(p Persona) (llm.Model, Limits) {
	if p.Model != nil {
		return p.Model, p.Limits
	}
	return a.Model, a.Limits
}

// ModelOf says with which model notes are taken of a chat: that of the persona who answers there. Nil when no persona has one of its own.
func ModelOf(all []Persona, model llm.Model, defaults policy.Defaults) func(store.Chat) llm.Model {
	if !slices.ContainsFunc(all, func(p Persona) bool { return p.Model != nil }) {
		return nil
	}
	return func(chat store.Chat) llm.Model {
		if p := Route(all, Where{Chat: chat, Mode: chat.ModeIn(defaults)}); p.Model != nil {
			return p.Model
		}
		return model
	}
}

// thinks tells whether a persona has a model at all.
func (a *Agent) thinks(p Persona) bool {
	m, _ := a.modelOf(p)
	return m.Name() != llm.None{}.Name()
}

// maxItems bounds what is read from HEARTBEAT.md.
const maxItems = 20

// heartbeatItems are the lines of a persona's HEARTBEAT.md: what to look at.
func (p Persona) heartbeatItems() []string {
	if p.Workspace == "" {
		return nil
	}
	root, err := os.OpenRoot(p.Workspace)
	if err != nil {
		return nil
	}
	defer root.Close()
	list, _, err := readFile(root, "HEARTBEAT.md", maxItems*maxPersonaFile)
	if err != nil {
		return nil
	}
	var items []string
	for line := range strings.Lines(list) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+ ")
		if line != "" && !strings.HasPrefix(line, "#") && len(items) < maxItems {
			items = append(items, text.Clip(line, maxMatterText))
		}
	}
	return items
}

// profile is how a persona is shown in a Matrix room; nil for the assistant itself.
func (p Persona) profile() *outbox.Profile {
	if p.Name == "" {
		return nil
	}
	return &outbox.Profile{ID: p.ID, Name: p.Name, Avatar: p.Avatar}
}

// name is what a persona is called, else what the assistant is.
func (r *run) name(assistant string) string {
	if r.persona.Name != "" {
		return r.persona.Name
	}
	return assistant
}
