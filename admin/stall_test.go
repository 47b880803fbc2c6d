package admin_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/store"
)

func TestStall_IsInNoticeAndStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for door, topics := range map[store.Setting][2]jobs.NoticeTopic{
		store.SettingPushStalled: {jobs.TopicPushStalled, jobs.TopicPushResumed},
		store.SettingSyncStalled: {jobs.TopicSyncStalled, jobs.TopicSyncResumed},
	} {
		require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: topics[0]}))
		require.Empty(t, r.sendQueued(), "over before it was told")
		r.tx(func(tx store.Tx) error {
			return store.PutSetting(r.ctx, tx, door, store.Stall{Since: time.Date(2026, 11, 20, 13, 2, 0, 0, time.UTC)})
		})
		require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: topics[0]}))
		stalled := bodies(r.sendQueued())
		require.Contains(t, stalled, "⚠️")
		require.Contains(t, stalled, "The log says why")
		require.Contains(t, r.asOwner("/status"), stalled)
		r.tx(func(tx store.Tx) error { return store.DropSetting(r.ctx, tx, door) })
		require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: topics[1]}))
		require.Contains(t, bodies(r.sendQueued()), "✅")
		require.NotContains(t, r.asOwner("/status"), stalled)
	}
}

func TestStatus_UnusedConfiguration(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicConfigRefused}))
	require.Empty(t, r.sendQueued(), "corrected before it was told")
	r.tx(func(tx store.Tx) error {
		return store.PutSetting(r.ctx, tx, store.SettingConfigRefused,
			store.RefusedConfig{Since: time.Now(), Why: "config.yaml:3: nonsense: unknown key\nconfig.yaml:9: name: is empty"})
	})
	require.NoError(t, r.admin.Notices.Notify(r.ctx, jobs.NoticeArgs{Topic: jobs.TopicConfigRefused}))
	said := bodies(r.sendQueued())
	require.Contains(t, said, "⚠️ **I cannot use the changed configuration**")
	require.Contains(t, said, "\n• config.yaml:3: nonsense: unknown key\n• config.yaml:9: name: is empty\n")
	require.Contains(t, said, "Until then `/status` says what is still wrong")
}
