//go:build e2e

// Package vectors proves searching by meaning on a real Postgres with pgvector, which the machine's own Postgres may not have.
// Models are made up at the network's edge.
package vectors

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/deploy/devstack"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/migrations"
	"multis/policy"
	"multis/store"
)

const (
	role     = "multis" // a plain role: row-level security binds it
	template = "multis_template"
)

var (
	stack     *devstack.Stack
	password  = rand.Text()
	databases atomic.Int64
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "multis-vectors-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the database runs as another user
		return fail(err)
	}
	root, err := devstack.Prepare(ctx, os.Stdout)
	if err != nil {
		return fail(err)
	}
	if stack, err = devstack.StartPostgres(ctx, devstack.Options{Root: root, Dir: filepath.Join(dir, "stack")}); err != nil {
		return fail(err)
	}
	if err := makeTemplate(ctx); err != nil {
		return fail(errors.Join(err, stack.Stop()))
	}
	code := m.Run()
	if err := stack.Stop(); err != nil {
		return fail(err)
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "e2e/vectors:", err)
	return 1
}

func makeTemplate(ctx context.Context) error {
	if err := administer(ctx, "postgres",
		fmt.Sprintf("create role %s login createrole password '%s'", role, password),
		fmt.Sprintf("create database %s owner %s", template, role)); err != nil {
		return err
	}
	// As deploy/postgres-init.sh does: pgvector takes an administrator.
	if err := administer(ctx, template, "create extension vector"); err != nil {
		return err
	}
	return migrations.Run(ctx, dsn(template))
}

func administer(ctx context.Context, database string, statements ...string) error {
	conn, err := pgx.Connect(ctx, stack.PostgresDSN(database))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// dsn is the address of a database for multis' own role.
func dsn(database string) string {
	address, err := url.Parse(stack.PostgresDSN(database))
	if err != nil {
		panic(err)
	}
	address.User = url.UserPassword(role, password)
	return address.String()
}

// newStore opens a database of this test's own.
func newStore(t *testing.T) *store.Store {
	t.Helper()
	name := fmt.Sprintf("t%d", databases.Add(1))
	require.NoError(t, administer(t.Context(), "postgres", fmt.Sprintf("create database %s owner %s template %s", name, role, template)))
	st, err := store.Open(t.Context(), dsn(name))
	require.NoError(t, err)
	t.Cleanup(st.Close)
	return st
}

// embedder is a free model of a made-up server.
func embedder(t *testing.T, st *store.Store, model string, script llmtest.EmbedScript) (llm.Embedder, *llmtest.Embeddings) {
	t.Helper()
	return paidEmbedder(t, st, model, script, 0)
}

// paidEmbedder may cost so much a day, at one currency unit for a million tokens; nothing makes it free.
func paidEmbedder(t *testing.T, st *store.Store, model string, script llmtest.EmbedScript,
	dayCap int64,
) (llm.Embedder, *llmtest.Embeddings) {
	t.Helper()
	s := llmtest.StartEmbeddings(t, script)
	price := llm.Price{}
	if dayCap > 0 {
		price.In = 1_000_000
	}
	e, err := llm.OpenEmbedder(llm.EmbedConfig{Model: model, BaseURL: s.URL, Timeout: time.Minute, Purpose: "index"}, llm.Budget{
		Ledger: ledger{st},
		Price:  price,
		Local:  dayCap == 0,
		DayCap: dayCap,
		Today:  func() string { return "2026-11-20" },
	})
	require.NoError(t, err)
	return e, s
}

// ledger is the budget in the database, as the program has it.
type ledger struct{ *store.Store }

func (l ledger) Reserve(ctx context.Context, s policy.SpendRequest) (policy.Reservation, error) {
	var r policy.Reservation
	err := l.InTx(ctx, func(tx store.Tx) (err error) {
		r, err = store.ReserveCost(ctx, tx, policy.SpendRequest{
			Day:     s.Day,
			Chat:    s.Chat,
			Purpose: s.Purpose,
			Model:   s.Model,
			Amount:  s.Amount,
			DayCap:  s.DayCap,
			ChatCap: s.ChatCap,
		})
		return err
	})
	return policy.Reservation{ID: r.ID, Refused: r.Refused, FirstRefusal: r.FirstRefusal}, err
}

func (l ledger) Settle(ctx context.Context, id int64, s policy.Settlement) error {
	return l.InTx(ctx, func(tx store.Tx) error {
		_, _, err := store.SettleCost(ctx, tx, id, policy.Settlement{Amount: s.Amount, In: s.In, Out: s.Out})
		return err
	})
}
