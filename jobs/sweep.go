package jobs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"multis/store"
)

// unattendedSQL finds work that waits and has no job, whatever became of it: a job that was given up while the database was
// away, or one that was not inserted because another of its kind was just ending.
const unattendedSQL = `with live as (select kind, args from river.river_job where state not in ('completed', 'cancelled', 'discarded'))
	select 'send', o.id::text from outbox o where o.state = 'queued' and o.created_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'send' and l.args->>'out' = o.id::text)
	union all
	select 'draft', o.id::text from outbox o where o.state = 'held' and coalesce(o.part_of = o.id, true) and o.created_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'draft' and l.args->>'out' = o.id::text)
	union all
	select distinct 'turn', m.chat_id::text from messages m
		where m.answered_at is null and m.action in ('answer', 'handoff') and m.received_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'turn' and l.args->>'chat' = m.chat_id::text)
	union all
	select 'command', m.id::text from messages m where m.answered_at is null and m.action = 'command' and m.received_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind in ('command', 'ask') and l.args->>'message' = m.id::text)
	union all
	select 'transcribe', m.id::text from messages m where m.action = 'listen' and m.received_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'transcribe' and l.args->>'message' = m.id::text)
	union all
	select 'run', r.id::text from schedule_runs r where r.state = 'running' and r.started_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'run' and l.args->>'run' = r.id::text)
	union all
	select 'forget', f.id::text from forgettings f where f.done_at is null and f.created_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'forget' and l.args->>'forgetting' = f.id::text)
	union all
	-- What takes the process along each time is not begun for ever, and what was asked long ago is waited for no more: whoever asked is told.
	select case when t.state = 'executing' and not hopeful then 'lost' when t.parent_id is null then 'task' else 'child' end, t.id::text
		from tasks t, lateral (select t.attempt < 20 and t.created_at > now() - interval '1 day' as hopeful) h
		where t.finished_at is null and t.kind in ('ask', 'plan', 'clock', 'child', 'step', 'replay') and t.state <> 'pending' and (hopeful or t.state = 'executing')
		and coalesce(t.started_at, t.created_at) < now() - interval '1 minute'
		and not exists (select from live l where (l.kind in ('task', 'child') and l.args->>'task' = t.id::text)
			or (l.kind in ('command', 'ask') and l.args->>'message' = t.message_id::text) or (l.kind = 'run' and 'run:' || (l.args->>'run') = t.key))
	union all
	select 'digest', '' where exists (select from messages where code = 'stale' and digested_at is null and received_at < now() - interval '1 minute')
		and not exists (select from live l where l.kind = 'digest')
	union all
	select 'watch', w.id::text from watches w where w.kind = 'page' and w.next_at < now() - interval '1 minute'
		and not exists (select from live l where l.kind = 'watch' and l.args->>'watch' = w.id::text)`

// Sweep gives work that waits without a job a job.
func Sweep(ctx context.Context, st *store.Store) error {
	return st.InTx(ctx, func(tx store.Tx) error {
		rows, err := tx.Query(ctx, unattendedSQL)
		if err != nil {
			return fmt.Errorf("look for work without a job: %w", err)
		}
		type work struct{ Kind, ID string }
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[work])
		if err != nil {
			return fmt.Errorf("look for work without a job: %w", err)
		}
		silent, err := store.SilentBridges(ctx, tx)
		if err != nil {
			return err
		}
		for _, state := range silent {
			if err := Enqueue(ctx, tx, TellArgs{Topic: TopicBridgeDown, About: state}); err != nil {
				return err
			}
			if err := Emit(ctx, tx, store.HookBridgeDown, strconv.FormatInt(state, 10)); err != nil {
				return err
			}
		}
		again, err := store.HeardAgain(ctx, tx)
		if err != nil {
			return err
		}
		for _, state := range again {
			if err := Enqueue(ctx, tx, TellArgs{Topic: TopicBridgeUp, About: state}); err != nil {
				return err
			}
		}
		for _, w := range found {
			args, err := argsFor(w.Kind, w.ID)
			if err != nil {
				return err
			}
			if err := Enqueue(ctx, tx, args); err != nil {
				return err
			}
		}
		return rearm(ctx, tx)
	})
}

func argsFor(kind, id string) (Args, error) {
	switch kind {
	case "digest":
		return DigestArgs{}, nil
	case "send", "draft":
		out, err := uuid.Parse(id)
		if err != nil {
			return nil, fmt.Errorf("read the id of waiting work: %w", err)
		}
		if kind == "draft" {
			return DraftArgs{Out: out}, nil
		}
		return SendArgs{Out: out}, nil
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the id of waiting work: %w", err)
	}
	switch kind {
	case "turn":
		return TurnArgs{Chat: n}, nil
	case "command":
		return CommandArgs{Message: n}, nil
	case "watch":
		return WatchArgs{Watch: n}, nil
	case "transcribe":
		return TranscribeArgs{Message: n}, nil
	case "forget":
		return ForgetArgs{Forgetting: n}, nil
	case "run":
		return RunArgs{Run: n}, nil
	case "task":
		return TaskArgs{Task: n}, nil
	case "lost":
		return TaskArgs{Task: n, Lost: true}, nil
	case "child":
		return ChildArgs{Task: n}, nil
	default:
		return nil, fmt.Errorf("nothing is known of waiting work of kind %q", kind)
	}
}
