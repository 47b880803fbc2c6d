package memory

import (
	"context"
	"errors"
	"strings"

	"multis/jobs"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
)

const (
	// MaxTopic is how many messages, and how many notes, a topic may match. A topic that matches more is too general to be forgotten.
	MaxTopic = 5000
	// forgetBatch is how many messages one transaction forgets.
	forgetBatch = 500
	// forgetChatBatch is the same when a whole chat is forgotten.
	forgetChatBatch = 2000
)

// FindTopic returns all that is stored about a topic: everything that contains each of its words, in any inflection where the text is
// indexed. An empty topic matches nothing.
func (m *Memory) FindTopic(ctx context.Context, topic string) (store.TopicRows, error) {
	return m.Store.FindTopic(ctx, store.Topic{Words: strings.Fields(topic), Text: search.IndexText("", "", topic)}, MaxTopic+1)
}

// BeginForgetting stores what is to be forgotten, and enqueues the job that forgets it. If a contact is erased, the
// contact's chats are switched off, and what the contact wrote in groups until now is forgotten as well.
func (m *Memory) BeginForgetting(ctx context.Context, tx store.Tx, f store.Forgetting) error {
	if f.Kind == store.ForgetErase {
		for _, chat := range f.Remaining.Chats {
			if err := store.SetMode(ctx, tx, chat, policy.ModeOff); err != nil {
				return err
			}
		}
		var err error
		if f.Remaining.Messages, err = store.MessagesOfContactsInOtherChats(ctx, tx, f.Remaining.Chats); err != nil {
			return err
		}
	}
	n, err := store.InsertForgetting(ctx, tx, f)
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.ForgetArgs{ForgettingID: n})
}

// ForgetStep carries out the next step of a forgetting in tx, and returns the forgetting with its new state. ended is
// true after the last step.
func (m *Memory) ForgetStep(ctx context.Context, tx store.Tx, forgetting store.ForgettingID) (f store.Forgetting, ended bool, err error) {
	f, err = store.LockForgetting(ctx, tx, forgetting)
	if err != nil {
		return f, false, err
	}
	if f.DoneAt != nil {
		return f, false, nil
	}
	gone, err := m.forgetStep(ctx, tx, &f)
	if err != nil {
		return f, false, err
	}
	for _, out := range gone.Retract {
		if err := jobs.Enqueue(ctx, tx, jobs.RetractArgs{OutboxID: out}); err != nil {
			return f, false, err
		}
	}
	return f, f.DoneAt != nil, store.UpdateForgetting(ctx, tx, f)
}

func (m *Memory) forgetStep(ctx context.Context, tx store.Tx, f *store.Forgetting) (gone store.DeletionCounts, err error) {
	d := &f.Remaining
	chats := d.Chats
	if f.Kind == store.ForgetSome {
		chats = nil // here Chats only says in which chats the notes are; the chats themselves are kept
	}
	switch {
	case d.Request != 0:
		gone, err = store.Forget(ctx, tx, store.DeletionSet{Messages: []store.MessageID{d.Request}}, m.Now())
		d.Request = 0
		return gone, err
	case len(d.Messages)+len(d.Notes)+len(d.Tasks)+len(d.OutboxMessages)+len(d.Schedules)+len(d.Jobs)+len(d.Dialogs)+len(d.Summaries) > 0:
		step := *d
		step.Messages = d.Messages[:min(len(d.Messages), forgetBatch)]
		gone, err = store.Forget(ctx, tx, step, m.Now())
		*d = store.DeletionSet{Messages: d.Messages[len(step.Messages):], Chats: d.Chats}
	case len(chats) > 0:
		gone, err = m.forgetChat(ctx, tx, f)
	default:
		now := m.Now()
		f.DoneAt, err = &now, store.ResamplePlanner(ctx, tx)
	}
	f.Counts = f.Counts.Add(gone)
	return gone, err
}

// forgetChat forgets a part of the first chat that is to be forgotten.
func (m *Memory) forgetChat(ctx context.Context, tx store.Tx, f *store.Forgetting) (store.DeletionCounts, error) {
	d := &f.Remaining
	chat, err := store.LockChatShared(ctx, tx, d.Chats[0])
	if errors.Is(err, store.ErrNotFound) {
		d.Chats = d.Chats[1:]
		return store.DeletionCounts{}, nil
	}
	if err != nil {
		return store.DeletionCounts{}, err
	}
	gone, more, err := store.ForgetChatStep(ctx, tx, *f, chat, forgetChatBatch)
	if !more {
		d.Chats = d.Chats[1:]
	}
	return gone, err
}
