package appservice

import (
	"context"
	"errors"
	"slices"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// Historian stores the messages that were sent in a chat before multis was there.
type Historian struct {
	inbox *Inbox
	hs    *Homeserver
}

// NewHistorian returns a historian that reads through hs and stores through inbox.
func NewHistorian(inbox *Inbox, hs *Homeserver) *Historian { return &Historian{inbox: inbox, hs: hs} }

// History stores one page of old messages. Nothing in it is answered. The job for the next page is enqueued in the same transaction, so
// that reading continues there after a crash. A page that is read twice is stored once.
func (h *Historian) History(ctx context.Context, args jobs.HistoryArgs) error {
	chat, err := store.ChatByID(ctx, h.inbox.store.DB(), args.ChatID)
	if err != nil {
		return err
	}
	if !chat.HasRoom() || chat.Kind == policy.KindAdmin || h.inbox.isOff(chat) {
		return h.end(ctx, args)
	}
	from, err := h.startToken(ctx, args)
	if err != nil {
		return err
	}
	page, err := h.hs.owner.session().messagesBefore(ctx, *chat.RoomID, from, args.ToToken)
	if errors.Is(err, mautrix.MForbidden) {
		return h.end(ctx, args)
	}
	if err != nil {
		return explain("read the history of a room", err)
	}
	events := page.Chunk
	old := slices.IndexFunc(events, func(e *event.Event) bool { return time.UnixMilli(e.Timestamp).Before(time.Unix(args.SinceUnix, 0)) })
	if old >= 0 {
		events = events[:old]
	}
	slices.Reverse(events)
	parsed := h.inbox.filterEvents(parseEvents(ctx, events))
	next := args
	next.FromToken, next.NotifyOnly = page.End, old >= 0 || page.End == ""
	err = h.store(ctx, parsed, next)
	if store.IsBadData(err) {
		// One of the events can never be stored. Store each in its own transaction, and skip that one.
		for _, evt := range parsed {
			err := h.store(ctx, []bridgebridge.Event{evt})
			if store.IsBadData(err) {
				logSkippedEvent(ctx, evt.ID, err)
			} else if err != nil {
				return err
			}
		}
		return h.store(ctx, nil, next)
	}
	return err
}

// startToken returns the position from which a page is read backwards. The first page starts at the stored sync position: events after
// it arrive by push or sync, and would get no answer if they were read as history.
func (h *Historian) startToken(ctx context.Context, args jobs.HistoryArgs) (from string, err error) {
	if args.FromToken != "" || args.NoNotice {
		return args.FromToken, nil
	}
	_, err = store.GetSetting(ctx, h.inbox.store.DB(), store.SettingSyncToken, &from)
	return from, err
}

// store stores events and enqueues the job for the next page in one transaction.
func (h *Historian) store(ctx context.Context, events []bridgebridge.Event, next ...jobs.HistoryArgs) error {
	return h.inbox.store.InTx(ctx, func(tx store.Tx) error {
		stored, err := h.inbox.receiveHistory(ctx, tx, events)
		if err != nil {
			return err
		}
		for _, args := range next {
			args.StoredCount += stored
			if err := jobs.Enqueue(ctx, tx, args); err != nil {
				return err
			}
		}
		return nil
	})
}

// end enqueues the job that ends the import of a chat.
func (h *Historian) end(ctx context.Context, args jobs.HistoryArgs) error {
	args.NotifyOnly = true
	return h.inbox.store.InTx(ctx, func(tx store.Tx) error { return jobs.Enqueue(ctx, tx, args) })
}
