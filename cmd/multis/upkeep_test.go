package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/clock"
	"multis/config"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/store"
	"multis/store/storetest"
)

// Who rewrites the whole log with matching hashes contradicts what was posted before.
func TestUpkeep_PostsAuditLink(t *testing.T) {
	t.Parallel()
	st, room := storetest.New(t), id.RoomID("!admin:x")
	log, err := audit.New("token")
	require.NoError(t, err)
	var head store.AuditPoint
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		_, err := store.UpsertChat(t.Context(), tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  room.String(),
			RoomID:     &room,
			Kind:       policy.KindAdmin,
			Name:       "multis",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return log.Append(t.Context(), tx, audit.Entry{Kind: audit.Command, Actor: audit.Owner, Outcome: "answered"})
	}))
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
		head, err = store.AuditHead(t.Context(), tx)
		return err
	}))
	a := &assistant{cfg: &config.Config{}, store: st, audit: log, box: outbox.New(st, outbox.Settings{Owner: "@you:x", Name: "Nora"}, nil)}
	a.cfg.Audit.RetentionDays = 365
	all := upkeepTasks(a)
	daily := all[slices.IndexFunc(all, func(u clock.Upkeep) bool { return u.Name == "audit" })]
	require.Equal(t, "0 8 * * *", daily.Cron)
	_, err = daily.Run(t.Context())
	require.NoError(t, err)
	var said string
	require.NoError(t, st.DB().QueryRow(t.Context(), "select content->>'body' from outbox where purpose = 'notice'").Scan(&said))
	require.Contains(t, said, fmt.Sprintf("link %d is `%x`", head.Seq, audit.ShortHash(head)))
	require.Contains(t, said, fmt.Sprintf("`/audit verify %d %x`", head.Seq, audit.ShortHash(head)))
}

// TestUpkeep_PrunesAuditWithoutAdminRoom: the log is not kept longer because nobody can be told of its last link.
func TestUpkeep_PrunesAuditWithoutAdminRoom(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	log, err := audit.New("token")
	require.NoError(t, err)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		for range 3 {
			if err := log.Append(t.Context(), tx, audit.Entry{Kind: audit.Command, Actor: audit.Owner, Outcome: "answered"}); err != nil {
				return err
			}
		}
		return nil
	}))
	a := &assistant{cfg: &config.Config{}, store: st, audit: log, box: outbox.New(st, outbox.Settings{Owner: "@you:x", Name: "Nora"}, nil)}
	a.cfg.Audit.RetentionDays = -1 // all is old
	_, err = a.keepAudit(t.Context())
	require.ErrorIs(t, err, outbox.ErrNoAdminRoom)
	require.Less(t, storetest.Count(t, st, "select count(*) from audit_entries"), 3)
}
