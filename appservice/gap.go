package appservice

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const (
	maxGapPages = 100              // fetched at once for one room
	gapTimeout  = 20 * time.Second // spent on one room while all others wait
)

// missedEvents fetches what the sync left out of a chat's timeline, oldest first. Of a chat that is off, nothing. What cannot be fetched now is
// noted for a job, so that one room holds up no other: so is the gap of a room that nobody has described yet.
func (s *OwnerSync) missedEvents(ctx context.Context, room id.RoomID, from, since string) ([]*event.Event, error) {
	chats, err := store.ChatsByRoom(ctx, s.inbox.store.DB(), []id.RoomID{room})
	if err != nil {
		return nil, err
	}
	chat, known := chats[room]
	if !known {
		return nil, s.deferGap(ctx, room, from, since)
	}
	if chat.Kind != policy.KindAdmin && s.inbox.mode(chat) == policy.ModeOff {
		return nil, nil
	}
	events, rest, err := s.fetchGap(ctx, room, from, since)
	switch {
	case err == nil:
	case ctx.Err() != nil, isLostDevice(err):
		return nil, err
	default:
		zerolog.Ctx(ctx).Warn().Err(err).Stringer("room_id", room).Msg("Cannot fetch missed messages; a job fetches them")
		return nil, s.deferGap(ctx, room, from, since)
	}
	slices.Reverse(events)
	if rest == "" {
		return events, nil
	}
	// By position and not by time: what a bridge filled in meanwhile is new here and says that it is old.
	later := jobs.HistoryArgs{ChatID: chat.ID, FromToken: rest, ToToken: since}
	return events, s.inbox.store.InTx(ctx, func(tx store.Tx) error { return jobs.Enqueue(ctx, tx, later) })
}

// fetchGap reads back from a position to another, newest first. rest is where it stopped before the end; empty: it read all.
func (s *OwnerSync) fetchGap(ctx context.Context, room id.RoomID, from, to string) (events []*event.Event, rest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, gapTimeout)
	defer cancel()
	for range maxGapPages {
		page, err := s.hs.owner.session().messagesBefore(ctx, room, from, to)
		if errors.Is(err, mautrix.MForbidden) {
			return events, "", nil // the owner left meanwhile
		}
		if err != nil {
			return nil, "", explain("fetch missed messages", err)
		}
		events = append(events, page.Chunk...)
		if from = page.End; from == "" {
			return events, "", nil
		}
	}
	return events, from, nil
}

// deferGap leaves a gap to the job that describes the room.
func (s *OwnerSync) deferGap(ctx context.Context, room id.RoomID, from, to string) error {
	return s.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.AddGap(ctx, tx, room, from, to); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.DescribeArgs{RoomID: room})
	})
}

// fillGaps fetches what the sync left out of a room's timeline and takes it in, page by page: a job that ends half-way goes on where
// it stopped.
func (d *Describer) fillGaps(ctx context.Context, room id.RoomID) error {
	db := d.inbox.store.Writer()
	gaps, err := store.Gaps(ctx, db, room)
	if err != nil {
		return err
	}
	for _, gap := range gaps {
		for from := gap.From; from != ""; {
			page, err := d.hs.owner.session().messagesBefore(ctx, room, from, gap.To)
			if errors.Is(err, mautrix.MForbidden) {
				break // the owner left meanwhile
			}
			if err != nil {
				return explain("fetch missed messages", err)
			}
			slices.Reverse(page.Chunk)
			if err := d.inbox.Receive(ctx, page.Chunk, ""); err != nil {
				return err
			}
			if from = page.End; from == "" {
				break
			}
			if err := store.ShrinkGap(ctx, db, gap.ID, from); err != nil {
				return err
			}
		}
		if err := store.DropGap(ctx, db, gap.ID); err != nil {
			return err
		}
	}
	return nil
}
