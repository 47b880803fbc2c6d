package memory

import (
	"context"
	"maps"
	"slices"
	"strings"

	"multis/clock/schedule"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// Question is a question to Recall.
type Question struct {
	Text string
	// Scope is what may be read: a contact's own chat, or the owner's notes and the chats that he names.
	Scope policy.Scope
	// AsOwner selects the owner's rights for reading; otherwise a contact's.
	AsOwner bool
	// Limit is the number of hits. Defaults to 6.
	Limit int
	// AnyTime ignores a period that the question names: its words are searched like all others.
	AnyTime bool
}

// RecallResult is the result of Recall: notes first, then messages, each in the order of their score.
type RecallResult struct {
	// Hits have a Source to cite them by, and messages a Link.
	Hits []search.Hit
	// Terms are the words that were searched. A question of only stop words has none and finds the newest messages.
	Terms []search.Term
	// Period is the period that the question is about; zero if it names none.
	Period schedule.Period
	// AsksNewest says that the question only asks for the latest messages.
	AsksNewest bool
}

const (
	defaultHits = 6
	maxFetched  = 50 // hits that are fetched when some are filtered out afterwards
)

// Recall searches notes and messages for a question.
func (m *Memory) Recall(ctx context.Context, q Question) (RecallResult, error) {
	if q.Limit <= 0 {
		q.Limit = defaultHits
	}
	var r RecallResult
	scope := q.Scope
	text := q.Text
	if t, found := schedule.ParsePast(q.Text, m.Now().In(m.Zone)); found && !q.AnyTime {
		r.Period, text = t.Period, t.Rest
	}
	about := timeFilter{Period: r.Period, exclusive: isAboutSaying(q.Text)}
	about.contactOnly = q.AsOwner && about.exclusive && !bothSides.MatchString(q.Text)
	find, as := m.Search.AsContact, m.Store.AsContact
	if q.AsOwner {
		find, as = m.Search.AsOwner, m.Store.AsOwner
	}
	limit := q.Limit
	if !r.Period.IsZero() {
		limit = maxFetched
	}
	notes, err := find(ctx, scope, search.Query{Text: text, Limit: limit, Kinds: []index.Kind{index.KindConversation}})
	if err != nil {
		return RecallResult{}, err
	}
	r.Terms = notes.Terms
	if r.AsksNewest, err = (recaller{m}).asksForNewest(ctx, scope, q.Text, notes.Terms); err != nil {
		return RecallResult{}, err
	}
	if r.AsksNewest {
		text = ""
		if notes, err = find(ctx, scope, search.Query{Limit: limit, Kinds: []index.Kind{index.KindConversation}}); err != nil {
			return RecallResult{}, err
		}
		r.Terms = nil
	}
	if len(notes.Terms) == 0 && len(scope.Chats()) > 0 && !m.NotesOnly {
		notes.Hits = nil // the newest notes say less about "what did we talk about" than the newest messages
	}
	said, err := recaller{m}.recallMessages(ctx, recallBackend{find, as, q.AsOwner}, scope, text, about, limit)
	if err != nil {
		return RecallResult{}, err
	}
	if len(r.Terms) == 0 {
		r.Terms = said.Terms
	}
	r.Hits = about.apply(notes.Hits)
	// At least half of the hits are messages, if there are that many.
	r.Hits = r.Hits[:min(len(r.Hits), max(q.Limit-len(said.Hits), q.Limit/2))]
	if err := m.AddNoteSources(ctx, scope, r.Hits); err != nil {
		return RecallResult{}, err
	}
	r.Hits = append(r.Hits, said.Hits[:min(len(said.Hits), q.Limit-len(r.Hits))]...)
	return r, nil
}

// recaller searches messages and notes.
type recaller struct{ *Memory }

// asksForNewest reports whether a question asks what was said, and names people but no topic. Its answer is the newest messages.
func (m recaller) asksForNewest(ctx context.Context, scope policy.Scope, question string, terms []search.Term) (bool, error) {
	if !isAboutSaying(question) {
		return false, nil
	}
	besides := search.Words(strings.Join(append(sayingWords.FindAllString(question, -1), newestWords.FindAllString(question, -1)...), " "))
	chats, err := store.ChatsByID(ctx, m.Store.DB(), scope.Chats())
	if err != nil {
		return false, err
	}
	for _, c := range chats {
		besides = append(besides, search.Words(c.Name)...)
	}
	return !slices.ContainsFunc(terms, func(t search.Term) bool { return t.IsTopical(besides) }), nil
}

// AddNoteSources sets Hit.Messages of each note among hits to the messages from which the note was taken. An answer made
// from the note can then be forgotten together with them.
func (m *Memory) AddNoteSources(ctx context.Context, scope policy.Scope, hits []search.Hit) error {
	var docs []store.DocumentID
	for _, h := range hits {
		if h.Kind == index.KindConversation && h.DocumentID != 0 {
			docs = append(docs, h.DocumentID)
		}
	}
	if len(docs) == 0 {
		return nil
	}
	var behind map[store.DocumentID][]store.MessageID
	err := m.Store.AsOwner(ctx, scope, func(tx store.Tx) (err error) {
		behind, err = store.MessagesBehind(ctx, tx, docs)
		return err
	})
	for i := range hits {
		hits[i].Messages = behind[hits[i].DocumentID]
	}
	return err
}

// recallBackend are the functions by which Recall searches and reads, with the rights of the owner or of a contact.
type recallBackend struct {
	search func(ctx context.Context, scope policy.Scope, q search.Query) (search.Result, error)
	inTx   func(ctx context.Context, scope policy.Scope, fn func(tx store.Tx) error) error
	// readsAll is true for the owner, who also reads what was blocked as an attempt to give the assistant orders.
	readsAll bool
}

// recallMessages searches messages. When a period was asked for and no message in it matches, it returns the newest of the period.
func (m recaller) recallMessages(ctx context.Context, by recallBackend, scope policy.Scope, text string, when timeFilter,
	limit int,
) (search.Result, error) {
	if len(scope.Chats()) == 0 || m.NotesOnly {
		return search.Result{}, nil
	}
	var found search.Result
	if text != "" { // otherwise the newest are read, because the index may not have them yet
		var err error
		if found, err = by.search(ctx, scope, search.Query{Text: text, Limit: limit, Source: index.Messages}); err != nil {
			return search.Result{}, err
		}
	}
	found.Hits = when.apply(found.Hits)
	if len(found.Hits) == 0 && (!when.IsZero() || len(found.Terms) == 0) {
		var newest []store.Message
		err := by.inTx(ctx, scope, func(tx store.Tx) (err error) {
			newest, err = store.MessagesBetween(ctx, tx, scope, when.From, when.Until, defaultHits)
			return err
		})
		if err != nil {
			return search.Result{}, err
		}
		if when.contactOnly {
			newest = slices.DeleteFunc(newest, func(msg store.Message) bool { return msg.Author != policy.AuthorContact })
		}
		for _, msg := range newest {
			found.Hits = append(found.Hits, search.Hit{
				Ref:       store.MessageRef(msg.ID),
				ChatID:    msg.ChatID,
				Kind:      index.KindConversation,
				Role:      policy.UserRole(msg.ChatID),
				Text:      msg.Body,
				IndexedAt: msg.At,
			})
		}
	}
	var err error
	found.Hits, err = m.withSources(ctx, by, scope, found.Hits)
	return found, err
}

// withSources sets the titles, citations and links of hits that are messages. It drops the hits that the reader may not see.
func (m recaller) withSources(ctx context.Context, by recallBackend, scope policy.Scope, hits []search.Hit) ([]search.Hit, error) {
	var ids []store.MessageID
	for _, h := range hits {
		if message, ok := h.Ref.Message(); ok {
			ids = append(ids, message)
		}
	}
	var messages map[store.MessageID]store.Message
	err := by.inTx(ctx, scope, func(tx store.Tx) (err error) {
		messages, err = store.MessagesByID(ctx, tx, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !by.readsAll {
		readable, err := m.readableMessages(ctx, slices.Collect(maps.Values(messages)))
		if err != nil {
			return nil, err
		}
		isReadable := func(h search.Hit) bool {
			return slices.ContainsFunc(readable, func(msg store.Message) bool { return h.Ref == store.MessageRef(msg.ID) })
		}
		hits = slices.DeleteFunc(hits, func(h search.Hit) bool { return !isReadable(h) })
	}
	in := make([]store.ChatID, 0, len(hits))
	for _, msg := range messages {
		in = append(in, msg.ChatID)
	}
	chats, err := store.ChatsByID(ctx, m.Store.DB(), in)
	if err != nil {
		return nil, err
	}
	for i := range hits {
		message, _ := hits[i].Ref.Message()
		msg, there := messages[message]
		if !there {
			continue
		}
		m.setSource(&hits[i], chats[msg.ChatID], msg)
	}
	return hits, nil
}
