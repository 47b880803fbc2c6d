package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"multis/policy"
	"multis/search"
	"multis/store"
	"multis/text"
)

// Heard is what was said in the chats that the owner may read: chat by chat, the one with the newest message first, each from its oldest
// message on.
type Heard struct {
	Said []store.Message
	In   map[int64]store.Chat
}

// maxChats is how many chats are looked for. More than that are not counted.
const maxChats = 1000

// Hear reads what was said in a stretch of time, as much as one call of a model takes: of up to 50 chats the newest messages.
func (m *Memory) Hear(ctx context.Context, q Missed) (Heard, error) {
	lively, in, err := m.lively(ctx, q)
	if err != nil || len(lively) == 0 {
		return Heard{}, err
	}
	said, err := m.saidIn(ctx, q, lively[:min(len(lively), briefChats)])
	return Heard{Said: said, In: in}, err
}

// lively lists the chats in which something was said, those that are off left out.
func (m *Memory) lively(ctx context.Context, q Missed) ([]store.Lively, map[int64]store.Chat, error) {
	lively, err := store.LivelyChats(ctx, m.Store.DB(), q.From, q.Until, q.Protocol, q.Chat, maxChats)
	if err != nil {
		return nil, nil, err
	}
	in, err := store.ChatsByID(ctx, m.Store.DB(), livelyIDs(lively))
	lively = slices.DeleteFunc(lively, func(l store.Lively) bool {
		chat := in[l.ChatID]
		return chat.IsOff(m.Defaults)
	})
	return lively, in, err
}

func livelyIDs(lively []store.Lively) []int64 {
	ids := make([]int64, len(lively))
	for i, l := range lively {
		ids[i] = l.ChatID
	}
	return ids
}

// saidIn reads the newest messages of some chats, the fewer of each the more chats there are.
func (m *Memory) saidIn(ctx context.Context, q Missed, chats []store.Lively) ([]store.Message, error) {
	return store.SaidIn(ctx, m.Store.DB(), livelyIDs(chats), q.From, q.Until, min(max(briefLines/len(chats), 4), briefEach))
}

// Chats are those in which something was said, each once.
func (h Heard) Chats() []int64 {
	var ids []int64
	for _, s := range h.Said {
		if len(ids) == 0 || ids[len(ids)-1] != s.ChatID {
			ids = append(ids, s.ChatID)
		}
	}
	return ids
}

// Transcript writes it for a model, a numbered line for each message; what names a chat begins with the fence.
func (m *Memory) Transcript(h Heard, fence string) string {
	var b strings.Builder
	chat := int64(0)
	for i, s := range h.Said {
		if s.ChatID != chat {
			chat = s.ChatID
			fmt.Fprintf(&b, "%s chat with %s\n", fence, text.OneLine(labelOf(h.In[chat])))
		}
		fmt.Fprintf(&b, "%d [%s] %s: %s\n", i+1, s.At.In(m.Zone).Format("Mon 2 Jan 15:04"), speakerOf(h.In[chat], s), text.Clip(text.OneLine(s.Body), briefLine))
	}
	return b.String()
}

// Hits are its messages as what was found for a question, the newest first.
func (m *Memory) Hits(h Heard) []search.Hit {
	hits := make([]search.Hit, len(h.Said))
	for i, s := range h.Said {
		hits[i] = search.Hit{Ref: store.MessageRef(s.ID), ChatID: s.ChatID, Kind: store.KindConversation, Role: policy.UserRole(s.ChatID), Text: s.Body, IndexedAt: s.At}
		m.citeAs(&hits[i], h.In[s.ChatID], s)
	}
	slices.SortStableFunc(hits, func(x, y search.Hit) int { return y.IndexedAt.Compare(x.IndexedAt) })
	return hits
}

// citeAs tells of a hit that is a message where it stands: who, when, and a link.
func (m *Memory) citeAs(hit *search.Hit, chat store.Chat, s store.Message) {
	hit.Title = labelOf(chat)
	hit.Source = SourceOf(chat, s, m.Zone, m.Now())
	hit.Link = Link(chat, s.EventID)
}
