package appservice

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"multis/internal/sleep"
	"multis/jobs"
	"multis/store"
)

// If the keys cannot be opened, the sync runs without them for minKeylessDelay before it tries again; each time twice as long, up to
// maxKeylessDelay. The first delay is short, because the homeserver or the database may only have been busy for a moment.
const (
	minKeylessDelay = lockRetryDelay
	maxKeylessDelay = time.Minute
)

// syncWithoutKeys syncs while the keys cannot be opened, so that at least unencrypted messages are stored. It polls without a device and
// with a sync position of its own. Keys that arrive meanwhile stay at the homeserver until the device syncs again.
func (s *OwnerSync) syncWithoutKeys(ctx context.Context, lock *store.Lock, cause error) {
	log := zerolog.Ctx(ctx)
	if isLostDevice(cause) {
		if err := s.hs.ensureDevices(ctx); err != nil {
			log.Warn().Err(err).Msg("Cannot make another device")
			_ = sleep.For(ctx, lockRetryDelay)
		}
		return
	}
	if err := s.notifyKeysUnreadable(ctx); err != nil {
		log.Warn().Err(err).Msg("Cannot note that the keys do not open")
	}
	s.keylessDelay = nextKeylessDelay(s.keylessDelay)
	ctx, cancel := context.WithTimeout(ctx, s.keylessDelay)
	defer cancel()
	s.pollLoop(ctx, lock, "owner, without keys", s.pollWithoutKeys)
}

func nextKeylessDelay(last time.Duration) time.Duration {
	return min(max(2*last, minKeylessDelay), maxKeylessDelay)
}

// pollWithoutKeys makes one poll without a device and stores its events.
func (s *OwnerSync) pollWithoutKeys(ctx context.Context) error {
	db := s.inbox.store.Writer()
	var since string
	known, err := store.GetSetting(ctx, db, store.SettingKeylessSyncToken, &since)
	if err == nil && !known {
		known, err = store.GetSetting(ctx, db, store.SettingSyncToken, &since)
	}
	if err != nil {
		return err
	}
	as, err := s.hs.newSession(s.hs.access.Owner, device{})
	if err != nil {
		return err
	}
	resp, err := s.requestSync(ctx, as, since)
	if err != nil {
		return explain("sync without keys", err)
	}
	if !known {
		if err := store.PutSetting(ctx, db, store.SettingKeylessSyncToken, resp.NextBatch); err != nil {
			return err
		}
		return s.describer.DescribeNewRooms(ctx)
	}
	if err := s.storeResponse(ctx, resp, since); err != nil {
		return err
	}
	return s.recordSync(store.PutSetting(ctx, db, store.SettingKeylessSyncToken, resp.NextBatch))
}

// notifyKeysUnreadable enqueues one notice to the owner that the keys cannot be decrypted.
func (s *OwnerSync) notifyKeysUnreadable(ctx context.Context) error {
	return s.inbox.store.InTx(ctx, func(tx store.Tx) error {
		first, err := store.ClaimNotification(ctx, tx, store.SettingKeysUnreadable)
		if err != nil {
			return err
		}
		if !first {
			return nil
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicKeysUnavailable})
	})
}

// notifyKeysReadable drops the position of the sync without keys, and enqueues a notice if notifyKeysUnreadable enqueued
// one. The device's sync then continues from its own position, which repeats the events since then together with their
// keys.
func (s *OwnerSync) notifyKeysReadable(ctx context.Context) error {
	return s.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.DropSetting(ctx, tx, store.SettingKeylessSyncToken); err != nil {
			return err
		}
		var unreadable bool
		known, err := store.GetSetting(ctx, tx, store.SettingKeysUnreadable, &unreadable)
		if err != nil {
			return err
		}
		if !known {
			return nil
		}
		if err := store.DropSetting(ctx, tx, store.SettingKeysUnreadable); err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, jobs.NoticeArgs{Topic: jobs.TopicKeysAvailable})
	})
}
