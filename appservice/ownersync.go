package appservice

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/sleep"
	"multis/policy"
	"multis/store"
)

// OwnerSync receives events by long-polling /sync as the owner's device. Synapse forgets queued pushes when it restarts, so only the sync
// brings all events; the push is only faster. The sync also brings the encryption keys.
type OwnerSync struct {
	inbox     *Inbox
	hs        *Homeserver
	describer *Describer
	vault     *Vault
	// undecrypted are bridge notices whose keys are missing. They are kept in memory only, and only pollOwner uses them.
	undecrypted []*event.Event
	// failed is whether the last request of requestSync failed.
	failed bool
	// keylessDelay is for how long the sync last ran without keys; zero while the keys are open.
	keylessDelay time.Duration
}

// NewOwnerSync returns a sync that stores events through inbox and keys in v.
func NewOwnerSync(inbox *Inbox, hs *Homeserver, d *Describer, v *Vault) *OwnerSync {
	return &OwnerSync{inbox: inbox, hs: hs, describer: d, vault: v}
}

const (
	pollTimeout    = 30 * time.Second
	lockRetryDelay = 2 * time.Second // between attempts to take the sync lock
	maxRetryDelay  = 30 * time.Second
)

// syncFilter requests only timelines. It includes rooms that were left, so that multis sees when the owner leaves.
const syncFilter = `{"presence":{"not_types":["*"]},"account_data":{"not_types":["*"]},"room":{"include_leave":true,` +
	`"account_data":{"not_types":["*"]},"ephemeral":{"not_types":["*"]},"state":{"not_types":["*"]},"timeline":{"limit":50}}}`

// Run syncs until ctx ends. Only one process syncs at a time; if it dies, another takes over. ready is called once, when the keys of the
// syncing process are published: from then on new messages can be decrypted.
func (s *OwnerSync) Run(ctx context.Context, ready func()) error {
	log := zerolog.Ctx(ctx)
	ready = sync.OnceFunc(ready)
	for ctx.Err() == nil {
		lock, ok, err := s.inbox.store.TryLock(ctx, store.LockSync, 0)
		if err != nil {
			log.Warn().Err(err).Msg("Cannot take the lock of the owner's sync")
		}
		if !ok {
			if err == nil { // another process syncs, and replaces deleted devices
				s.reloadDevices(ctx)
				ready()
			}
			_ = sleep.For(ctx, lockRetryDelay)
			continue
		}
		s.inbox.sources.recordSync(s.inbox.now())
		for ctx.Err() == nil && isAlive(ctx, lock) {
			s.syncWithKeys(ctx, lock, ready)
		}
		s.inbox.sources.recordSync(time.Time{})
		lock.Release(ctx)
	}
	return nil
}

// syncWithKeys opens the keys and polls for both accounts until the lock is lost, a device is replaced or ctx ends. The caller holds the
// sync lock.
func (s *OwnerSync) syncWithKeys(ctx context.Context, lock *store.Lock, ready func()) {
	log := zerolog.Ctx(ctx)
	if err := s.vault.open(ctx, true); err != nil {
		log.Err(err).Msg("Cannot open the keys; encrypted rooms are neither read nor written")
		ready()
		s.syncWithoutKeys(ctx, lock, err)
		return
	}
	defer s.vault.close()
	s.keylessDelay = 0
	if err := s.notifyKeysReadable(ctx); err != nil {
		log.Warn().Err(err).Msg("Cannot note that the keys are open")
	}
	if err := s.vault.retryDecryptable(ctx); err != nil {
		log.Warn().Err(err).Msg("Cannot look for messages whose key is here")
	}
	if !s.awaitFirstSync(ctx, lock) {
		return
	}
	ready()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { defer cancel(); watchLock(ctx, lock) })
	group.Go(func() { defer cancel(); s.pollLoop(ctx, lock, "owner", s.pollOwner) })
	group.Go(func() { defer cancel(); s.crossSignBot(ctx); s.pollLoop(ctx, lock, "bot", s.pollBot) })
	group.Wait()
}

// lockCheckInterval is how often the sync lock is checked. It is shorter than lockRetryDelay, so that a process that lost the lock stops
// before another process takes it.
const lockCheckInterval = lockRetryDelay / 4

// watchLock returns when the lock is lost or ctx ends. A long poll must stop then, because another process may use the keys as soon as the
// database releases the lock.
func watchLock(ctx context.Context, lock *store.Lock) {
	for ctx.Err() == nil && isAlive(ctx, lock) {
		_ = sleep.For(ctx, lockCheckInterval)
	}
}

// isAlive reports whether the lock is still held. It ignores the end of ctx, because a cancelled query would close the lock's connection.
func isAlive(ctx context.Context, lock *store.Lock) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	return lock.Alive(ctx)
}

// awaitFirstSync makes sure that a sync position is stored, so that no event is missed once multis is ready. It returns false if the sync
// must stop.
func (s *OwnerSync) awaitFirstSync(ctx context.Context, lock *store.Lock) bool {
	for ctx.Err() == nil && isAlive(ctx, lock) {
		var since string
		known, err := store.GetSetting(ctx, s.inbox.store.DB(), store.SettingSyncToken, &since)
		if err == nil && known {
			return true
		}
		if err == nil {
			err = s.pollOwner(ctx)
		}
		if errors.Is(err, errDeviceReplaced) {
			return false
		}
		if err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("The first sync failed; trying again")
			_ = sleep.For(ctx, time.Second)
		}
	}
	return false
}

// pollLoop calls step again and again while the lock is held. It ends when a device was replaced, because the keys must
// be opened again for the new one.
func (s *OwnerSync) pollLoop(ctx context.Context, lock *store.Lock, who string, step func(context.Context) error) {
	log := zerolog.Ctx(ctx)
	wait := time.Second
	for ctx.Err() == nil && isAlive(ctx, lock) {
		err := step(ctx)
		if err == nil {
			wait = time.Second
			continue
		}
		if ctx.Err() != nil || errors.Is(err, errDeviceReplaced) {
			return
		}
		log.Warn().Err(err).Str("account", who).Msg("The sync failed; trying again")
		_ = sleep.For(ctx, wait)
		wait = min(2*wait, maxRetryDelay)
	}
}

// errDeviceReplaced is returned after a deleted device was replaced. The new device has its own keys.
var errDeviceReplaced = errors.New("the device was replaced")

// replaceDevice creates a new device for an account whose device was deleted. It returns errDeviceReplaced on success.
func (s *OwnerSync) replaceDevice(ctx context.Context, a *account) error {
	if err := s.hs.replaceDevice(ctx, a); err != nil {
		return err
	}
	return errDeviceReplaced
}

// reloadDevices makes this process use the devices that the syncing process uses. Requests with a deleted device fail.
func (s *OwnerSync) reloadDevices(ctx context.Context) {
	for _, a := range []*account{s.hs.owner, s.hs.bot} {
		if err := s.hs.reloadDevice(ctx, a); err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot look which device is in use")
		}
	}
}

// botFilter requests only keys. The events of the bot's rooms come with the owner's sync.
const botFilter = `{"presence":{"not_types":["*"]},"account_data":{"not_types":["*"]},"room":{"rooms":[]}}`

// crossSignBot cross-signs the bot's device, so that clients show no warning. An error is only logged.
func (s *OwnerSync) crossSignBot(ctx context.Context) {
	if err := s.vault.crossSignBot(ctx); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("The bot cannot sign its own device; clients show it as unverified")
	}
}

// pollBot makes one poll as the bot's device, which brings the keys of the admin room.
func (s *OwnerSync) pollBot(ctx context.Context) error {
	var since string
	if _, err := store.GetSetting(ctx, s.inbox.store.DB(), store.SettingBotSyncToken, &since); err != nil {
		return err
	}
	resp, err := s.hs.bot.session().sync(ctx, mautrix.ReqSync{
		Timeout:     int(pollTimeout.Milliseconds()),
		Since:       since,
		FilterID:    botFilter,
		SetPresence: event.PresenceOffline,
	})
	if err != nil {
		if isLostDevice(err) {
			return s.replaceDevice(ctx, s.hs.bot)
		}
		return explain("sync as the bot", err)
	}
	if err := s.vault.processSync(ctx, policy.AsBot, resp.keys(), since); err != nil {
		return err
	}
	return store.PutSetting(ctx, s.inbox.store.Writer(), store.SettingBotSyncToken, resp.NextBatch)
}

// pollOwner makes one poll as the owner's device and stores its keys and events.
func (s *OwnerSync) pollOwner(ctx context.Context) error {
	var since string
	known, err := store.GetSetting(ctx, s.inbox.store.DB(), store.SettingSyncToken, &since)
	if err != nil {
		return err
	}
	resp, err := s.requestSync(ctx, s.hs.owner.session(), since)
	if err != nil {
		if isLostDevice(err) {
			return s.replaceDevice(ctx, s.hs.owner)
		}
		return explain("sync", err)
	}
	// Keys first, because the messages of the same response may need them.
	if err := s.vault.processSync(ctx, policy.AsOwner, resp.keys(), since); err != nil {
		return err
	}
	if !known {
		// No event is missed: the rooms are listed after this position was stored.
		if err := s.inbox.Receive(ctx, nil, resp.NextBatch); err != nil {
			return err
		}
		return s.describer.DescribeNewRooms(ctx)
	}
	if err := s.storeBridgeNotices(ctx, resp); err != nil {
		return err
	}
	if err := s.storeResponse(ctx, resp, since); err != nil {
		return err
	}
	return s.recordSync(s.inbox.Receive(ctx, nil, resp.NextBatch))
}

// recordSync records, for StallWatch, that a poll was stored, unless err is not nil. It returns err.
func (s *OwnerSync) recordSync(err error) error {
	if err == nil {
		s.inbox.sources.recordSync(s.inbox.now())
	}
	return err
}

// requestSync makes one /sync request. It waits for events after since. If since is empty, it returns the current state
// at once. After a failed poll it does not wait either, so that the sync counts as stalled no longer than it is.
func (s *OwnerSync) requestSync(ctx context.Context, as *session, since string) (*syncResponse, error) {
	timeout := int(pollTimeout.Milliseconds())
	if since == "" || s.failed {
		timeout = 0
	}
	resp, err := as.sync(ctx, mautrix.ReqSync{Timeout: timeout, Since: since, FilterID: syncFilter, SetPresence: event.PresenceOffline})
	s.failed = err != nil
	return resp, err
}

// storeResponse stores the events of a poll.
func (s *OwnerSync) storeResponse(ctx context.Context, resp *syncResponse, since string) error {
	events, err := s.collect(ctx, resp, since)
	if err != nil {
		return err
	}
	s.inbox.sources.synced.Add(int64(len(events)))
	if err := s.inbox.detectMissedPush(ctx, events); err != nil {
		return err
	}
	for _, evt := range events {
		s.vault.updateMembers(ctx, evt.Event)
	}
	for part := range slices.Chunk(events, 100) {
		if err := s.inbox.receiveParsed(ctx, part, ""); err != nil {
			return err
		}
	}
	return nil
}

// collect returns the events of a poll, each room's oldest first. It includes the events that the homeserver left out of limited timelines.
func (s *OwnerSync) collect(ctx context.Context, resp *syncResponse, since string) ([]bridgebridge.Event, error) {
	var events []bridgebridge.Event
	add := func(room id.RoomID, timeline timeline) error {
		if timeline.Limited {
			s.vault.invalidateMembers(room) // the missed events include member changes, and fetching them may fail
		}
		for _, evt := range timeline.Events {
			evt.RoomID = room // in a sync, events have no room id of their own
		}
		newest := parseEvents(ctx, timeline.Events)
		if s.inbox.ignored.has(room) && !slices.ContainsFunc(newest, func(e bridgebridge.Event) bool {
			return e.Connection != nil || changesRoom(e.Event, s.inbox.settings)
		}) {
			return nil
		}
		if timeline.Limited && timeline.PrevBatch != "" {
			gap, err := s.missedEvents(ctx, room, timeline.PrevBatch, since)
			if err != nil {
				return err
			}
			events = append(events, parseEvents(ctx, gap)...)
		}
		events = append(events, newest...)
		return nil
	}
	for room, joined := range resp.Rooms.Join {
		if err := add(room, joined.Timeline); err != nil {
			return nil, err
		}
	}
	for room, left := range resp.Rooms.Leave {
		if err := add(room, left.Timeline); err != nil {
			return nil, err
		}
	}
	return events, nil
}
