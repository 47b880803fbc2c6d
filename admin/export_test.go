package admin_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/admin"
	"multis/jobs"
	"multis/store"
)

// runExports runs the export that the newest message asked for, and returns the names of its files.
func (r *rig) runExports(chat store.ChatID) []string {
	r.t.Helper()
	require.NoError(r.t, r.admin.Exports.Export(r.ctx,
		jobs.ExportArgs{MessageID: store.MessageID(r.count("select max(id) from messages where chat_id = $1", r.room.ID)), ChatID: chat}, true))
	var data []byte
	require.NoError(r.t, r.st.DB().QueryRow(r.ctx, "select data from outbox_files order by outbox_id desc limit 1").Scan(&data))
	r.sendQueued()
	require.Zero(r.t, r.count("select count(*) from outbox_files"), "once it is sent, the homeserver has it")
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(r.t, err)
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	return names
}

func TestExport_SendsFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.addNote(ana, "She likes tea", r.addGroupMessage(ana, "@ana:x", "tea, please"))
	require.Equal(t, "📦 I put **Ana · WhatsApp** together.", r.asOwner("/export ana"))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'export' and (args->>'chat')::bigint = $1", ana.ID))
	require.Equal(t, []string{"ana-whatsapp-2/memory.md", "ana-whatsapp-2/profile.json", "ana-whatsapp-2/log/2026-11-20.md"},
		r.runExports(ana.ID))
	require.Equal(t, "m.file", r.lastSent().Type)
	require.Contains(t, r.lastSent().Body, "1 chat: 1 message of the last 30 days, 1 note.")

	require.Contains(t, r.asOwner("/export"), "your own notes")
	require.Contains(t, r.asOwner("/export all"), "all chats")
	require.Contains(t, r.runExports(0), "ana-whatsapp-2/memory.md")
	require.Contains(t, r.asOperator("/export all"), "Only the owner can use")
}

func TestExport_AsksForEqualNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	second := r.chat("Ana", "signal", func(c *store.Chat) { c.ChannelID = "x" })
	r.setLastMessage(second, 0)
	require.Contains(t, r.asOwner("/export ana"), "Which one?")
	require.Contains(t, r.asOwner("1"), "Ana · Signal")
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'export' and (args->>'chat')::bigint = $1", second.ID))
}

// crashingExports fails after each export was committed, like a process that is killed before its job ends.
type crashingExports struct{ *admin.ExportCommands }

func (c crashingExports) Export(ctx context.Context, args jobs.ExportArgs, last bool) error {
	return errors.Join(c.ExportCommands.Export(ctx, args, last), errors.New("the process was killed"))
}

func TestExport_SentOnceDespiteKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.asOwner("/export")
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := tx.Exec(r.ctx, "delete from river.river_job where kind <> 'export'")
		return err
	}))
	ctx, cancel := context.WithCancel(r.ctx)
	runner, err := jobs.NewRunner(ctx, r.st, jobs.Handlers{Export: crashingExports{r.admin.Exports}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	require.Eventually(t, func() bool {
		return r.count("select count(*) from river.river_job where kind = 'export' and state in ('completed', 'discarded')") == 1
	}, time.Minute, 20*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	require.Equal(t, 1, r.count("select count(*) from outbox_files"))
}
