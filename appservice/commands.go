package appservice

import (
	"context"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/event/cmdschema"
	"maunium.net/go/mautrix/id"

	"multis/store"
)

// Command is a command of the admin room.
type Command struct {
	Name    string
	Args    string // as shown in the help; empty for a command without arguments
	Summary string
}

// SetCommands sets the commands of the admin room. It is called before MakeAdminRoom and Send.
func (h *Homeserver) SetCommands(commands []Command) { h.commands = commands }

// argumentsKey is the key of the only parameter that a command is described with: its arguments, as one text.
const argumentsKey = "arguments"

// description returns the command as clients with a menu of commands read it (MSC4391).
func (c Command) description() *cmdschema.EventContent {
	content := &cmdschema.EventContent{Command: c.Name, Description: event.MakeExtensibleText(c.Summary)}
	if c.Args == "" {
		return content
	}
	content.TailParam = argumentsKey
	content.Parameters = []*cmdschema.Parameter{{
		Key:         argumentsKey,
		Schema:      cmdschema.PrimitiveTypeString.Schema(),
		Optional:    strings.HasPrefix(c.Args, "["),
		Description: event.MakeExtensibleText(c.Args),
	}}
	return content
}

// descriptions returns the state events that describe the commands in a new room.
func (h *Homeserver) descriptions() []*event.Event {
	var state []*event.Event
	for _, c := range h.commands {
		content := c.description()
		key := content.StateKey(h.access.Bot)
		state = append(state, &event.Event{
			Type:     event.StateMSC4391BotCommand,
			StateKey: &key,
			Content:  event.Content{Parsed: content},
		})
	}
	return state
}

// describeCommands writes the commands into the state of the admin room, where they are missing or out of date.
func (h *Homeserver) describeCommands(ctx context.Context) error {
	if len(h.commands) == 0 {
		return nil
	}
	chat, err := store.AdminChat(ctx, h.store.DB())
	if err != nil {
		return err
	}
	if chat.RoomID == nil {
		return nil
	}
	state, err := h.bot.session().state(ctx, *chat.RoomID)
	if err != nil {
		return explain("read the state of the admin room", err)
	}
	described := map[string]*cmdschema.EventContent{}
	for _, evt := range state {
		if evt.Type != event.StateMSC4391BotCommand || evt.StateKey == nil {
			continue
		}
		if content, ok := evt.Content.Parsed.(*cmdschema.EventContent); ok {
			described[*evt.StateKey] = content
		}
	}
	for _, c := range h.commands {
		if err := h.describeCommand(ctx, *chat.RoomID, c.description(), described); err != nil {
			return err
		}
	}
	return nil
}

// describeCommand writes one command into the state of a room, unless it is described there already.
func (h *Homeserver) describeCommand(ctx context.Context, room id.RoomID, content *cmdschema.EventContent,
	described map[string]*cmdschema.EventContent,
) error {
	key := content.StateKey(h.access.Bot)
	if described[key].Equals(content) {
		return nil
	}
	if _, err := h.bot.session().SendStateEvent(ctx, room, event.StateMSC4391BotCommand, key, content); err != nil {
		return explain("describe the commands", err)
	}
	return nil
}
