package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/format"

	"multis/policy"
	"multis/store"
)

// forClient returns the content of an outbox message as Matrix clients show it best. A notice gets a body without the
// marks of Markdown, because room lists and notifications show the body. Its commands begin with "!" until the owner's
// client has sent one with "/": Element and nheko take "/" for commands of their own.
func (h *Homeserver) forClient(ctx context.Context, o store.OutboxMessage) (json.RawMessage, error) {
	if o.Purpose != policy.PurposeNotice || o.EventType != event.EventMessage.Type {
		return o.Content, nil
	}
	var sendsSlash bool
	if _, err := store.GetSetting(ctx, h.store.DB(), store.SettingSlash, &sendsSlash); err != nil {
		return nil, err
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal(o.Content, &content); err != nil {
		return nil, fmt.Errorf("read event: %w", err)
	}
	return h.presentContent(ctx, content, sendsSlash)
}

// presentContent changes the body and the HTML of a content, and of the content that it replaces by an edit.
func (h *Homeserver) presentContent(ctx context.Context, content map[string]json.RawMessage, sendsSlash bool) (json.RawMessage, error) {
	var html string
	if raw, has := content["formatted_body"]; has {
		if err := json.Unmarshal(raw, &html); err != nil {
			return nil, fmt.Errorf("read event: %w", err)
		}
	}
	if html != "" {
		if !sendsSlash {
			html = h.withBang(html)
		}
		for key, value := range map[string]string{"formatted_body": html, "body": plainText(ctx, html)} {
			raw, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("write event: %w", err)
			}
			content[key] = raw
		}
	}
	if raw, isEdit := content["m.new_content"]; isEdit {
		var replacement map[string]json.RawMessage
		if err := json.Unmarshal(raw, &replacement); err != nil {
			return nil, fmt.Errorf("read event: %w", err)
		}
		written, err := h.presentContent(ctx, replacement, sendsSlash)
		if err != nil {
			return nil, err
		}
		content["m.new_content"] = written
	}
	written, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("write event: %w", err)
	}
	return written, nil
}

// shownCommand matches the beginning of what is shown as code and may be a command.
var shownCommand = regexp.MustCompile(`<code>/([\pL-]+)`)

// withBang returns HTML in which the commands begin with "!". Paths such as /etc stay.
func (h *Homeserver) withBang(html string) string {
	return shownCommand.ReplaceAllStringFunc(html, func(shown string) string {
		name := strings.TrimPrefix(shown, "<code>/")
		if !slices.ContainsFunc(h.commands, func(c Command) bool { return c.Name == name }) {
			return shown
		}
		return "<code>!" + name
	})
}

// plainParser converts HTML to text without marks of Markdown.
var plainParser = &format.HTMLParser{
	TabsToSpaces:           4,
	Newline:                "\n",
	HorizontalLine:         "\n---\n",
	PillConverter:          func(shown, _, _ string, _ format.Context) string { return shown },
	BoldConverter:          unmarked,
	ItalicConverter:        unmarked,
	StrikethroughConverter: unmarked,
	MonospaceConverter:     unmarked,
	MonospaceBlockConverter: func(code, _ string, _ format.Context) string {
		return strings.TrimRight(code, "\n")
	},
	LinkConverter: func(shown, href string, _ format.Context) string {
		if shown == href {
			return shown
		}
		return shown + " (" + href + ")"
	},
}

func unmarked(text string, _ format.Context) string { return text }

// listItem matches the mark of an item in a list.
var listItem = regexp.MustCompile(`(?m)^( *)\* `)

// plainText returns HTML as text.
func plainText(ctx context.Context, html string) string {
	edit, isEdit := strings.CutPrefix(html, "* ") // the mark of an edit, for clients without edits
	plain := listItem.ReplaceAllString(plainParser.Parse(edit, format.NewContext(ctx)), "$1• ")
	if isEdit {
		return "* " + plain
	}
	return plain
}
