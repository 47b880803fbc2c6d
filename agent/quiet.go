package agent

import (
	"context"
	"errors"
	"time"

	"multis/business/catalog"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

const (
	// followUpWindow is how late a follow-up may be drafted. It is limited so that switching follow-ups on does not draft
	// one for every old chat.
	followUpWindow = 7 * 24 * time.Hour
	// ratingWindow is how late a contact may be asked whether a conversation helped, for example because the business was closed in between.
	ratingWindow = 24 * time.Hour
	// minQuiet is the shortest silence after which a conversation is over.
	minQuiet = 10 * time.Minute
	// maxQuietChats is the maximum number of chats that one job writes to.
	maxQuietChats = 20
)

// QuietChats handles business chats in which nobody has written for a while: it drafts a follow-up when a contact does
// not answer for days, and asks whether a conversation helped when it is over. It keeps no state in memory.
type QuietChats struct {
	*core
	standard   standardTexts
	quietAfter time.Duration // the silence after which a conversation is over
}

// dueText is a text that is due in a chat.
type dueText struct {
	chat    store.Chat
	contact store.QuietChat
	purpose policy.Purpose
}

// HasQuietChats reports whether CheckQuietChats has anything to do.
func (q *QuietChats) HasQuietChats(ctx context.Context) (bool, error) {
	due, err := q.due(ctx, 1)
	return len(due) > 0, err
}

// CheckQuietChats queues the texts that are due.
func (q *QuietChats) CheckQuietChats(ctx context.Context) error {
	due, err := q.due(ctx, maxQuietChats)
	if err != nil {
		return err
	}
	for _, d := range due {
		err := q.store.InTx(ctx, func(tx store.Tx) error {
			chat, err := store.LockChat(ctx, tx, d.chat.ID)
			if err != nil {
				return err
			}
			from, until := q.period()
			now, err := store.QuietChatByID(ctx, tx, chat.ID, from, until)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			purpose, err := q.purposeIn(ctx, tx, chat, now)
			if err != nil {
				return err
			}
			if purpose != d.purpose {
				return nil
			}
			return q.write(ctx, tx, dueText{chat, now, d.purpose})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// period returns the limits of the time of the last message in the chats that are checked.
func (q *QuietChats) period() (from, until time.Time) {
	now := q.now()
	return now.Add(-policy.MaxFollowUpDays*24*time.Hour - followUpWindow), now.Add(-min(q.quietAfter, 24*time.Hour))
}

// due returns up to limit texts that are due, and that the gate would allow.
func (q *QuietChats) due(ctx context.Context, limit int) ([]dueText, error) {
	db := q.store.DB()
	from, until := q.period()
	quiet, err := store.QuietChats(ctx, db, from, until, q.defaults.HasFollowUps() || q.defaults.HasRatings())
	if err != nil {
		return nil, err
	}
	if len(quiet) == 0 {
		return nil, nil
	}
	ids := make([]store.ChatID, len(quiet))
	for i, c := range quiet {
		ids[i] = c.ChatID
	}
	chats, err := store.ChatsByID(ctx, db, ids)
	if err != nil {
		return nil, err
	}
	var due []dueText
	for _, c := range quiet {
		if len(due) == limit {
			break
		}
		chat := chats[c.ChatID]
		purpose, err := q.purposeIn(ctx, db, chat, c)
		if err != nil {
			return nil, err
		}
		if purpose == "" {
			continue
		}
		gate, err := q.box.Gate(ctx, chat)
		if err != nil {
			return nil, err
		}
		if gate.Decide(purpose, false).Allow {
			due = append(due, dueText{chat, c, purpose})
		}
	}
	return due, nil
}

// purposeIn returns the purpose of the text that is due in a chat; empty for none.
func (q *QuietChats) purposeIn(ctx context.Context, db store.DB, chat store.Chat, c store.QuietChat) (policy.Purpose, error) {
	now := q.now()
	switch {
	case chat.ModeIn(q.defaults) != policy.ModeBusiness, chat.DeliveryIn(q.defaults) == policy.DeliveryShadow,
		!q.standard.hoursOf(chat).At(now).Open,
		isAfter(chat.TypingUntil, now), isAfter(chat.OwnerActiveUntil, now):
		return "", nil
	case q.isFollowUpDue(chat, c):
		return policy.PurposeFollowUp, nil
	case !chat.AsksRating(q.defaults):
		return "", nil
	}
	name, err := store.AssistantName(ctx, db, q.name)
	if err != nil {
		return "", err
	}
	if !q.isConversationOver(c, name) {
		return "", nil
	}
	may, err := store.MayAskRating(ctx, db, chat.ID, policy.ConversationGap, now)
	if err != nil {
		return "", err
	}
	if !may {
		return "", nil
	}
	return policy.PurposeRating, nil
}

// isFollowUpDue reports whether a follow-up is due: the contact has not answered for the days that are set, and this silence had none yet.
func (q *QuietChats) isFollowUpDue(chat store.Chat, c store.QuietChat) bool {
	days := chat.FollowUpAfter(q.defaults)
	if days == 0 || !c.SaidAt.After(c.WroteAt) || !isSubstantial(c, q.name) ||
		(chat.FollowedUpAt != nil && chat.FollowedUpAt.After(c.WroteAt)) {
		return false
	}
	silence := q.now().Sub(c.SaidAt) - time.Duration(days)*24*time.Hour
	return silence >= 0 && silence < followUpWindow
}

// isConversationOver reports whether a conversation has ended with an answer to the contact: nobody has written for a
// while, and since the answer the contact has at most said thanks.
func (q *QuietChats) isConversationOver(c store.QuietChat, name string) bool {
	silence := q.now().Sub(c.LastAt())
	return silence >= q.quietAfter && silence < ratingWindow && isSubstantial(c, name) && c.SaidAs != policy.PurposeClarify &&
		(c.SaidAt.After(c.WroteAt) || policy.IsAcknowledgement(c.Wrote, name))
}

// isSubstantial reports whether what was last said to a contact is an answer or a question, and not a greeting, a reminder or thanks.
func isSubstantial(c store.QuietChat, name string) bool {
	switch c.SaidAs {
	case policy.PurposeReply, policy.PurposeClarify:
		return true
	case policy.PurposeDraft: // a person wrote it in a thread
		return !policy.IsAcknowledgement(c.Said, name)
	case "":
		return c.SaidBy != policy.AuthorMultisOwner && !policy.IsAcknowledgement(c.Said, name)
	default:
		return false
	}
}

// write queues a text that is due, and stores that this was done. A text that the gate refuses now is not tried again.
func (q *QuietChats) write(ctx context.Context, tx store.Tx, d dueText) error {
	lang, err := q.standard.languageOf(ctx, tx, d.chat.ID)
	if err != nil {
		return err
	}
	seen, err := store.CurrentSeen(ctx, tx, d.chat.ID)
	if err != nil {
		return err
	}
	text := catalog.FollowUp
	if d.purpose == policy.PurposeRating {
		text = catalog.Rating
	}
	out, _, err := q.box.Queue(ctx, tx, outbox.Message{
		Chat:    d.chat,
		Purpose: d.purpose,
		Text:    q.standard.texts.Text(text, lang),
		SeenID:  seen.Newest,
		Profile: q.personaOf(d.chat).Profile(),
	})
	if err != nil {
		return err
	}
	if d.purpose == policy.PurposeRating {
		return store.MarkRatingAsked(ctx, tx, out, d.chat.ID, d.contact.Contact, q.now())
	}
	return store.MarkFollowedUp(ctx, tx, d.chat.ID, q.now())
}

// isAfter reports whether a time is set and later than now.
func isAfter(at *time.Time, now time.Time) bool { return at != nil && at.After(now) }
