package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Spend is what a call may cost, asked before it is made. Amounts are millionths of the currency.
type Spend struct {
	Day     string // "2006-01-02" in the owner's time zone
	Chat    int64  // zero: no chat, so no chat's cap
	Purpose string
	Model   string
	Amount  int64 // the most it can cost
	DayCap  int64 // the most all calls of the day may cost together
	ChatCap int64 // the most the chat's calls of the day may cost together
}

// Reservation answers a Spend. With Refused set nothing was reserved and the call must not be made.
type Reservation struct {
	ID      int64
	Refused string // CapDay or CapChat; "" when the money is set aside
	First   bool   // the first refusal by that cap on that day
}

// The caps that refuse.
const (
	CapDay  = "day"
	CapChat = "chat"
)

// Settlement is what a call did cost.
type Settlement struct {
	Amount  int64 // millionths of the currency
	In, Out int64 // tokens, zero when unknown
}

const openBudgetsSQL = "insert into budgets (day, chat_id) select $1::date, c from unnest($2::bigint[]) c order by c on conflict do nothing"

// lockBudgetsSQL takes the day's row before the chat's, always, so that two calls never wait for each other.
const lockBudgetsSQL = "select chat_id, committed from budgets where day = $1::date and chat_id = any ($2) order by chat_id for update"

const commitBudgetsSQL = "update budgets set committed = committed + $3 where day = $1::date and chat_id = any ($2)"

const insertUsageSQL = `insert into usage (day, chat_id, purpose, model, reserved)
	values (@day::date, @chat, @purpose, @model, @amount) returning id`

// Reserve sets money aside, in a transaction of its own: when it returns, the call may be made. Together the reservations
// and costs of a day never exceed its cap, nor those of a chat the chat's, however many processes ask at once. What costs
// nothing is never refused.
func (s *Store) Reserve(ctx context.Context, sp Spend) (Reservation, error) {
	if sp.Amount < 0 {
		return Reservation{}, fmt.Errorf("reserve money: a negative amount, %d", sp.Amount)
	}
	var res Reservation
	err := s.InTx(ctx, func(tx Tx) (err error) {
		res, err = reserve(ctx, tx, sp)
		return err
	})
	if err != nil {
		return Reservation{}, fmt.Errorf("reserve money: %w", err)
	}
	return res, nil
}

func reserve(ctx context.Context, tx Tx, sp Spend) (Reservation, error) {
	rows := budgetRows(sp.Chat)
	if _, err := tx.Exec(ctx, openBudgetsSQL, sp.Day, rows); err != nil {
		return Reservation{}, err
	}
	committed, err := lockBudgets(ctx, tx, sp.Day, rows)
	if err != nil {
		return Reservation{}, err
	}
	switch {
	case sp.Amount == 0:
	case sp.Amount > sp.DayCap-committed[0]:
		return refuse(ctx, tx, sp.Day, 0, CapDay)
	case sp.Chat != 0 && sp.Amount > sp.ChatCap-committed[sp.Chat]:
		return refuse(ctx, tx, sp.Day, sp.Chat, CapChat)
	}
	if _, err := tx.Exec(ctx, commitBudgetsSQL, sp.Day, rows, sp.Amount); err != nil {
		return Reservation{}, err
	}
	var res Reservation
	err = tx.QueryRow(ctx, insertUsageSQL, pgx.NamedArgs{
		"day": sp.Day, "chat": sp.Chat, "purpose": sp.Purpose, "model": sp.Model, "amount": sp.Amount,
	}).Scan(&res.ID)
	return res, err
}

// budgetRows are the chat ids of the budgets a call counts in.
func budgetRows(chat int64) []int64 {
	if chat == 0 {
		return []int64{0}
	}
	return []int64{0, chat}
}

// lockBudgets returns what is committed, by chat id, and holds it until the transaction ends.
func lockBudgets(ctx context.Context, tx Tx, day string, chats []int64) (map[int64]int64, error) {
	rows, err := tx.Query(ctx, lockBudgetsSQL, day, chats)
	if err != nil {
		return nil, err
	}
	var chat, amount int64
	committed := make(map[int64]int64, len(chats))
	_, err = pgx.ForEachRow(rows, []any{&chat, &amount}, func() error {
		committed[chat] = amount
		return nil
	})
	return committed, err
}

const markRefusedSQL = "update budgets set refused_at = now() where day = $1::date and chat_id = $2 and refused_at is null"

func refuse(ctx context.Context, tx Tx, day string, chat int64, name string) (Reservation, error) {
	tag, err := tx.Exec(ctx, markRefusedSQL, day, chat)
	if err != nil {
		return Reservation{}, err
	}
	return Reservation{Refused: name, First: tag.RowsAffected() == 1}, nil
}

const settleUsageSQL = `update usage set cost = $2, tokens_in = $3, tokens_out = $4, settled_at = now()
	where id = $1 and settled_at is null returning day::text, chat_id, reserved`

// Settle replaces a reservation by what the call did cost and gives the rest back. It returns ErrNotFound for a
// reservation that does not exist or was settled before; nothing changes then.
func (s *Store) Settle(ctx context.Context, reservation int64, st Settlement) error {
	err := s.InTx(ctx, func(tx Tx) error {
		var day string
		var chat, reserved int64
		err := tx.QueryRow(ctx, settleUsageSQL, reservation, st.Amount, st.In, st.Out).Scan(&day, &chat, &reserved)
		if err != nil {
			return notFound(err)
		}
		rows := budgetRows(chat)
		if _, err := lockBudgets(ctx, tx, day, rows); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, commitBudgetsSQL, day, rows, st.Amount-reserved)
		return err
	})
	if err != nil {
		return fmt.Errorf("settle reservation %d: %w", reservation, err)
	}
	return nil
}

const spentSQL = "select coalesce(sum(committed), 0)::bigint from budgets where day = $1::date and chat_id = $2"

// Spent is what the calls of a day cost, open ones at their worst, in millionths of the currency. Chat zero means all
// chats, and what belongs to none.
func Spent(ctx context.Context, db DB, day string, chat int64) (int64, error) {
	var amount int64
	if err := db.QueryRow(ctx, spentSQL, day, chat).Scan(&amount); err != nil {
		return 0, fmt.Errorf("read what was spent: %w", err)
	}
	return amount, nil
}

// Usage sums up the calls of one day for one purpose.
type Usage struct {
	Purpose string
	Amount  int64 // millionths of the currency, open calls at their worst
	Calls   int
	Open    int   // calls that have not settled, or never will
	In, Out int64 // tokens, as far as they are known
}

const usageSQL = `select purpose, sum(coalesce(cost, reserved))::bigint as amount, count(*) as calls,
	count(*) filter (where settled_at is null) as open, sum(tokens_in)::bigint as "in", sum(tokens_out)::bigint as out
	from usage where day = $1::date group by purpose order by amount desc, purpose`

// UsageOn returns what a day's calls were for, the dearest purpose first.
func UsageOn(ctx context.Context, db DB, day string) ([]Usage, error) {
	rows, err := db.Query(ctx, usageSQL, day)
	if err != nil {
		return nil, fmt.Errorf("sum up the day's usage: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[Usage])
	if err != nil {
		return nil, fmt.Errorf("sum up the day's usage: %w", err)
	}
	return list, nil
}
