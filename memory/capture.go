package memory

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"

	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

const (
	maxCapturedMessages = 60 // of one capture; earlier ones are only searchable
	maxShownNotes       = 60 // current notes that the model sees
	maxKnownNotes       = 500
	maxDueCaptures      = 100 // captures that are started at once
)

// errAlreadyCaptured rolls back a capture whose messages another one has captured meanwhile.
var errAlreadyCaptured = errors.New("the messages were captured before")

// DueCaptures returns the chats that have enough messages since their last capture. Without any model there are none. Where only some
// agents have a model, a chat without one is returned less and less often.
func (m *Memory) DueCaptures(ctx context.Context) ([]store.ChatID, error) {
	if m.ModelOf == nil && m.Model.Name() == (llm.None{}).Name() {
		return nil, nil
	}
	return store.DueCaptures(ctx, m.Store.DB(), m.Settings.Threshold, m.Settings.Minimum, m.Now().Add(-m.Settings.Quiet), maxDueCaptures)
}

// Capture takes notes of the messages of a chat since the last capture. last says that no other attempt follows. If the
// last attempt fails, the chat is not due again for a while.
func (m *Memory) Capture(ctx context.Context, chatID store.ChatID, last bool) error {
	err := capturer{m}.capture(ctx, chatID)
	var over *llm.OverBudgetError
	switch {
	case errors.Is(err, errAlreadyCaptured):
		return nil
	case errors.Is(err, llm.ErrNoModel), errors.As(err, &over):
	case err == nil || jobs.IsSnooze(err) || !last || ctx.Err() != nil:
		return err
	default:
		zerolog.Ctx(ctx).Warn().Err(err).Int64("chat_id", int64(chatID)).Msg("Cannot take notes of a chat")
	}
	return m.Store.InTx(ctx, func(tx store.Tx) error { return store.DelayCapture(ctx, tx, chatID) })
}

// capturer writes notes of a conversation.
type capturer struct{ *Memory }

func (m capturer) capture(ctx context.Context, chatID store.ChatID) error {
	chat, err := store.ChatByID(ctx, m.Store.DB(), chatID)
	if err != nil {
		return err
	}
	known, err := store.CaptureStateOf(ctx, m.Store.DB(), chatID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it has no messages
	}
	if err != nil {
		return err
	}
	if chat.IsOff(m.Defaults) {
		return nil
	}
	messages, err := store.UncapturedMessages(ctx, m.Store.DB(), chatID, known.CapturedTo, maxCapturedMessages)
	if err != nil {
		return err
	}
	var notes []store.Note
	err = m.Store.AsOwner(ctx, scopeOf(chat), func(tx store.Tx) (err error) {
		notes, err = store.NotesOfRole(ctx, tx, NotesRole(chat), maxKnownNotes)
		return err
	})
	if err != nil {
		return err
	}
	if len(messages) == 0 {
		return nil
	}
	lastMessage := slices.Max(store.IDsOf(messages))
	if messages, err = m.readableMessages(ctx, messages); err != nil {
		return err
	}
	current := slices.Clone(notes[:min(len(notes), maxShownNotes)])
	if len(messages) == 0 {
		return m.Store.AsOwner(ctx, scopeOf(chat), func(tx store.Tx) error {
			return m.write(ctx, tx, chat, known, captureResult{lastMessage: lastMessage})
		})
	}
	resp, err := llm.Complete(ctx, m.modelOf(chat), captureRequest(cmp.Or(strings.TrimSpace(m.Settings.Skill()), captureSkill), chat, messages,
		current, m.Now().In(m.Zone)))
	if err != nil {
		return err
	}
	taken, err := parseNotes(resp.Text, len(messages))
	if err != nil {
		return err
	}
	breakNoteLinks(taken, messages, current)
	return m.Store.AsOwner(ctx, scopeOf(chat), func(tx store.Tx) error {
		return m.write(ctx, tx, chat, known, captureResult{messages: messages, lastMessage: lastMessage, extracted: taken, shownNotes: current})
	})
}

// captureResult is what a model has read for a capture, and the notes that it returned.
type captureResult struct {
	messages    []store.Message
	lastMessage store.MessageID // the newest message of the capture; it may be missing from messages, because a model may not read it
	extracted   []extractedNote
	shownNotes  []store.Note
}

// readableMessages returns the messages that a model may read.
func (m *Memory) readableMessages(ctx context.Context, messages []store.Message) ([]store.Message, error) {
	if !m.Settings.SkipInjections {
		return messages, nil
	}
	return store.WithoutBlocked(ctx, m.Store.DB(), messages)
}

// write stores a capture, all or nothing. The scope of the transaction is that of the chat: whatever a contact wrote and a model made of it
// is stored with the role of that chat only.
func (m capturer) write(ctx context.Context, tx store.Tx, chat store.Chat, before store.CaptureState, b captureResult) error {
	// Lock the chat before its memory and its messages, in the order of the inbox.
	if _, err := store.LockChatShared(ctx, tx, chat.ID); err != nil {
		return err
	}
	now, err := store.LockCaptureState(ctx, tx, chat.ID)
	if err != nil {
		return err
	}
	if now.CapturedTo != before.CapturedTo {
		return errAlreadyCaptured
	}
	if _, err := store.LockUnchanged(ctx, tx, store.IDsOf(b.messages), b.messages); errors.Is(err, store.ErrChanged) {
		return jobs.Snooze(0) // what was deleted or edited meanwhile must not be remembered as it was
	} else if err != nil {
		return err
	}
	if len(b.extracted) > 0 {
		if err := m.writeSection(ctx, tx, chat, b.lastMessage, b); err != nil {
			return err
		}
	}
	return store.MarkCaptured(ctx, tx, chat.ID, b.lastMessage, keepAfterCapture)
}

// writeSection stores the notes of a capture, marks the notes that they replace, and indexes them.
func (m capturer) writeSection(ctx context.Context, tx store.Tx, chat store.Chat, lastMessage store.MessageID, b captureResult) error {
	role := NotesRole(chat)
	section, err := store.InsertSection(ctx, tx, chat.ID, role, lastMessage)
	if err != nil {
		return err
	}
	known, err := store.NotesOfRole(ctx, tx, role, maxKnownNotes)
	if err != nil {
		return err
	}
	offered := map[store.NoteID]bool{}
	for _, n := range b.shownNotes {
		offered[n.ID] = true
	}
	for _, f := range b.extracted {
		n := store.Note{
			Role:      role,
			ChatID:    chat.ID,
			Section:   &section,
			Kind:      f.Kind,
			Subject:   f.Subject,
			Body:      f.Text,
			ValidFrom: newestTime(b.messages, f.From),
		}
		for _, i := range f.From {
			n.Sources = append(n.Sources, b.messages[i-1].ID)
		}
		s := placeNote(n, f.Replaces, known, offered)
		written, err := m.writeNote(ctx, tx, chat, s)
		if err != nil {
			return err
		}
		if s.duplicate != nil {
			continue
		}
		if s.note.ValidTo == nil {
			known = slices.DeleteFunc(known, func(k store.Note) bool { return s.replaced != nil && k.ID == s.replaced.ID })
			known = append(known, written)
		}
		if err := m.addCommitment(ctx, tx, chat, written, f, b.messages); err != nil {
			return err
		}
	}
	if err := m.indexSection(ctx, tx, chat, section); err != nil {
		return err
	}
	if err := jobs.EmitHookEvent(ctx, tx, policy.HookCapture, strconv.FormatInt(int64(section), 10)); err != nil {
		return err
	}
	return store.PruneNotes(ctx, tx, role, m.Settings.Sections)
}

// writeNote stores a note of a chat as placeNote decided, and returns the stored note.
func (m capturer) writeNote(ctx context.Context, tx store.Tx, chat store.Chat, s notePlacement) (store.Note, error) {
	if s.duplicate != nil {
		return *s.duplicate, store.MergeNote(ctx, tx, s.duplicate.ID, s.note.Sources)
	}
	id, err := store.InsertNote(ctx, tx, s.note)
	if err != nil {
		return store.Note{}, err
	}
	s.note.ID = id
	if s.replaced == nil || s.note.ValidTo != nil {
		return s.note, nil
	}
	if err := store.DropCommitmentsOfNote(ctx, tx, s.replaced.ID); err != nil {
		return store.Note{}, err
	}
	if err := store.SupersedeNote(ctx, tx, s.replaced.ID, s.note.ValidFrom, id); err != nil {
		return store.Note{}, err
	}
	return s.note, m.reindexNote(ctx, tx, chat, *s.replaced)
}

// addCommitment stores a commitment for a note about what somebody has to do.
func (m capturer) addCommitment(ctx context.Context, tx store.Tx, chat store.Chat, n store.Note, f extractedNote,
	messages []store.Message,
) error {
	if f.Kind != store.NoteAction || f.Assignee == "" {
		return nil
	}
	return store.InsertCommitment(ctx, tx, store.Commitment{
		ChatID:    chat.ID,
		NoteID:    &n.ID,
		MessageID: messages[f.From[len(f.From)-1]-1].ID,
		Who:       f.Assignee,
		Whom:      f.Beneficiary,
		What:      n.Body,
		DueAt:     f.due(m.Zone),
	})
}
