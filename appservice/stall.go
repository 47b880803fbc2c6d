package appservice

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

const (
	stallTimeout       = 2 * time.Minute  // how long a door may stand still
	stallCheckInterval = 10 * time.Second // how often that is looked at
	// pushGracePeriod is how much later than a push the sync may bring the same event.
	pushGracePeriod = 10 * time.Second
)

// sourceMonitor notes what moves through the two doors of this process.
type sourceMonitor struct {
	mu       sync.Mutex
	pushedAt time.Time // when a transaction was last taken in
	syncedAt time.Time // when a sync was last taken in; zero while another process syncs
	// missedSince is since when events should have come by push and did not: a transaction failed, or only the sync brought them.
	missedSince time.Time
	missedCount int // how often that was seen
}

// notePush notes how a transaction ended.
func (d *sourceMonitor) notePush(now time.Time, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if taken {
		d.pushedAt, d.missedSince, d.missedCount = now, time.Time{}, 0
		return
	}
	d.addMissed(now, 2) // it is sent again at longer and longer intervals
}

// noteMissedPush notes that the sync brought events that no push did.
func (d *sourceMonitor) noteMissedPush(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.pushedAt) > pushGracePeriod {
		d.addMissed(now, 1)
	}
}

func (d *sourceMonitor) addMissed(now time.Time, times int) {
	if d.missedCount += times; d.missedSince.IsZero() {
		d.missedSince = now
	}
}

// noteSync notes that this process takes the sync in; the zero time: another one does.
func (d *sourceMonitor) noteSync(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncedAt = now
}

// stalledSince tells since when each door stands still; zero for one that moves, or of which this process knows nothing. pushed is when
// a transaction was last taken in by any process. A single event without its push is none: a homeserver that restarts loses it.
func (d *sourceMonitor) stalledSince(now, pushed time.Time) map[store.Setting]time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	since := map[store.Setting]time.Time{}
	if d.missedCount >= 2 && now.Sub(d.missedSince) > stallTimeout && pushed.Before(d.missedSince) {
		since[store.SettingPushStalled] = d.missedSince
	}
	if !d.syncedAt.IsZero() && now.Sub(d.syncedAt) > stallTimeout {
		since[store.SettingSyncStalled] = d.syncedAt
	}
	return since
}

// lastReceived tells when each door moved; zero if this process does not know.
func (d *sourceMonitor) lastReceived() (pushed, synced time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pushedAt, d.syncedAt
}

// StallWatch tells the owner when a door stands still although the homeserver answers, and when it moves again.
type StallWatch struct {
	inbox        *Inbox
	hs           *Homeserver
	sharedPushAt time.Time // the pushed that the other processes know of
}

// NewStallWatch makes a watch.
func NewStallWatch(inbox *Inbox, hs *Homeserver) *StallWatch {
	return &StallWatch{inbox: inbox, hs: hs}
}

// Run watches until ctx ends.
func (w *StallWatch) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep(ctx, stallCheckInterval)
		if err := w.check(ctx); err != nil && ctx.Err() == nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot look whether events come in")
		}
	}
	return nil
}

// check compares both doors with what the owner was told.
func (w *StallWatch) check(ctx context.Context) error {
	pushed, err := w.sharePushTime(ctx)
	if err != nil {
		return err
	}
	now := w.inbox.now()
	stalled := w.inbox.sources.stalledSince(now, pushed)
	if len(stalled) > 0 && !w.isHomeserverUp(ctx) {
		stalled = nil // the homeserver is away: that is in the log, and nothing is wrong here
	}
	_, synced := w.inbox.sources.lastReceived()
	for _, door := range []struct {
		setting          store.Setting
		begins, ends     jobs.Topic
		moved            time.Time
		stoodStill, goes string
	}{
		{store.SettingPushStalled, jobs.TopicPushStalled, jobs.TopicPushResumed, pushed, "No transaction of the homeserver gets through", "Transactions of the homeserver get through again"},
		{store.SettingSyncStalled, jobs.TopicSyncStalled, jobs.TopicSyncResumed, synced, "The sync stands still although the homeserver answers", "The sync goes on"},
	} {
		told, err := w.enqueueNotice(ctx, door.setting, stalled[door.setting], door.moved, door.begins, door.ends)
		switch {
		case err != nil:
			return err
		case told == door.begins:
			zerolog.Ctx(ctx).Error().Time("since", stalled[door.setting]).Msg(door.stoodStill)
		case told == door.ends:
			zerolog.Ctx(ctx).Info().Msg(door.goes)
		}
	}
	return nil
}

// sharePushTime tells the other processes when a transaction was last taken in here, and returns when that was anywhere.
func (w *StallWatch) sharePushTime(ctx context.Context) (time.Time, error) {
	pushed, _ := w.inbox.sources.lastReceived()
	var anywhere time.Time
	if _, err := store.GetSetting(ctx, w.inbox.store.DB(), store.SettingPushedAt, &anywhere); err != nil {
		return time.Time{}, err
	}
	if !pushed.After(anywhere) {
		return anywhere, nil
	}
	if pushed.Sub(w.sharedPushAt) < stallCheckInterval {
		return pushed, nil
	}
	w.sharedPushAt = pushed
	return pushed, store.PutSetting(ctx, w.inbox.store.Writer(), store.SettingPushedAt, pushed)
}

// isHomeserverUp tells whether the homeserver does.
func (w *StallWatch) isHomeserverUp(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := w.hs.bot.session().Versions(ctx)
	return err == nil
}

// enqueueNotice has the owner told once that a door stands still since a time (zero: it does not), and once that it moved after that. It returns what
// is told; empty: nothing.
func (w *StallWatch) enqueueNotice(ctx context.Context, door store.Setting, since, moved time.Time, begins, ends jobs.Topic) (told jobs.Topic, err error) {
	err = w.inbox.store.InTx(ctx, func(tx store.Tx) error {
		told = ""
		var known store.Stall
		is, err := store.GetSetting(ctx, tx, door, &known)
		switch {
		case err != nil:
			return err
		case !is && !since.IsZero():
			told = begins
			err = store.PutSetting(ctx, tx, door, store.Stall{Since: since})
		case is && since.IsZero() && moved.After(known.Since):
			told = ends
			err = store.DropSetting(ctx, tx, door)
		default:
			return nil
		}
		if err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: told})
	})
	return told, err
}

// detectMissedPush notes when the sync brings events of chats that no push has brought.
func (in *Inbox) detectMissedPush(ctx context.Context, events []*event.Event) error {
	if len(events) == 0 {
		return nil
	}
	rooms := make([]id.RoomID, len(events))
	for i, evt := range events {
		rooms[i] = evt.RoomID
	}
	chats, err := store.ChatsByRoom(ctx, in.store.DB(), rooms)
	if err != nil {
		return err
	}
	var ids []id.EventID
	for _, evt := range events {
		chat, known := chats[evt.RoomID]
		if known && (chat.Kind == policy.KindAdmin || in.mode(chat) != policy.ModeOff) && bridgebridge.CheckIDs(evt) == nil {
			ids = append(ids, evt.ID)
		}
	}
	missed, err := store.AnyUnseen(ctx, in.store.DB(), ids)
	if missed && err == nil {
		in.sources.noteMissedPush(in.now())
	}
	return err
}
