package store

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"multis/policy"
	"multis/store/row"
)

// budgetRow is one budget that a call is charged to.
type budgetRow struct {
	name    policy.Cap
	subject string // the chat, agent or run
	limit   int64
}

// budgetRows returns the budgets that a call is charged to, in the order in which their rows are locked, so that
// concurrent calls cannot deadlock.
func budgetRows(sp policy.SpendRequest) []budgetRow {
	list := []budgetRow{{name: policy.CapDay, limit: sp.DayCap}}
	if sp.Agent != "" {
		list = append(list, budgetRow{policy.CapAgent, sp.Agent, sp.AgentCap})
	}
	if sp.Chat != 0 {
		list = append(list, budgetRow{policy.CapChat, strconv.FormatInt(int64(sp.Chat), 10), sp.ChatCap})
	}
	if sp.Run != "" {
		list = append(list, budgetRow{policy.CapRun, sp.Run, sp.RunCap})
	}
	return list
}

func budgetKeys(rows []budgetRow) (names, subjects []string) {
	for _, r := range rows {
		names, subjects = append(names, string(r.name)), append(subjects, r.subject)
	}
	return names, subjects
}

// budgetDaySQL is the SQL for the day of a budget row. The budget of one task (policy.CapRun) has no day, because a task
// may last beyond midnight.
const budgetDaySQL = "case when p.cap = 'run' then date '-infinity' else @day::date end"

// chargeSQL inserts the budgets that are missing, locks the others in their order, and charges all. The day's budget is
// locked first, so whoever has that lock gets all other budgets of the day without waiting.
const chargeSQL = `with charged as (insert into budgets as b (day, cap, subject, committed)
		select ` + budgetDaySQL + `, p.cap, p.subject, @amount::bigint
		from unnest(@names::text[], @subjects::text[]) with ordinality p (cap, subject, n) order by n
		on conflict (day, cap, subject) do update set committed = b.committed + excluded.committed returning b.cap, b.committed),
	used as (insert into usage (day, chat_id, agent, run, purpose, model, reserved)
		values (@day::date, @chat, @agent, @run, @purpose, @model, @amount::bigint) returning id)
	select id, (select array_agg(committed order by array_position(@names::text[], cap)) from charged) from used`

// unchargeSQL undoes chargeSQL.
const unchargeSQL = `with unused as (delete from usage where id = @id)
	update budgets b set committed = b.committed - @amount::bigint from unnest(@names::text[], @subjects::text[]) p (cap, subject)
	where b.day = ` + budgetDaySQL + ` and b.cap = p.cap and b.subject = p.subject`

// ReserveCost reserves money for a call, which may be made once the transaction is committed. Reservations and costs
// together never exceed a cap, also with concurrent calls. A free call is never refused.
func ReserveCost(ctx context.Context, tx Tx, sp policy.SpendRequest) (policy.Reservation, error) {
	if sp.Amount < 0 {
		return policy.Reservation{}, fmt.Errorf("reserve money: a negative amount, %d", sp.Amount)
	}
	res, err := reserve(ctx, tx, sp)
	if err != nil {
		return policy.Reservation{}, fmt.Errorf("reserve money: %w", err)
	}
	return res, nil
}

// reserve charges all budgets at once, and takes the charge back if it exceeds a cap, which is rare. Other transactions see neither.
func reserve(ctx context.Context, tx Tx, sp policy.SpendRequest) (policy.Reservation, error) {
	counted := budgetRows(sp)
	names, subjects := budgetKeys(counted)
	args := pgx.NamedArgs{
		"names": names, "subjects": subjects,
		"day": sp.Day, "chat": sp.Chat, "agent": sp.Agent, "run": sp.Run, "purpose": sp.Purpose, "model": sp.Model, "amount": sp.Amount,
	}
	var res policy.Reservation
	var committed []int64 // with this call, in the order of counted
	if err := tx.QueryRow(ctx, chargeSQL, args).Scan(&res.ID, &committed); err != nil {
		return policy.Reservation{}, err
	}
	for i, p := range counted {
		if sp.Amount > 0 && committed[i] > p.limit {
			args["id"] = res.ID
			if _, err := tx.Exec(ctx, unchargeSQL, args); err != nil {
				return policy.Reservation{}, err
			}
			return refuse(ctx, tx, sp.Day, p)
		}
	}
	return res, nil
}

const markRefusedSQL = `update budgets b set refused_at = now() from (values (@cap::text, @subject::text)) p (cap, subject)
	where b.day = ` + budgetDaySQL + ` and b.cap = p.cap and b.subject = p.subject and b.refused_at is null`

func refuse(ctx context.Context, tx Tx, day string, p budgetRow) (policy.Reservation, error) {
	tag, err := tx.Exec(ctx, markRefusedSQL, pgx.NamedArgs{"day": day, "cap": p.name, "subject": p.subject})
	if err != nil {
		return policy.Reservation{}, err
	}
	return policy.Reservation{Refused: p.name, FirstRefusal: tag.RowsAffected() == 1}, nil
}

// settleCostSQL locks the budgets' rows in the order of chargeSQL.
const settleCostSQL = `with done as (update usage set cost = $2, tokens_in = $3, tokens_out = $4, tokens_cached = $5, settled_at = now()
		where id = $1 and settled_at is null returning day, chat_id, agent, run, reserved),
	held as materialized (select b.day, b.cap, b.subject from done d
		cross join lateral (values (1, 'day', ''), (2, 'agent', d.agent), (3, 'chat', nullif(d.chat_id, 0)::text), (4, 'run', d.run)) p (n, cap, subject)
		join budgets b on b.day = case when p.cap = 'run' then date '-infinity' else d.day end and b.cap = p.cap and b.subject = p.subject
		where n = 1 or p.subject <> '' order by n for update of b),
	given_back as (update budgets b set committed = b.committed + $2 - d.reserved from held h, done d where b.day = h.day and b.cap = h.cap and b.subject = h.subject
		returning b.cap, b.committed)
	select d.day::text, coalesce((select committed from given_back where cap = 'day'), 0) from done d`

// SettleCost replaces a reservation by the actual cost. It returns the day of the reservation, and that day's total, in
// which open calls count with what they reserved. It returns ErrNotFound, and changes nothing, if there is no such
// reservation or it was settled before.
func SettleCost(ctx context.Context, w Writer, reservation int64, st policy.Settlement) (day string, spent int64, err error) {
	if err := w.QueryRow(ctx, settleCostSQL, reservation, st.Amount, st.In, st.Out, st.Cached).Scan(&day, &spent); err != nil {
		return "", 0, fmt.Errorf("settle reservation %d: %w", reservation, row.NotFound(err))
	}
	return day, spent, nil
}

const markBudgetNotifiedSQL = `update budgets set notified_percent = $3 where day = $1::date and cap = 'day' and committed >= $2 and notified_percent < $3`

// MarkBudgetNotified records that the owner is notified that percent of a day's cap is spent. amount is that part of the
// cap. It returns false if less than amount is spent, or if he was notified of this or a higher percentage before.
func MarkBudgetNotified(ctx context.Context, tx Tx, day string, amount int64, percent int) (bool, error) {
	tag, err := tx.Exec(ctx, markBudgetNotifiedSQL, day, amount, percent)
	if err != nil {
		return false, fmt.Errorf("mark %d %% of the budget as told: %w", percent, err)
	}
	return tag.RowsAffected() == 1, nil
}

const spentSQL = "select coalesce(sum(committed), 0)::bigint from budgets where day = $1::date and cap = $2 and subject = $3"

// Spent returns the cost of a day's calls in millionths of the currency. Calls that have not settled count with what they
// reserved. Chat 0 means all calls, including those without a chat.
func Spent(ctx context.Context, db DB, day string, chat ChatID) (int64, error) {
	p := budgetRow{name: policy.CapDay}
	if chat != 0 {
		p = budgetRow{name: policy.CapChat, subject: strconv.FormatInt(int64(chat), 10)}
	}
	var amount int64
	if err := db.QueryRow(ctx, spentSQL, day, p.name, p.subject).Scan(&amount); err != nil {
		return 0, fmt.Errorf("read what was spent: %w", err)
	}
	return amount, nil
}

const anyRefusedSQL = "select exists (select from budgets where refused_at is not null)"

// AnyCallRefused reports whether a cap has refused any call.
func AnyCallRefused(ctx context.Context, db DB) (bool, error) {
	return row.Value[bool](ctx, db, "refused calls", anyRefusedSQL)
}

const taskCostSQL = `select (coalesce((select sum(coalesce(cost, reserved)) from usage where run = $2 and run <> ''), 0)
	+ coalesce((select sum(cost) from task_steps where task_id = $1), 0))::bigint`

// TaskCost returns what a task's tools and the calls of a run have cost so far, in millionths of the currency. Calls that have not settled
// count with what they reserved. An empty run has no calls.
func TaskCost(ctx context.Context, db DB, task TaskID, run string) (int64, error) {
	return row.Value[int64](ctx, db, "what a task cost", taskCostSQL, task, run)
}

// Usage sums up the calls of one day for one purpose.
type Usage struct {
	Purpose string
	Amount  int64 // millionths of the currency; open calls count with what they reserved
	Calls   int
	Open    int   // calls that have not settled, or never will
	In, Out int64 // tokens, as far as they are known
}

const usageByPurposeSQL = `select purpose, sum(coalesce(cost, reserved))::bigint as amount, count(*) as calls,
	count(*) filter (where settled_at is null) as open, sum(tokens_in)::bigint as "in", sum(tokens_out)::bigint as out
	from usage where day = $1::date group by purpose order by amount desc, purpose`

// UsageByPurpose returns the usage of a day by purpose, the most expensive first.
func UsageByPurpose(ctx context.Context, db DB, day string) ([]Usage, error) {
	return row.All[Usage](ctx, db, "the day's usage", usageByPurposeSQL, day)
}

// ChatUsage is the cost of the calls for one chat on one day.
type ChatUsage struct {
	Chat   ChatID
	Name   string // of the chat, "" when it is gone
	Amount int64  // millionths of the currency, open calls count with what they reserved
	Calls  int
}

const usageByChatSQL = `select u.chat_id as chat, coalesce(c.name, '') as name, sum(coalesce(u.cost, u.reserved))::bigint as amount, count(*) as calls
	from usage u left join chats c on c.id = u.chat_id where u.day = $1::date and u.chat_id <> 0
	group by u.chat_id, c.name order by amount desc, calls desc, u.chat_id limit $2`

// UsageByChat returns the cost of a day's calls by chat, the most expensive first, at most limit.
func UsageByChat(ctx context.Context, db DB, day string, limit int) ([]ChatUsage, error) {
	return row.All[ChatUsage](ctx, db, "the chats' usage", usageByChatSQL, day, limit)
}

// DayUsage is the cost of the calls of one day.
type DayUsage struct {
	Day    string // "2006-01-02"
	Amount int64
}

const usageByDaySQL = `select d::date::text as day, coalesce(sum(b.committed), 0)::bigint as amount
	from generate_series($1::date - ($2::int - 1), $1::date, interval '1 day') d
	left join budgets b on b.day = d::date and b.cap = 'day' group by d order by d`

// UsageByDay returns the cost of each of the last days, oldest first. day is the last one.
func UsageByDay(ctx context.Context, db DB, day string, days int) ([]DayUsage, error) {
	return row.All[DayUsage](ctx, db, "the days' usage", usageByDaySQL, day, days)
}
