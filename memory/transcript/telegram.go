package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ErrNoTelegram is returned by Telegram for a file that is no export of Telegram.
var ErrNoTelegram = errors.New("this is not an export of Telegram: in the chat choose Export chat history, as JSON")

// telegramChat is a chat as Telegram Desktop exports it.
type telegramChat struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	ID       int64             `json:"id"`
	Messages []telegramMessage `json:"messages"`
}

type telegramMessage struct {
	Type string          `json:"type"`
	Date string          `json:"date"` // of the clock of the machine that exported
	Unix string          `json:"date_unixtime"`
	From string          `json:"from"`
	Text json.RawMessage `json:"text"`
}

// Telegram parses the file result.json that Telegram Desktop exports, of one chat or of all.
func Telegram(name string, r io.Reader, zone *time.Location) ([]Chat, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is bigger than 64 MB: export one chat at a time", name)
	}
	var file struct {
		telegramChat

		Chats struct {
			List []telegramChat `json:"list"`
		} `json:"chats"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNoTelegram)
	}
	list := file.Chats.List
	if file.Messages != nil {
		list = append(list, file.telegramChat)
	}
	var chats []Chat
	for _, c := range list {
		chat := Chat{ID: fmt.Sprintf("telegram:%d", c.ID), Name: c.Name, Platform: "telegram"}
		for i, m := range c.Messages {
			line, err := m.line(zone)
			if err != nil {
				return nil, fmt.Errorf("%s, chat %q, message %d: %w", name, c.Name, i+1, err)
			}
			if line.Sender != "" && line.Text != "" {
				chat.Lines = append(chat.Lines, line)
			}
		}
		if len(chat.Lines) > 0 {
			chats = append(chats, chat)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNoTelegram)
	}
	return chats, nil
}

// line converts a message. That of a notice, such as of a new member, has no text.
func (m telegramMessage) line(zone *time.Location) (Line, error) {
	if m.Type != "message" {
		return Line{}, nil
	}
	line := Line{Sender: strings.TrimSpace(m.From), Text: strings.TrimSpace(telegramText(m.Text))}
	if unix, err := strconv.ParseInt(m.Unix, 10, 64); err == nil {
		line.At = time.Unix(unix, 0).In(zone)
		return line, nil
	}
	at, err := time.ParseInLocation("2006-01-02T15:04:05", m.Date, zone)
	if err != nil {
		return Line{}, fmt.Errorf("%.40q is not a time", m.Date)
	}
	line.At = at
	return line, nil
}

// telegramText returns a text, which is a string or a list of strings and of parts with markup.
func telegramText(raw json.RawMessage) string {
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return plain
	}
	var parts []json.RawMessage
	if json.Unmarshal(raw, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, part := range parts {
		var marked struct {
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(part, &plain) == nil:
			b.WriteString(plain)
		case json.Unmarshal(part, &marked) == nil:
			b.WriteString(marked.Text)
		}
	}
	return b.String()
}
