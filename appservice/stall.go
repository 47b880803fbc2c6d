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
	stallTime  = 2 * time.Minute  // how long a door may stand still
	stallCheck = 10 * time.Second // how often that is looked at
	// raceTime is how much later than a push the sync may bring the same event.
	raceTime = 10 * time.Second
)

// doors notes what moves through the two doors of this process.
type doors struct {
	mu     sync.Mutex
	pushed time.Time // when a transaction was last taken in
	synced time.Time // when a sync was last taken in; zero while another process syncs
	// owed is since when events should have come by push and did not: a transaction failed, or only the sync brought them.
	owed  time.Time
	times int // how often that was seen
}

// push notes how a transaction ended.
func (d *doors) push(now time.Time, taken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if taken {
		d.pushed, d.owed, d.times = now, time.Time{}, 0
		return
	}
	d.owe(now, 2) // it is sent again at longer and longer intervals
}

// missed notes that the sync brought events that no push did.
func (d *doors) missed(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.pushed) > raceTime {
		d.owe(now, 1)
	}
}

func (d *doors) owe(now time.Time, times int) {
	if d.times += times; d.owed.IsZero() {
		d.owed = now
	}
}

// sync notes that this process takes the sync in; the zero time: another one does.
func (d *doors) sync(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced = now
}

// stalled tells since when each door stands still; zero for one that moves, or of which this process knows nothing. pushed is when
// a transaction was last taken in by any process. A single event without its push is none: a homeserver that restarts loses it.
func (d *doors) stalled(now, pushed time.Time) map[store.Setting]time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	since := map[store.Setting]time.Time{}
	if d.times >= 2 && now.Sub(d.owed) > stallTime && pushed.Before(d.owed) {
		since[store.SettingPushStalled] = d.owed
	}
	if !d.synced.IsZero() && now.Sub(d.synced) > stallTime {
		since[store.SettingSyncStalled] = d.synced
	}
	return since
}

// last tells when each door moved; zero if this process does not know.
func (d *doors) last() (pushed, synced time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pushed, d.synced
}

// StallWatch tells the owner when a door stands still although the homeserver answers, and when it moves again.
type StallWatch struct {
	inbox *Inbox
	hs    *Homeserver
	saved time.Time // the pushed that the other processes know of
}

// NewStallWatch makes a watch.
func NewStallWatch(inbox *Inbox, hs *Homeserver) *StallWatch {
	return &StallWatch{inbox: inbox, hs: hs}
}

// Run watches until ctx ends.
func (w *StallWatch) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		sleep(ctx, stallCheck)
		if err := w.look(ctx); err != nil && ctx.Err() == nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot look whether events come in")
		}
	}
	return nil
}

// look compares both doors with what the owner was told.
func (w *StallWatch) look(ctx context.Context) error {
	pushed, err := w.share(ctx)
	if err != nil {
		return err
	}
	now := w.inbox.now()
	stalled := w.inbox.doors.stalled(now, pushed)
	if len(stalled) > 0 && !w.answers(ctx) {
		stalled = nil // the homeserver is away: that is in the log, and nothing is wrong here
	}
	_, synced := w.inbox.doors.last()
	for _, door := range []struct {
		setting          store.Setting
		begins, ends     jobs.Topic
		moved            time.Time
		stoodStill, goes string
	}{
		{store.SettingPushStalled, jobs.TopicPushStalled, jobs.TopicPushResumed, pushed, "No transaction of the homeserver gets through", "Transactions of the homeserver get through again"},
		{store.SettingSyncStalled, jobs.TopicSyncStalled, jobs.TopicSyncResumed, synced, "The sync stands still although the homeserver answers", "The sync goes on"},
	} {
		told, err := w.tell(ctx, door.setting, stalled[door.setting], door.moved, door.begins, door.ends)
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

// share tells the other processes when a transaction was last taken in here, and returns when that was anywhere.
func (w *StallWatch) share(ctx context.Context) (time.Time, error) {
	pushed, _ := w.inbox.doors.last()
	var anywhere time.Time
	if _, err := store.GetSetting(ctx, w.inbox.store.DB(), store.SettingPushedAt, &anywhere); err != nil {
		return time.Time{}, err
	}
	if !pushed.After(anywhere) {
		return anywhere, nil
	}
	if pushed.Sub(w.saved) < stallCheck {
		return pushed, nil
	}
	w.saved = pushed
	return pushed, store.PutSetting(ctx, w.inbox.store.Writer(), store.SettingPushedAt, pushed)
}

// answers tells whether the homeserver does.
func (w *StallWatch) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	_, err := w.hs.bot.now().Versions(ctx)
	return err == nil
}

// tell has the owner told once that a door stands still since a time (zero: it does not), and once that it moved after that. It returns what
// is told; empty: nothing.
func (w *StallWatch) tell(ctx context.Context, door store.Setting, since, moved time.Time, begins, ends jobs.Topic) (told jobs.Topic, err error) {
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

// comparePush notes when the sync brings events of chats that no push has brought.
func (in *Inbox) comparePush(ctx context.Context, events []*event.Event) error {
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
		in.doors.missed(in.now())
	}
	return err
}
