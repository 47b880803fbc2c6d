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
	"multis/store"
)

const (
	maxGapPages = 100              // pages of one room to fetch before the rest is left to a job
	gapTimeout  = 20 * time.Second // per room, because the sync of all other rooms waits
)

// missedEvents fetches the events that a limited sync left out of a chat's timeline, oldest first. It fetches nothing for a chat that is
// off. If the room is not described yet or a request fails, it leaves the gap to a job, so that one room does not block the others.
func (s *OwnerSync) missedEvents(ctx context.Context, room id.RoomID, from, since string) ([]*event.Event, error) {
	chats, err := store.ChatsByRoom(ctx, s.inbox.store.DB(), []id.RoomID{room})
	if err != nil {
		return nil, err
	}
	chat, known := chats[room]
	if !known {
		return nil, s.deferGap(ctx, room, from, since)
	}
	if s.inbox.isOff(chat) {
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
	// Limited by sync position and not by time, because events that a bridge backfilled meanwhile are new but have old timestamps.
	later := jobs.HistoryArgs{ChatID: chat.ID, FromToken: rest, ToToken: since}
	return events, s.inbox.store.InTx(ctx, func(tx store.Tx) error { return jobs.Enqueue(ctx, tx, later) })
}

// fetchGap reads a room's events backwards from one sync position to another, newest first. rest is the position where it stopped early, or
// empty if it read everything.
func (s *OwnerSync) fetchGap(ctx context.Context, room id.RoomID, from, to string) (events []*event.Event, rest string, err error) {
	ctx, cancel := context.WithTimeout(ctx, gapTimeout)
	defer cancel()
	for range maxGapPages {
		page, err := s.hs.owner.session().messagesBefore(ctx, room, from, to)
		if errors.Is(err, mautrix.MForbidden) {
			return events, "", nil // the owner left the room meanwhile
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

// deferGap stores a gap for the job that describes the room.
func (s *OwnerSync) deferGap(ctx context.Context, room id.RoomID, from, to string) error {
	return s.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.AddGap(ctx, tx, room, from, to); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.DescribeArgs{RoomID: room})
	})
}

// fillGaps fetches and stores the events of a room's gaps, page by page. A job that is interrupted continues after the last page.
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
				break // the owner left the room meanwhile
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
		if err := store.DeleteGap(ctx, db, gap.ID); err != nil {
			return err
		}
	}
	return nil
}
