package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"
)

// queryRow reads one row from multis' database.
func (d *demo) queryRow(ctx context.Context, sql string, args []any, into ...any) error {
	if err := d.db.QueryRow(ctx, sql, args...).Scan(into...); err != nil {
		return fmt.Errorf("look into the database: %w", err)
	}
	return nil
}

const remembersSQL = `select exists (select from messages where event_id = $1 and body = $2 and action = 'archive' and code = 'silent')`

// awaitStored waits until a message that gets no answer is stored.
func (d *demo) awaitStored(ctx context.Context, evt id.EventID, text string) error {
	return d.await(ctx, "the message to be remembered", func(ctx context.Context) (stored bool, err error) {
		return stored, d.queryRow(ctx, remembersSQL, []any{evt, text}, &stored)
	})
}

const openWorkSQL = `select count(*) from river.river_job where kind in ('turn', 'send') and finalized_at is null`

// awaitIdle waits until no answer is being made or sent.
func (d *demo) awaitIdle(ctx context.Context) error {
	return d.await(ctx, "all work to be done", func(ctx context.Context) (bool, error) {
		var open int
		err := d.queryRow(ctx, openWorkSQL, nil, &open)
		return open == 0, err
	})
}

const toContactsSQL = `select count(*) from outbox o join chats c on c.id = o.chat_id where c.kind <> 'admin'`

// countStored counts the outbox messages to contacts, whether they were sent or not.
func (d *demo) countStored(ctx context.Context) (n int, err error) {
	return n, d.queryRow(ctx, toContactsSQL, nil, &n)
}

const rowsWithSQL = `select format('%I.%I', table_schema, table_name) from information_schema.tables
	where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1`

// rowsWith counts the rows, over all tables, that contain a text in any column.
func (d *demo) rowsWith(ctx context.Context, text string) (rows, tables int, err error) {
	found, err := d.db.Query(ctx, rowsWithSQL)
	if err != nil {
		return 0, 0, fmt.Errorf("list the tables: %w", err)
	}
	names, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return 0, 0, fmt.Errorf("list the tables: %w", err)
	}
	for _, name := range names {
		var n int
		if err := d.queryRow(ctx, "select count(*) from "+name+" t where strpos(t::text, $1) > 0", []any{text}, &n); err != nil {
			return 0, 0, err
		}
		rows += n
	}
	return rows, len(names), nil
}

// source is a citation of an answer.
type source struct {
	Name, Quote string
}

const sourcesSQL = `select s ->> 'source' as name, s ->> 'quote' as quote from outbox, jsonb_array_elements(citations) s where event_id = $1 and state = 'delivered'`

// sources waits until an answer is delivered and returns its citations.
func (d *demo) sources(ctx context.Context, evt string) (all []source, err error) {
	err = d.await(ctx, "the bridge's word that the answer arrived", func(ctx context.Context) (bool, error) {
		rows, err := d.db.Query(ctx, sourcesSQL, evt)
		if err != nil {
			return false, err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByName[source])
		return len(all) > 0, err
	})
	return all, err
}

const stuckSQL = `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query ilike 'insert into outbox%')`

// duringTurn locks the outbox, waits until an answer is about to be written, calls do, and releases the lock.
func (d *demo) duringTurn(ctx context.Context, do func() error) error {
	holder, err := pgx.ConnectConfig(ctx, d.db.Config())
	if err != nil {
		return err
	}
	defer holder.Close(context.WithoutCancel(ctx)) // closing also releases the lock
	if _, err := holder.Exec(ctx, "begin; lock table outbox in share mode"); err != nil {
		return fmt.Errorf("hold the outbox: %w", err)
	}
	err = d.await(ctx, "multis to be in the middle of its answer", func(ctx context.Context) (stuck bool, err error) {
		return stuck, d.queryRow(ctx, stuckSQL, nil, &stuck)
	})
	if err != nil {
		return err
	}
	return do()
}
