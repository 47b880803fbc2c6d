package appservice

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/sleep"
	"multis/jobs"
	"multis/store"
)

const (
	stallTimeout       = 2 * time.Minute  // how long a source may bring nothing although something is expected
	stallCheckInterval = 10 * time.Second // how often the sources are checked
	// pushGracePeriod is how long after a push no event counts as missed, because the push of an event may be a little later than its sync.
	pushGracePeriod = 10 * time.Second
)

// sourceMonitor records when this process last received events from its two sources, the push and the sync.
type sourceMonitor struct {
	pushed, synced atomic.Int64 // events that arrived

	mu       sync.Mutex
	pushedAt time.Time // when a transaction was last stored
	syncedAt time.Time // when a sync was last stored; zero while another process syncs
	// missedSince is when the first push since pushedAt failed or was missed; zero if none. A push is missed if only the
	// sync brought its events.
	missedSince time.Time
	missedCount int // failed and missed pushes since pushedAt
}

// EventCounts returns how many events this process got by push and by sync, with those that were known already.
func (in *Inbox) EventCounts() (pushed, synced int64) {
	return in.sources.pushed.Load(), in.sources.synced.Load()
}

// recordPush records whether a transaction was stored.
func (d *sourceMonitor) recordPush(now time.Time, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if taken {
		d.pushedAt = now
		d.missedSince = time.Time{}
		d.missedCount = 0
		return
	}
	d.addMissed(now, 2) // counts twice, because the homeserver waits longer before each retry
}

// recordMissedPush records that the sync brought events that no push brought.
func (d *sourceMonitor) recordMissedPush(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.pushedAt) > pushGracePeriod {
		d.addMissed(now, 1)
	}
}

// addMissed adds n failed or missed pushes. The caller holds mu.
func (d *sourceMonitor) addMissed(now time.Time, n int) {
	if d.missedCount += n; d.missedSince.IsZero() {
		d.missedSince = now
	}
}

// recordSync records that this process stored a sync. The zero time means that another process syncs.
func (d *sourceMonitor) recordSync(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.syncedAt = now
}

// stalledSince returns since when each stalled source has been stalled. It omits sources that work, and those that this
// process does not know about. pushed is when any process last stored a transaction. A single missed push does not count,
// because a homeserver that restarts loses its queued pushes.
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

// lastReceived returns when this process last received something from each source. Zero means that it does not know.
func (d *sourceMonitor) lastReceived() (pushed, synced time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pushedAt, d.syncedAt
}

// StallWatch sends the owner a notice when a source is stalled although the homeserver answers, and another when it works again.
type StallWatch struct {
	inbox        *Inbox
	hs           *Homeserver
	sharedPushAt time.Time // the value of pushedAt that was last stored for other processes
}

// NewStallWatch returns a watch over the sources of inbox.
func NewStallWatch(inbox *Inbox, hs *Homeserver) *StallWatch {
	return &StallWatch{inbox: inbox, hs: hs}
}

// Run checks the sources until ctx ends.
func (w *StallWatch) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		_ = sleep.For(ctx, stallCheckInterval)
		if err := w.check(ctx); err != nil && ctx.Err() == nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot check whether events arrive")
		}
	}
	return nil
}

// check compares both sources with the last notices, and enqueues notices about changes.
func (w *StallWatch) check(ctx context.Context) error {
	pushed, err := w.sharePushTime(ctx)
	if err != nil {
		return err
	}
	now := w.inbox.now()
	stalled := w.inbox.sources.stalledSince(now, pushed)
	if len(stalled) > 0 && !w.isHomeserverUp(ctx) {
		stalled = nil // the homeserver is down, and the failed requests are logged already
	}
	_, synced := w.inbox.sources.lastReceived()
	for _, source := range []struct {
		setting                  store.Setting
		begins, ends             jobs.NoticeTopic
		moved                    time.Time
		stalledText, resumedText string
	}{
		{
			store.SettingPushStalled, jobs.TopicPushStalled, jobs.TopicPushResumed, pushed, "The transactions of the homeserver do not arrive",
			"The transactions of the homeserver arrive again",
		},
		{
			store.SettingSyncStalled, jobs.TopicSyncStalled, jobs.TopicSyncResumed, synced, "The sync is stalled although the homeserver answers",
			"The sync works again",
		},
	} {
		topic, err := w.enqueueNotice(ctx, source.setting, stalled[source.setting], source.moved, source.begins, source.ends)
		switch {
		case err != nil:
			return err
		case topic == source.begins:
			zerolog.Ctx(ctx).Error().Time("since", stalled[source.setting]).Msg(source.stalledText)
		case topic == source.ends:
			zerolog.Ctx(ctx).Info().Msg(source.resumedText)
		}
	}
	return nil
}

// sharePushTime stores when this process last stored a transaction, and returns when any process last did.
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

// isHomeserverUp reports whether the homeserver answers.
func (w *StallWatch) isHomeserverUp(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := w.hs.bot.session().Versions(ctx)
	return err == nil
}

// enqueueNotice enqueues the notice begins, once, when a source is stalled; since is the time of that, or zero. It
// enqueues the notice ends, once, when the source received something after that, at moved. It returns the topic of the
// notice; empty if there is none.
func (w *StallWatch) enqueueNotice(ctx context.Context, source store.Setting, since, moved time.Time,
	begins, ends jobs.NoticeTopic,
) (topic jobs.NoticeTopic, err error) {
	err = w.inbox.store.InTx(ctx, func(tx store.Tx) error {
		topic = ""
		var known store.Stall
		is, err := store.GetSetting(ctx, tx, source, &known)
		switch {
		case err != nil:
			return err
		case !is && !since.IsZero():
			topic = begins
			err = store.PutSetting(ctx, tx, source, store.Stall{Since: since})
		case is && since.IsZero() && moved.After(known.Since):
			topic = ends
			err = store.DropSetting(ctx, tx, source)
		default:
			return nil
		}
		if err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: topic})
	})
	return topic, err
}

// detectMissedPush records when the sync brings events of chats that no push has brought.
func (in *Inbox) detectMissedPush(ctx context.Context, events []bridgebridge.Event) error {
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
		if known && !in.isOff(chat) {
			ids = append(ids, evt.ID)
		}
	}
	missed, err := store.AnyUnseen(ctx, in.store.DB(), ids)
	if missed && err == nil {
		in.sources.recordMissedPush(in.now())
	}
	return err
}
