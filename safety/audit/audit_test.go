package audit_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/safety/audit"
	"multis/store"
	"multis/store/storetest"
)

func newLog(t testing.TB) audit.Log {
	t.Helper()
	log, err := audit.New("a token of the homeserver")
	require.NoError(t, err)
	return log
}

// addEntries writes entries, each in a transaction of its own.
func addEntries(t testing.TB, st *store.Store, log audit.Log, entries int) {
	t.Helper()
	for i := range entries {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
			return log.Append(t.Context(), tx, audit.Entry{
				Kind:    audit.Send,
				Actor:   audit.Agent,
				Person:  "@ana:example.org",
				AgentID: "nora",
				Chat:    7,
				Message: store.MessageID(i + 1),
				Task:    3,
				Ref:     fmt.Sprint("out-", i),
				Action:  "reply",
				Outcome: "sent",
				Rule:    "mode-business",
				Content: []byte("We deliver on Monday."),
			})
		}))
	}
}

func TestVerify_UntouchedLogHolds(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	report, err := log.Verify(t.Context(), st)
	require.NoError(t, err, "an empty one too")
	require.Zero(t, report.Entries)
	require.Equal(t, "The audit log is as it was written: 0 entries.", audit.VerifiedText(report, store.AuditPoint{}, time.UTC))

	addEntries(t, st, log, 20)
	report, err = log.Verify(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, 20, report.Entries)
	require.EqualValues(t, 20, report.Head.Seq)
}

func TestLog_HoldsNoTextOrID(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	addEntries(t, st, log, 1)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		return log.Append(t.Context(), tx, audit.Entry{
			Kind:    audit.Tool,
			Actor:   audit.Agent,
			Action:  "tell Ana her code is 1234",
			Outcome: "refused",
		})
	}))
	links, err := store.ListAudit(t.Context(), st.DB(), store.AuditFilter{})
	require.NoError(t, err)
	require.Len(t, links, 2)
	require.Equal(t, "?", links[0].Action, "a name is all that fits in")
	require.Empty(t, storetest.ColumnsContaining(t, st, "Ana"))
	for _, l := range links {
		require.NotContains(t, fmt.Sprintf("%+v", l), "example.org")
		require.NotContains(t, fmt.Sprintf("%+v", l), "Monday")
	}
	require.Equal(t, log.Hash([]byte("@ana:example.org")), links[1].Person)
	other, err := audit.New("another token")
	require.NoError(t, err)
	require.NotEqual(t, other.Hash([]byte("@ana:example.org")), links[1].Person, "who has the table alone cannot try out names")
}

func TestLog_CountsLabelsOnly(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	room := id.RoomID("!ana:example.org")
	change := func(labels func(tx store.Tx, chat store.ChatID) error) {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
			chat, err := store.UpsertChat(t.Context(), tx, store.Chat{
				RoomID:     &room,
				Kind:       policy.KindDM,
				Name:       "Ana",
				Encryption: policy.EncryptionNo,
			})
			if err != nil {
				return err
			}
			return labels(tx, chat.ID)
		}))
	}
	change(func(tx store.Tx, chat store.ChatID) error {
		return store.AddLabels(t.Context(), tx, chat, "owes-money", "maria-schmidt")
	})
	change(func(tx store.Tx, chat store.ChatID) error {
		return store.RemoveLabel(t.Context(), tx, chat, "owes-money", true)
	})
	change(func(tx store.Tx, chat store.ChatID) error {
		return store.RemoveLabel(t.Context(), tx, chat, "of-a-rule", true)
	})
	change(func(tx store.Tx, chat store.ChatID) error {
		return store.RemoveLabel(t.Context(), tx, chat, "of-a-rule", true)
	})
	links, err := store.ListAudit(t.Context(), st.DB(), store.AuditFilter{})
	require.NoError(t, err)
	var entries []string
	for _, l := range links {
		entries = append(entries, l.Action+" "+l.Outcome)
	}
	require.ElementsMatch(t, []string{"labels 2", "labels 1", "unlabelled 1", "unlabelled 2"}, entries, "the last change changes nothing")
	for _, name := range []string{"owes-money", "maria-schmidt", "of-a-rule"} {
		t.Run(name, func(t *testing.T) {
			for _, place := range storetest.ColumnsContaining(t, st, name) {
				require.NotContains(t, place, "audit")
			}
		})
	}
}

func TestEntry_NeedsKindActorOutcome(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	for _, e := range []audit.Entry{
		{},
		{Kind: audit.Send, Actor: audit.Owner},
		{Kind: audit.Send, Outcome: "sent"},
		{Actor: audit.Owner, Outcome: "sent"},
	} {
		require.Error(t, st.InTx(t.Context(), func(tx store.Tx) error { return log.Append(t.Context(), tx, e) }))
	}
	_, err := audit.New("")
	require.Error(t, err)
}

func TestAppend_FailedTransactionLeavesNothing(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	addEntries(t, st, log, 1)
	require.Error(t, st.InTx(t.Context(), func(tx store.Tx) error {
		if err := log.Append(t.Context(), tx, audit.Entry{Kind: audit.Mode, Actor: audit.Owner, Outcome: "business"}); err != nil {
			return err
		}
		return context.Canceled
	}))
	addEntries(t, st, log, 1)
	report, err := log.Verify(t.Context(), st)
	require.NoError(t, err, "the chain has no gap where the id has one")
	require.Equal(t, 2, report.Entries)
}

func TestAppend_ParallelTransactionsMakeOneChain(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { addEntries(t, st, log, 25) })
	}
	all.Wait()
	report, err := log.Verify(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, 200, report.Entries)
}

// The program's own role is not allowed to change the log; the tests change it as somebody who took the right.
func TestVerify_FindsEveryChange(t *testing.T) {
	t.Parallel()
	for change, c := range map[string]struct{ sql, found string }{
		"a trigger switched off": {"alter table outbox disable trigger audit_outbox_insert", "audit_outbox_insert"},
		"a range behind a checkpoint": {
			"delete from audit_chain where seq in (4, 5); delete from audit_entries where id in (4, 5); insert into audit_checkpoints (seq, hash, signature) select seq, hash, hash from audit_chain where seq = 6", "checkpoint at entry 6",
		},
		"a changed outcome":        {"update audit_entries set outcome = 'refused' where id = 5", "entry 5"},
		"a changed hash":           {"update audit_chain set hash = set_byte(hash, 3, get_byte(hash, 3) # 1) where seq = 5", "entry 5"},
		"a changed keyed hash":     {"update audit_entries set content = set_byte(content, 0, get_byte(content, 0) # 1) where id = 5", "entry 5"},
		"a moved time":             {"update audit_entries set at = at - interval '1 microsecond' where id = 5", "entry 5"},
		"an infinite time":         {"update audit_entries set at = 'infinity' where id = 5", "entry 5"},
		"a time before all others": {"update audit_entries set at = '-infinity' where id = 5", "entry 5"},
		"a time that no JSON has":  {"update audit_entries set at = '20000-01-01' where id = 5", "entry 5"},
		"a checkpoint of no time":  {"insert into audit_checkpoints (seq, hash, at, signature) select seq, hash, 'infinity', hash from audit_chain where seq = 3", "checkpoint at entry 3"},
		"a missing last row":       {"delete from audit_chain where seq = 9; delete from audit_entries where id = 9", "ends at entry 8"},
		"a missing first row":      {"delete from audit_chain where seq = 1; delete from audit_entries where id = 1", "after entry 0 comes 2"},
		"a missing row":            {"delete from audit_chain where seq = 4; delete from audit_entries where id = 4", "after entry 3 comes 5"},
		"an entry without its row": {"delete from audit_entries where id = 4", "entry 4 is gone"},
		"a row beside the chain":   {"alter table audit_entries disable trigger audit_link; insert into audit_entries (kind, actor, outcome) values ('send', 'owner', 'sent'); alter table audit_entries enable trigger audit_link", "not in the chain"},
		"a reordered pair": {
			`update audit_chain set seq = -seq, entry_id = -entry_id where seq in (4, 5); update audit_chain set seq = 9 + seq, entry_id = 9 + entry_id where seq < 0`,
			"entry 4",
		},
		"a head that was moved back": {
			"update audit_head h set seq = c.seq, hash = c.hash from audit_chain c where c.seq = 5",
			"should end at 5",
		},
		"a link without an entry": {`insert into audit_chain (seq, entry_id, hash) values (10, 99, '\x00'); update audit_head set seq = 10, hash = '\x00'`, "entry 10 is gone"},
		"swapped texts":           {"update audit_entries a set action = b.ref, ref = b.action from audit_entries b where a.id = b.id and a.id = 6", "entry 6"},
		"a moved border":          {"update audit_entries set action = 'rep', outcome = 'lysent' where id = 6", "entry 6"},
		"a missing end":           {"truncate audit_entries, audit_chain; delete from audit_head", "its end is gone"},
		"a forged checkpoint":     {"insert into audit_checkpoints (seq, hash, signature) select seq, hash, hash from audit_chain where seq = 3; delete from audit_chain where seq <= 3; delete from audit_entries where id <= 3", "checkpoint at entry 3"},
	} {
		t.Run(change, func(t *testing.T) {
			t.Parallel()
			st, log := storetest.New(t), newLog(t)
			addEntries(t, st, log, 9)
			sql := "alter table audit_chain drop constraint audit_chain_seq_check; grant all on audit_entries, audit_chain, audit_checkpoints to current_user; " + c.sql
			_, err := st.Pool().Exec(t.Context(), sql)
			require.NoError(t, err)
			_, err = log.Verify(t.Context(), st)
			require.ErrorIs(t, err, audit.ErrBroken)
			require.ErrorContains(t, err, c.found)

			links, err := store.ListAudit(t.Context(), st.DB(), store.AuditFilter{})
			require.NoError(t, err, "what is left is shown")
			for _, l := range links {
				require.NoError(t, audit.WriteJSON(io.Discard, l), "and exported")
			}
		})
	}
}

func TestVerify_PostedLinkFindsRewrittenLog(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	head := func() (p store.AuditPoint) {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
			p, err = store.AuditHead(t.Context(), tx)
			return err
		}))
		return p
	}
	addEntries(t, st, log, 4)
	fourth := head()
	addEntries(t, st, log, 5)
	ninth := head()
	verify := func(p store.AuditPoint) error {
		saved, err := audit.ParsePoint(strconv.FormatInt(p.Seq, 10), fmt.Sprintf("%x", audit.ShortHash(p)))
		require.NoError(t, err)
		_, err = log.VerifyAgainst(t.Context(), st, saved)
		return err
	}
	require.NoError(t, verify(fourth))
	require.NoError(t, verify(ninth))

	_, err := st.Pool().Exec(t.Context(),
		`grant all on audit_entries, audit_chain, audit_checkpoints to current_user; delete from audit_chain where seq > 7;
		delete from audit_entries where id > 7; update audit_head h set seq = c.seq, hash = c.hash from audit_chain c where c.seq = 7`)
	require.NoError(t, err)
	_, err = log.Verify(t.Context(), st)
	require.NoError(t, err, "alone, what is left fits together")
	require.NoError(t, verify(fourth))
	require.ErrorIs(t, verify(ninth), audit.ErrBroken)
	require.ErrorContains(t, verify(ninth), "ends at entry 7, and there was a link 9")

	_, err = st.Pool().Exec(t.Context(), `truncate audit_entries, audit_chain restart identity; update audit_head set seq = 0, hash = '\x'`)
	require.NoError(t, err)
	addEntries(t, st, log, 9)
	require.ErrorIs(t, verify(fourth), audit.ErrBroken)
	require.ErrorContains(t, verify(fourth), "link 4 is")
	require.ErrorContains(t, verify(fourth), "unless the letters were mistyped")

	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		_, err := log.Prune(t.Context(), tx, time.Now().Add(time.Hour))
		return err
	}))
	require.ErrorIs(t, verify(fourth), audit.ErrPruned)
	require.NoError(t, verify(head()), "the checkpoint has the hash of the last link that was pruned")
	require.ErrorIs(t, verify(ninth), audit.ErrBroken)
}

func TestLink_ReadAsPosted(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"", ""},
		{"0", "53a6cc19b5ea8138"},
		{"-1", "53a6cc19b5ea8138"},
		{"812", ""},
		{"812", "53a6"},
		{"812", "53a6cc19b5ea813g"},
		{"812", strings.Repeat("00", 33)},
	} {
		_, err := audit.ParsePoint(c[0], c[1])
		require.ErrorContains(t, err, "write its number and its 16 letters and digits", c)
	}
}

func TestRole_CannotChangeLog(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	addEntries(t, st, log, 2)
	for _, sql := range []string{
		"update audit_entries set outcome = 'x'", "delete from audit_entries", "truncate audit_entries", "update audit_chain set hash = ''",
		"delete from audit_chain",
		"truncate audit_chain", "update audit_checkpoints set hash = ''", "delete from audit_checkpoints",
	} {
		t.Run(sql, func(t *testing.T) {
			_, err := st.Pool().Exec(t.Context(), sql)
			require.ErrorContains(t, err, "permission denied", sql)
		})
	}
}

func TestPrune_LeavesSignedCheckpoint(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	addEntries(t, st, log, 6)
	var border time.Time
	require.NoError(t, st.Pool().QueryRow(t.Context(), "select at from audit_entries where id = 5").Scan(&border))
	prune := func(before time.Time) (deleted int) {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
			deleted, err = log.Prune(t.Context(), tx, before)
			return err
		}))
		return deleted
	}
	require.Equal(t, 4, prune(border))
	require.Zero(t, prune(border), "nothing more is that old")
	report, err := log.Verify(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, 2, report.Entries)
	require.EqualValues(t, 4, report.Pruned)

	addEntries(t, st, log, 1)
	require.Equal(t, 3, prune(time.Now().Add(time.Hour)), "also when all of it is old")
	addEntries(t, st, log, 1)
	report, err = log.Verify(t.Context(), st)
	require.NoError(t, err)
	require.Equal(t, 1, report.Entries)

	_, err = st.Pool().Exec(t.Context(), "delete from audit_entries")
	require.ErrorContains(t, err, "permission denied", "the right to delete ends with the pruning")
	stranger, err := audit.New("another token")
	require.NoError(t, err)
	_, err = stranger.Verify(t.Context(), st)
	require.ErrorContains(t, err, "as_token")
}

func TestList_NewestFirst(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	for i := range 4 {
		require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
			return log.Append(t.Context(), tx, audit.Entry{
				Kind:    audit.Tool,
				Actor:   audit.Agent,
				Chat:    store.ChatID(i % 2),
				Task:    store.TaskID(i),
				Outcome: "done",
			})
		}))
	}
	seqs := func(f store.AuditFilter) (list []int64) {
		links, err := store.ListAudit(t.Context(), st.DB(), f)
		require.NoError(t, err)
		for _, l := range links {
			list = append(list, l.Seq)
		}
		return list
	}
	require.Equal(t, []int64{4, 3, 2, 1}, seqs(store.AuditFilter{}))
	require.Equal(t, []int64{4, 3}, seqs(store.AuditFilter{Limit: 2}))
	require.Equal(t, []int64{4, 2}, seqs(store.AuditFilter{Chat: 1}))
	require.Equal(t, []int64{3}, seqs(store.AuditFilter{Task: 2}))
	require.Empty(t, seqs(store.AuditFilter{From: time.Now().Add(time.Minute)}))
	require.Len(t, seqs(store.AuditFilter{To: time.Now().Add(time.Minute)}), 4)
}

func TestAppend_BoundsHugeName(t *testing.T) {
	t.Parallel()
	st, log := storetest.New(t), newLog(t)
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		return log.Append(t.Context(), tx, audit.Entry{
			Kind:    audit.Tool,
			Actor:   audit.Agent,
			Action:  strings.Repeat("a", 10_000),
			Outcome: strings.Repeat("ж\x00", 10_000),
			Rule:    "\u202e\ufeff",
			Ref:     "\xff\xfe",
		})
	}))
	links, err := store.ListAudit(t.Context(), st.DB(), store.AuditFilter{})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("a", 100), links[0].Action)
	require.Equal(t, "?", links[0].Outcome)
	require.Equal(t, "?", links[0].Rule)
	_, err = log.Verify(t.Context(), st)
	require.NoError(t, err)
}
