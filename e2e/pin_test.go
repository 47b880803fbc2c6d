//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/e2e/rig"
)

func TestPIN_RunsCommandAndIsDeleted(t *testing.T) {
	data, err := rig.ExecFolder()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(data)) })
	a := start(t, setup{ExecIn: data})
	const digits = "804639"
	var entered []id.EventID
	enter := func(want string) {
		before := len(a.notices())
		entered = append(entered, a.write(digits))
		a.await(want, func(context.Context) (bool, error) {
			return slices.ContainsFunc(a.notices()[before:], func(said string) bool { return strings.Contains(said, want) }), nil
		})
	}
	require.Contains(t, a.command("/exec touch made.md"), "none is set")
	require.Contains(t, a.command("/pin set"), "The new PIN")
	enter("Once more")
	enter("The PIN is set")
	require.Contains(t, a.command("/exec touch made.md"), "for: touch made.md")
	made := filepath.Join(data, "agents", "multis", "made.md")
	require.NoFileExists(t, made)
	enter("✅ touch made.md · done")
	require.FileExists(t, made)
	require.Contains(t, a.command("/exec cat /proc/self/environ"), "Not run")
	for _, event := range entered {
		a.await("the message with the PIN to be deleted", func(ctx context.Context) (bool, error) {
			evt, err := a.Owner.GetEvent(ctx, a.adminRoom(), event)
			if err != nil {
				return false, err
			}
			return evt.Unsigned.RedactedBecause != nil && len(evt.Content.Raw) == 0, nil
		})
		var rows int
		require.NoError(t, a.db.DB().QueryRow(t.Context(), "select count(*) from messages where event_id = $1 or body like '%' || $2 || '%'",
			event, digits).Scan(&rows))
		require.Zero(t, rows)
	}
	log, err := os.ReadFile(a.process.Log)
	require.NoError(t, err)
	require.NotContains(t, string(log), digits)
}
