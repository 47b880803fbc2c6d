package migrations_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/store"
	"multis/store/storetest"
)

// empty makes an empty database owned by a role of its own.
func empty(t *testing.T, name, grants string) string {
	t.Helper()
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, storetest.Server().SuperDSN("postgres"))
	require.NoError(t, err)
	defer admin.Close(ctx)
	for _, sql := range []string{"create role " + name + " login " + grants, "create database " + name + " owner " + name} {
		_, err := admin.Exec(ctx, sql)
		require.NoError(t, err)
	}
	return storetest.Server().DSN(name, name)
}

func TestUp_ConcurrentProcesses(t *testing.T) {
	t.Parallel()
	dsn := empty(t, "several", "createrole")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := migrations.Run(context.Background(), dsn); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	st, err := store.Open(context.Background(), dsn)
	require.NoError(t, err)
	defer st.Close()
	for _, table := range []string{"chats", "river.river_job", "matrix.crypto_account", "matrix.mx_room_state"} {
		_, err := st.Pool().Exec(context.Background(), "select from "+table)
		require.NoError(t, err, table)
	}
}

func TestUp_WithoutCreateRolePrintsSQL(t *testing.T) {
	t.Parallel()
	err := migrations.Run(context.Background(), empty(t, "plain", ""))
	require.ErrorIs(t, err, migrations.ErrRole)
	require.ErrorContains(t, err, `CREATE ROLE multis_contact_plain NOLOGIN; GRANT multis_contact_plain TO "plain"`)
}

func TestUp_RefusesSuperuser(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	empty(t, "walls", "")
	dsn := storetest.Server().SuperDSN("walls")
	require.NoError(t, migrations.Run(ctx, dsn))
	_, err := store.Open(ctx, dsn)
	require.ErrorIs(t, err, store.ErrSuperuser)
	require.ErrorContains(t, err, "CREATE ROLE multis")
}

// firstCompatible is the first migration that must leave the previous build running beside this one, as an upgrade under load needs it.
const firstCompatible = 116

// wordsMigration is the exception: it gave each stored idea one word, before the first release.
const wordsMigration = 135

// breaking is what the previous build does not survive: it reads and writes by the old names, and leaves new columns empty.
var breaking = regexp.MustCompile(`(?i)\brename\s+(to|column)\b|\brename\s+\w+\s+to\b|\bdrop\s+(table|column)\b|\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b|\bset\s+not\s+null\b`)

func TestUp_KeepsWhatPreviousBuildUses(t *testing.T) {
	t.Parallel()
	require.Regexp(t, breaking, "alter table chats rename held_until to owner_active_until;")
	require.Regexp(t, breaking, "alter table chats drop column held_until;")
	require.NotRegexp(t, breaking, "alter table chats add owner_active_until timestamptz; alter table a drop constraint b;")
	files, err := filepath.Glob("00*.sql")
	require.NoError(t, err)
	checked := 0
	for _, path := range files {
		number, err := strconv.Atoi(path[:5])
		require.NoError(t, err)
		if number < firstCompatible || number == wordsMigration {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			statement, _, _ := strings.Cut(line, "--")
			require.NotRegexp(t, breaking, statement, "%s: add the new form beside the old one, and remove the old one a release later", path)
		}
		checked++
	}
	require.Positive(t, checked)
}
