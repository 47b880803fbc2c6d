package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store"
	"multis/store/storetest"
)

// makeOlder makes a database look as if the previous multis had made it.
func makeOlder(t *testing.T, st *store.Store) {
	t.Helper()
	_, err := st.Pool().Exec(t.Context(), "update schema_functions set revision = revision - 1, hash = ''")
	require.NoError(t, err)
	require.Equal(t, migrations.StateOlder, schemaOf(t, st))
}

func schemaOf(t *testing.T, st *store.Store) migrations.State {
	t.Helper()
	state, err := st.Inspector().Schema(t.Context())
	require.NoError(t, err)
	return state
}

func TestUpgrade_BacksUpFirst(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	dir := configured(t, st.Pool().Config().ConnString(), "")
	folder := filepath.Join(dir, "data", "backups")
	makeOlder(t, st)
	said, complaint, err := program(t, dir, "", "migrate")
	require.NoError(t, err, complaint)
	require.Contains(t, said, "Making sure that there is a backup of the last 24 hours")
	require.Equal(t, migrations.StateCurrent, schemaOf(t, st))
	require.Len(t, filesIn(t, folder), 1)
	said, complaint, err = program(t, dir, "", "backup", "verify", filepath.Join(folder, filesIn(t, folder)[0]))
	require.NoError(t, err, complaint)
	require.Contains(t, said, "are as they were")

	makeOlder(t, st)
	_, complaint, err = program(t, dir, "", "search", "prices")
	require.NoError(t, err, complaint)
	require.Len(t, filesIn(t, folder), 1, "that backup is recent")
}

func TestUpgrade_WithoutBackupNeedsFlag(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	dir := configured(t, st.Pool().Config().ConnString(), "backup: {every: off}\n")
	for _, command := range []string{"migrate", "run", "search"} {
		makeOlder(t, st)
		_, complaint, err := program(t, dir, "", append([]string{command}, map[string][]string{"search": {"prices"}}[command]...)...)
		require.Error(t, err, command)
		require.Contains(t, complaint, "backup.every is off. Make one:\n", command)
		require.Contains(t, complaint, " backup create\nmultis: Or continue without one:\n", command)
		require.Contains(t, complaint, " migrate --no-backup\n", command)
		require.Equal(t, migrations.StateOlder, schemaOf(t, st), command)
	}
	_, complaint, err := program(t, dir, "", "migrate", "--no-backup")
	require.NoError(t, err, complaint)
	require.Equal(t, migrations.StateCurrent, schemaOf(t, st))

	makeOlder(t, st)
	_, complaint, err = program(t, dir, "", "backup", "create")
	require.NoError(t, err, complaint)
	_, complaint, err = program(t, dir, "", "migrate")
	require.NoError(t, err, complaint)
	require.Equal(t, migrations.StateCurrent, schemaOf(t, st))
}

func TestUpgrade_NeedsBackup(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	dir := configured(t, st.Pool().Config().ConnString(), "backup: {folder: ../config.yaml}\n")
	makeOlder(t, st)
	_, complaint, err := program(t, dir, "", "migrate")
	require.Error(t, err)
	require.Contains(t, complaint, "make the folder of backups: ")
	require.Equal(t, migrations.StateOlder, schemaOf(t, st))
}
