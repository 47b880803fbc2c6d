package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/row"
)

// InjectionScore says how much a message looks like an attempt to give the assistant orders. policy.InjectionScores describes the scores.
type InjectionScore struct {
	MessageID     MessageID
	ChatID        ChatID
	PatternsScore int `db:"patterns"`
	ScopeScore    int `db:"scope"`
	RateScore     int `db:"rate"`
	JudgeScore    int `db:"judge"`
	Verdict       policy.InjectionVerdict
	ScoredAt      time.Time
}

const injectionColumns = "s.message_id, s.chat_id, s.patterns::int, s.scope::int, s.rate::int, s.judge::int, s.verdict, s.scored_at"

// putInjectionScoreSQL locks the message, so that a concurrent deletion also deletes its scores.
const putInjectionScoreSQL = `insert into injection_scores (message_id, chat_id, patterns, scope, rate, judge, verdict, scored_at)
	select m.id, m.chat_id, @patterns, @scope, @rate, @judge, @verdict, @at from messages m where m.id = @message and m.redacted_at is null for key share
	on conflict (message_id) do update set patterns = excluded.patterns, scope = excluded.scope, rate = excluded.rate, judge = excluded.judge,
		verdict = excluded.verdict, scored_at = excluded.scored_at`

// PutInjectionScore stores the scores of a message. A message that was deleted meanwhile gets none.
func PutInjectionScore(ctx context.Context, tx Tx, message MessageID, s policy.InjectionScores, at time.Time) error {
	return row.Exec(ctx, tx, "store injection scores", putInjectionScoreSQL, pgx.NamedArgs{
		"message": message, "patterns": s.Patterns, "scope": s.Scope, "rate": s.Rate, "judge": s.Judge, "verdict": s.Verdict(), "at": at,
	})
}

// injectionRateOfSQL counts only messages after the sender's last hold has ended.
const injectionRateOfSQL = `select count(*)::int from injection_scores s join messages m on m.id = s.message_id where s.chat_id = @chat and m.sender = @sender and s.verdict <> 'allow'
	and s.scored_at > greatest(@since::timestamptz, (select h.until from model_holds h where h.chat_id = @chat and h.sender = @sender))`

// InjectionRateOf counts what a sender wrote in a chat: the messages of the last minute, and the suspicious ones of the
// last day or since the end of the sender's last hold, if that was later.
func InjectionRateOf(ctx context.Context, db DB, chat ChatID, sender id.UserID, now time.Time) (r policy.InjectionRate, err error) {
	args := pgx.NamedArgs{"chat": chat, "sender": sender, "since": now.AddDate(0, 0, -1)}
	if r.Suspicious, err = row.Value[int](ctx, db, "count suspicious messages", injectionRateOfSQL, args); err != nil {
		return r, err
	}
	minute := now.Add(-time.Minute)
	r.LastMinute, _, err = CountFromSender(ctx, db, chat, sender, minute, minute)
	return r, err
}

const modelHoldSQL = "select max(until) from model_holds where chat_id = $1 and (sender = any ($2) or cardinality($2::text[]) = 0) and until > $3"

// ModelHold returns until when a hold keeps models from answering at least one of senders in a chat, or anybody if
// senders is empty. It returns the zero time if there is no hold.
func ModelHold(ctx context.Context, db DB, chat ChatID, senders []id.UserID, now time.Time) (time.Time, error) {
	until, err := row.Value[*time.Time](ctx, db, "model hold", modelHoldSQL, chat, row.EmptyIfNil(senders), now)
	if err != nil {
		return time.Time{}, err
	}
	if until == nil {
		return time.Time{}, nil
	}
	return *until, nil
}

const beginModelHoldSQL = `insert into model_holds (chat_id, sender, until, since) values ($1, $2, $3, $4)
	on conflict (chat_id, sender) do update set until = excluded.until, since = excluded.since where model_holds.until <= excluded.since`

// BeginModelHold stores that no model answers a sender in a chat until a time. It reports whether there was no such hold yet.
func BeginModelHold(ctx context.Context, tx Tx, chat ChatID, sender id.UserID, now, until time.Time) (bool, error) {
	tag, err := tx.Exec(ctx, beginModelHoldSQL, chat, sender, until, now)
	if err != nil {
		return false, fmt.Errorf("begin a model hold: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

const liftModelHoldsSQL = "update model_holds set until = $2 where chat_id = $1 and until > $2"

// LiftModelHolds ends the holds of a chat. It reports whether there were any.
func LiftModelHolds(ctx context.Context, tx Tx, chat ChatID, now time.Time) (bool, error) {
	tag, err := tx.Exec(ctx, liftModelHoldsSQL, chat, now)
	if err != nil {
		return false, fmt.Errorf("lift model holds: %w", err)
	}
	return tag.RowsAffected() > 0, nil
}

const injectionScoresSQL = "select " + injectionColumns +
	` from injection_scores s where (@chat = 0 or s.chat_id = @chat) and s.scored_at >= @since and s.verdict <> 'allow'
	order by s.scored_at desc, s.message_id desc limit @limit`

// InjectionScores returns the messages that were flagged or blocked since a time, the newest first. A chat of 0 means all.
func InjectionScores(ctx context.Context, db DB, chat ChatID, since time.Time, limit int) ([]InjectionScore, error) {
	return row.All[InjectionScore](ctx, db, "injection scores", injectionScoresSQL,
		pgx.NamedArgs{"chat": chat, "since": since, "limit": limit})
}

const injectionScoreOfSQL = "select " + injectionColumns + " from injection_scores s where s.message_id = $1"

// InjectionScoreOf returns the scores of a message. They are zero for a message without a row, and the verdict is then empty.
func InjectionScoreOf(ctx context.Context, db DB, message MessageID) (InjectionScore, error) {
	s, err := row.One[InjectionScore](ctx, db, "injection score", injectionScoreOfSQL, message)
	if errors.Is(err, ErrNotFound) {
		return InjectionScore{}, nil
	}
	return s, err
}

// blockedMessagesSQL also finds the messages that waited together with a blocked one, because an attempt may be spread over all of them.
const blockedMessagesSQL = `select m.id from messages m where m.id = any ($1) and exists (select from injection_scores s join messages b on b.id = s.message_id
	where s.chat_id = m.chat_id and s.verdict = 'block' and (b.id = m.id or b.answered_at = m.answered_at))`

// WithoutBlocked drops messages of others that were blocked as attempts to give the assistant orders, so that no model
// reads them later. It also drops those that were never scored, as in a chat without answers, and look like such attempts
// by themselves.
func WithoutBlocked(ctx context.Context, db DB, messages []Message) ([]Message, error) {
	ids := make([]MessageID, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	blocked, err := row.Values[MessageID](ctx, db, "blocked messages", blockedMessagesSQL, ids)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(messages, func(m Message) bool {
		return m.Author.IsCapped() && (slices.Contains(blocked, m.ID) ||
			policy.ScoreInjection(m.Body, policy.InjectionRate{}).Verdict() == policy.InjectionBlock)
	}), nil
}

const pruneModelHoldsSQL = "delete from model_holds where until < $1"

// PruneModelHolds deletes the holds that were over before a time.
func PruneModelHolds(ctx context.Context, w Writer, before time.Time) (int, error) {
	return row.Changed(ctx, w, "forget holds", pruneModelHoldsSQL, before)
}
