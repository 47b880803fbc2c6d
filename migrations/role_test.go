package migrations_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// execAll runs statements over one connection, and returns the first error.
func execAll(t *testing.T, dsn string, statements ...string) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			return err
		}
	}
	return nil
}

// newFilledDatabase returns a migrated database of a login of its own, with a message of a chat in it.
func newFilledDatabase(t *testing.T, name string) (dsn string, chat store.ChatID) {
	t.Helper()
	dsn = empty(t, name, "createrole")
	require.NoError(t, migrations.Run(t.Context(), dsn))
	st, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) error {
		c, err := store.UpsertChat(t.Context(), tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  name,
			Kind:       policy.KindDM,
			Name:       "Ana",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		chat = c.ID
		_, err = store.InsertMessage(t.Context(), tx, store.Message{
			ChatID:  chat,
			EventID: "$secret",
			Author:  policy.AuthorContact,
			Sender:  "@ana:x",
			Kind:    "text",
			Body:    "the secret of " + name,
		})
		return err
	}))
	return dsn, chat
}

// countReadable returns how many messages a transaction of a contact sees.
func countReadable(t *testing.T, dsn string, chat store.ChatID) (n int) {
	t.Helper()
	st, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.AsContact(t.Context(), policy.ContactScope(chat), func(tx store.Tx) error {
		return tx.QueryRow(t.Context(), "select count(*) from messages").Scan(&n)
	}))
	return n
}

const allScopes = "select set_config('multis.scope', 'public,user:1,user:2,user:3', false)"

func TestRole_OtherInstanceReadsNothing(t *testing.T) {
	t.Parallel()
	dsn, chat := newFilledDatabase(t, "here")
	_, _ = newFilledDatabase(t, "elsewhere")
	require.Equal(t, 1, countReadable(t, dsn, chat))
	stranger := storetest.Server().DSN("elsewhere", "here")
	require.ErrorContains(t, execAll(t, stranger, "select 1"), "permission denied for database")
	require.NoError(t, execAll(t, storetest.Server().SuperDSN("here"), "grant connect on database here to elsewhere"))
	require.NoError(t, execAll(t, stranger, "select 1"))
	for _, role := range []string{migrations.ContactRole("here"), migrations.ContactRole("elsewhere")} {
		require.ErrorContains(t, execAll(t, stranger, "set role "+role, allScopes, "select body from messages"), "permission denied", role)
	}
}

func TestRole_ReplacesSharedRole(t *testing.T) {
	t.Parallel()
	dsn, chat := newFilledDatabase(t, "before")
	_ = empty(t, "neighbour", "createrole")
	role := migrations.ContactRole("before")
	super := storetest.Server().SuperDSN("before")
	// As older versions left it: one role for all databases, and everybody may connect.
	require.NoError(t, execAll(t, super, "alter role "+role+" rename to multis_contact", "grant multis_contact to neighbour",
		"grant connect on database before to public",
		"create function later() returns text language sql as $$ select 'grant to multis_contact' $$", "alter function later() owner to before"))
	stranger := storetest.Server().DSN("neighbour", "before")
	require.NoError(t, execAll(t, stranger, "set role multis_contact", allScopes, "select body from messages"), "the hole that is closed")

	require.NoError(t, migrations.Run(t.Context(), dsn))
	require.NoError(t, migrations.Run(t.Context(), dsn), "and once more changes nothing")
	require.Equal(t, 1, countReadable(t, dsn, chat), "its own contacts are read for as before")
	require.ErrorContains(t, execAll(t, stranger, "select 1"), "permission denied for database")
	require.NoError(t, execAll(t, super, "grant connect on database before to neighbour"))
	for _, sql := range []string{
		"select body from messages",
		"select * from search_passages('{appl}', '{1}', 'appl', '{appl}', '{1}', 10, '{kb,conv}', 8000, 8000)",
	} {
		require.ErrorContains(t, execAll(t, stranger, "set role multis_contact", allScopes, sql), "permission denied")
	}
	conn, err := pgx.Connect(t.Context(), super)
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	var says string
	require.NoError(t, conn.QueryRow(t.Context(), "select later()").Scan(&says))
	require.Equal(t, "grant to "+role, says)

	// CREATEROLE is needed once.
	require.NoError(t, execAll(t, super, "alter role before nocreaterole"))
	require.NoError(t, migrations.Run(t.Context(), dsn))
	require.Equal(t, 1, countReadable(t, dsn, chat))
}

func TestRole_NamedAfterDatabase(t *testing.T) {
	t.Parallel()
	require.Equal(t, "multis_contact_multis", migrations.ContactRole("multis"))
	seen := map[string]bool{}
	for _, database := range []string{
		"Multis", "my-db", "a b", `x"; drop`, "für", strings.Repeat("x", 48), strings.Repeat("x", 49),
		strings.Repeat("x", 63), "",
	} {
		role := migrations.ContactRole(database)
		require.LessOrEqual(t, len(role), 63)
		require.Regexp(t, "^multis_contact_[a-z0-9_]+$", role)
		require.False(t, seen[role], database)
		seen[role] = true
	}
}
