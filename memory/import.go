package memory

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/memory/transcript"
	"multis/policy"
	"multis/store"
)

// Imported counts what was imported.
type Imported struct {
	Messages int
	Notes    int
	Known    int // messages and notes that were left out because they are stored already
	Old      int // messages and notes that were left out because they are older than the retention allows
}

// ErrUnknownSender is returned by Import when it cannot tell which sender is the owner. Ask for the owner's name in the file.
var ErrUnknownSender = errors.New("it cannot be told which of the senders is you")

// CheckImport returns the error that Import would return because of the senders of a file, so that nothing is stored of a file that cannot
// be imported.
func CheckImport(chat store.Chat, from transcript.Chat, me string) error {
	_, err := authors(chat, from.Lines, me)
	return err
}

const importedProtocol = "import"

// importBatch is how many messages one transaction imports.
const importBatch = 500

// Import stores the conversation of a file in a chat. me is the owner's name in the file; it may be empty when there are
// two senders and the chat has the name of one. What was imported before is left as it is, so an import can be repeated.
func (m *Memory) Import(ctx context.Context, chat store.Chat, from transcript.Chat, me string) (Imported, error) {
	var done Imported
	author, err := authors(chat, from.Lines, me)
	if err != nil {
		return Imported{}, err
	}
	oldest := m.retentionStart(chat)
	at := map[string]int{} // counts equal messages at the same time
	for part := range slices.Chunk(from.Lines, importBatch) {
		err := m.Store.InTx(ctx, func(tx store.Tx) error {
			for _, l := range part {
				if l.At.Before(oldest) {
					done.Old++
					continue
				}
				key := fmt.Sprintf("%d\n%d\n%s\n%s", chat.ID, l.At.Unix(), l.Sender, l.Text)
				at[key]++
				sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", key, at[key]))
				stored, err := store.ImportMessage(ctx, tx, store.Message{
					ChatID:  chat.ID,
					EventID: id.EventID(fmt.Sprintf("$import:%x", sum[:16])),
					Author:  author(l.Sender),
					Sender:  id.UserID(l.Sender),
					Body:    l.Text,
					At:      l.At,
				})
				switch {
				case err != nil:
					return err
				case stored:
					done.Messages++
				default:
					done.Known++
				}
			}
			return nil
		})
		if err != nil {
			return done, err
		}
	}
	return done, m.importNotes(ctx, chat, from.Notes, oldest, &done)
}

// importNotes stores notes in the memory of the chat.
func (m *Memory) importNotes(ctx context.Context, chat store.Chat, sections []transcript.Section, oldest time.Time, done *Imported) error {
	if len(sections) == 0 {
		return nil
	}
	return m.Store.AsOwner(ctx, scopeOf(chat), func(tx store.Tx) error {
		for _, s := range sections {
			for _, body := range s.Notes {
				n := store.Note{
					Role:      NotesRole(chat),
					ChatID:    chat.ID,
					Kind:      store.NoteByHand,
					Body:      text.Clip(text.OneLine(body), MaxNote),
					ValidFrom: s.At,
				}
				if s.At.Before(oldest) {
					done.Old++
					continue
				}
				known, err := store.HasNote(ctx, tx, n)
				if err != nil {
					return err
				}
				if known {
					done.Known++
					continue
				}
				if n.ID, err = store.InsertNote(ctx, tx, n); err != nil {
					return err
				}
				if err := m.indexNotes(ctx, tx, chat, store.NoteOrigin(n.ID), []store.Note{n}); err != nil {
					return err
				}
				done.Notes++
			}
		}
		return nil
	})
}

// retentionStart returns the time before which messages of a chat are deleted by the next ApplyRetention.
func (m *Memory) retentionStart(chat store.Chat) time.Time {
	if chat.Kind == policy.KindAdmin {
		return m.midnightDaysAgo(m.Settings.OwnerDays)
	}
	return m.midnightDaysAgo(m.Settings.Days)
}

// authors returns a function that maps the senders of a file to authors.
func authors(chat store.Chat, lines []transcript.Line, me string) (func(who string) policy.Author, error) {
	senders := map[string]bool{}
	for _, l := range lines {
		senders[l.Sender] = true
	}
	if me == "" && !senders[transcript.User] && !senders[transcript.Owner] && len(senders) > 0 {
		for who := range senders {
			if len(senders) == 2 && !strings.EqualFold(who, chat.Name) {
				me = who
			}
		}
		if !slices.ContainsFunc(senderNames(senders), func(who string) bool {
			return strings.EqualFold(who, chat.Name)
		}) && len(senders) > 1 || len(senders) > 2 {
			return nil, fmt.Errorf("%w: %s", ErrUnknownSender, strings.Join(senderNames(senders), ", "))
		}
	}
	return func(who string) policy.Author {
		switch {
		case who == transcript.Assistant:
			return policy.AuthorMultisOwner
		case who == transcript.Owner, me != "" && strings.EqualFold(who, me), who == transcript.User && chat.Kind == policy.KindAdmin:
			return policy.AuthorOwnerPhone
		default:
			return policy.AuthorContact
		}
	}, nil
}

func senderNames(senders map[string]bool) []string {
	names := make([]string, 0, len(senders))
	for who := range senders {
		names = append(names, who)
	}
	slices.Sort(names)
	return names
}

// ImportedChat returns the chat of an imported conversation that belongs to no bridge. It creates the chat if it is missing. Nothing can be
// sent there.
func (m *Memory) ImportedChat(ctx context.Context, channel, name string) (store.Chat, error) {
	var chat store.Chat
	err := m.Store.InTx(ctx, func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   importedProtocol,
			ChannelID:  channel,
			Kind:       policy.KindDM,
			Name:       name,
			Encryption: policy.EncryptionNo,
		})
		return err
	})
	return chat, err
}
