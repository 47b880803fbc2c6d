package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// Conversations are messages of several chats, chat by chat: the chat with the newest message first, and its messages from the oldest on.
type Conversations struct {
	Messages []store.Message
	Chats    map[store.ChatID]store.Chat
	// Assistant is the name of the assistant, whose own messages are among them.
	Assistant string
}

// maxChats limits how many active chats are counted.
const maxChats = 1000

// ReadConversations reads the newest messages of up to 50 chats in a period, as many as fit into one request to a model.
func (m *Memory) ReadConversations(ctx context.Context, q BriefQuery) (Conversations, error) {
	active, byID, err := m.activeChats(ctx, q)
	if err != nil {
		return Conversations{}, err
	}
	if len(active) == 0 {
		return Conversations{}, nil
	}
	return m.conversations(ctx, q, active[:min(len(active), maxBriefChats)], byID)
}

// activeChats returns the chats with messages in the period, without those that are off.
func (m *Memory) activeChats(ctx context.Context, q BriefQuery) ([]store.ActiveChat, map[store.ChatID]store.Chat, error) {
	active, err := store.ActiveChats(ctx, m.Store.DB(), q.From, q.Until, q.Protocol, q.Chat, maxChats)
	if err != nil {
		return nil, nil, err
	}
	byID, err := store.ChatsByID(ctx, m.Store.DB(), chatIDs(active))
	active = slices.DeleteFunc(active, func(a store.ActiveChat) bool {
		chat := byID[a.ChatID]
		return chat.IsOff(m.Defaults)
	})
	return active, byID, err
}

func chatIDs(active []store.ActiveChat) []store.ChatID {
	ids := make([]store.ChatID, len(active))
	for i, a := range active {
		ids[i] = a.ChatID
	}
	return ids
}

// conversations reads the newest messages of chats. The more chats there are, the fewer messages it reads of each.
func (m *Memory) conversations(ctx context.Context, q BriefQuery, chats []store.ActiveChat,
	byID map[store.ChatID]store.Chat,
) (Conversations, error) {
	each := min(max(maxBriefMessages/len(chats), 4), maxMessagesPerChat)
	messages, err := store.MessagesOfChats(ctx, m.Store.DB(), chatIDs(chats), q.From, q.Until, each)
	if err != nil {
		return Conversations{}, err
	}
	if err := store.MarkPeople(ctx, m.Store.DB(), messages); err != nil {
		return Conversations{}, err
	}
	name, err := store.AssistantName(ctx, m.Store.DB(), m.Name)
	return Conversations{Messages: messages, Chats: byID, Assistant: name}, err
}

// ChatIDs returns the chats of the messages, each once.
func (c Conversations) ChatIDs() []store.ChatID {
	var ids []store.ChatID
	for _, s := range c.Messages {
		if len(ids) == 0 || ids[len(ids)-1] != s.ChatID {
			ids = append(ids, s.ChatID)
		}
	}
	return ids
}

// Transcript formats conversations for a model: a numbered line for each message, and a line that begins with the fence for each chat.
func (m *Memory) Transcript(c Conversations, fence string) string {
	var b strings.Builder
	chat := store.ChatID(0)
	for i, s := range c.Messages {
		if s.ChatID != chat {
			chat = s.ChatID
			fmt.Fprintf(&b, "%s chat with %s\n", fence, text.OneLine(labelOf(c.Chats[chat])))
		}
		fmt.Fprintf(&b, "%d [%s] %s: %s\n", i+1, s.At.In(m.Zone).Format("Mon 2 Jan 15:04"), speakerName(c.Chats[chat], s, c.Assistant),
			text.Clip(text.OneLine(withoutMark(s)), maxBriefMessageLen))
	}
	return b.String()
}

// Hits returns the messages as search hits, the newest first.
func (m *Memory) Hits(c Conversations) []search.Hit {
	hits := make([]search.Hit, len(c.Messages))
	for i, s := range c.Messages {
		hits[i] = search.Hit{
			Ref:       store.MessageRef(s.ID),
			ChatID:    s.ChatID,
			Kind:      index.KindConversation,
			Role:      policy.UserRole(s.ChatID),
			Text:      s.Body,
			IndexedAt: s.At,
		}
		m.setSource(&hits[i], c.Chats[s.ChatID], s)
	}
	slices.SortStableFunc(hits, func(x, y search.Hit) int { return y.IndexedAt.Compare(x.IndexedAt) })
	return hits
}

// setSource sets the title, citation and link of a hit that is a message.
func (m *Memory) setSource(hit *search.Hit, chat store.Chat, s store.Message) {
	hit.Title = labelOf(chat)
	hit.Source = MessageSource(chat, s, m.Zone, m.Now())
	hit.Link = MessageLink(chat, s.EventID)
}
