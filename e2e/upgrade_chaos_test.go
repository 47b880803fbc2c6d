//go:build e2e && chaos

package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/deploy/devstack"
	"multis/store"
)

// The previous build and this one run side by side on one database, which this one migrates under them, while contacts ask all the time.
func TestUpgrade_UnderLoadLosesNothing(t *testing.T) {
	around := plainWorlds.claim(t)
	previous, err := around.BuildPrevious(t.Context())
	require.NoError(t, err)
	_, err = around.Program(t.Context())
	require.NoError(t, err)
	require.NoError(t, around.administer(t.Context(), "create database upgraded owner "+databaseRole))
	dsn, err := around.dsn("upgraded")
	require.NoError(t, err)
	ports, err := devstack.FreePorts(2)
	require.NoError(t, err)
	a := &app{
		scene: around,
		t:     t,
		setup: setup{Profile: "business", Database: dsn},
		back:  openClientProxy(t, around.Stack.HomeserverURL),
		port:  ports[1],
	}
	t.Cleanup(func() { around.front.setTargets() })
	oldConfig := bytes.ReplaceAll(a.config(ports[0]), []byte("backup: {every: off}\n"), nil)

	around.front.setTargets(ports[0])
	old, err := around.StartProgram(t.Context(), previous, oldConfig)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, old.Kill()) })
	a.joinOldAdminRoom(dsn)
	documents := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(documents, "prices.md"), prices, 0o600))
	printed, err := around.RunProgram(t.Context(), previous, oldConfig, "", "index", "--role", "public", documents)
	require.NoError(t, err, printed)

	load := a.startTalking("upgrade-ana", "upgrade-ben", "upgrade-cleo", "upgrade-dan", "upgrade-eva", "upgrade-finn")
	load.awaitMore(30)
	printed, err = around.RunMultis(t.Context(), a.config(ports[0]), "", "backup", "create")
	require.NoError(t, err, printed)
	began := time.Now()
	a.process, err = a.StartMultis(t.Context(), a.config(a.port))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.process.Kill()) })
	t.Logf("the new build is ready %.1f s after its start, beside the previous one", time.Since(began).Seconds())
	a.db, err = store.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(a.db.Close)
	around.front.setTargets(ports[0], a.port)
	load.awaitMore(30)
	around.front.setTargets(a.port, ports[0])
	load.awaitMore(30)

	printed, err = around.RunProgram(t.Context(), previous, oldConfig, "", "migrate")
	require.Error(t, err, "the older build refuses the newer schema")
	require.Len(t, strings.Split(strings.TrimSpace(printed), "\n"), 1, printed)
	require.Contains(t, printed, "newer")
	t.Log("the previous build says:", strings.TrimSpace(printed))

	around.front.setTargets(a.port)
	require.NoError(t, old.Term())
	load.awaitMore(30)
	load.finish()
	a.requireEachOnce(load)
}

// joinOldAdminRoom accepts the bot's invitation of a build whose schema the store does not read.
func (a *app) joinOldAdminRoom(dsn string) {
	a.t.Helper()
	conn, err := pgx.Connect(a.t.Context(), dsn)
	require.NoError(a.t, err)
	defer conn.Close(a.t.Context())
	var room id.RoomID
	a.await("the admin room", func(ctx context.Context) (bool, error) {
		err := conn.QueryRow(ctx, "select coalesce((select room_id from chats where kind = 'admin'), '')").Scan(&room)
		return room != "", err
	})
	_, err = a.Owner.JoinRoomByID(a.t.Context(), room)
	require.NoError(a.t, err)
}
