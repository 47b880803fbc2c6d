package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/policy"
	"multis/store/row"
)

// Escalation is a conversation that was passed to a person. It is open until a person resolves it, or until it ends by
// itself some time after a person answered. The contact waits while it is open and nobody answered.
type Escalation struct {
	ID        EscalationID
	ChatID    ChatID
	MessageID MessageID // the newest message when it was opened
	Reason    string
	Cause     policy.Cause // empty: a person opened it
	Sources   []MessageID  // the messages whose words may be in Reason
	Proposals []Proposal   // answers that a person may send as they stand, the likeliest first
	Picked    int          // the number of the proposal that was sent, from 1; 0 for none
	OpenedAt  time.Time
	ClosedAt  *time.Time
	ClosedBy  id.UserID // who resolved it; empty if it ended by itself, or is open
	// CardID is the outbox message that the thread begins with; nil if there is no thread yet. CardEvent is nil until it was sent.
	CardID     *uuid.UUID
	CardEvent  *id.EventID
	CardRoom   ChatID    // the room of the card; 0 without a card
	ClaimedBy  id.UserID // who answers; empty for nobody
	ClaimedAt  *time.Time
	AnsweredAt *time.Time // when a person first wrote to the contact; nil while the contact waits
	PageCount  int        `db:"paged"` // how often people were called because nobody claimed it
	CardStatus string     `db:"shown"` // the line about its state that the card shows
}

// Proposal is an answer from public documents that a person may send as it stands.
type Proposal struct {
	Text      string     `json:"text"`
	Citations []Citation `json:"citations"`
}

// Citations returns what the public documents say about the question.
func (e Escalation) Citations() (list []Citation) {
	for _, p := range e.Proposals {
		list = append(list, p.Citations...)
	}
	return list
}

// Picks returns the number of the text that a message in the thread picks, from 1: it is nothing but that number. offered
// is how many texts the card numbers. It returns 0 for any other message, if the card numbers none, and once the contact
// was answered, because a number is an answer then.
func (e Escalation) Picks(message string, offered int) int {
	number, err := strconv.Atoi(strings.TrimSpace(text.Clean(message)))
	if err != nil || e.Picked > 0 || e.AnsweredAt != nil {
		return 0
	}
	if offered < 2 || number < 1 || number > offered {
		return 0
	}
	return number
}

// IsOpen reports whether the escalation has not been closed.
func (e Escalation) IsOpen() bool { return e.ClosedAt == nil }

// IsWaiting reports whether the contact waits for a person.
func (e Escalation) IsWaiting() bool { return e.IsOpen() && e.AnsweredAt == nil }

const escalationColumns = `e.id, e.chat_id, e.message_id, e.reason, e.cause, e.sources, e.proposals, e.picked, e.opened_at, e.closed_at, e.closed_by, e.card_id, o.event_id as card_event,
	coalesce(o.chat_id, 0) as card_room, e.claimed_by, e.claimed_at, e.answered_at, e.paged, e.shown`

const fromEscalationsSQL = " from escalations e left join outbox o on o.id = e.card_id"

// endAnsweredEscalationSQL closes an escalation that a person has answered, because the assistant escalates again.
// insertEscalationSQL locks the message, so that a concurrent deletion also deletes the new escalation.
const endAnsweredEscalationSQL = `with ended as (update escalations set closed_at = now() where chat_id = $1 and closed_at is null and answered_at is not null returning id)
	select count(*) from ended`

const insertEscalationSQL = `insert into escalations (chat_id, message_id, reason, sources)
	select $1, m.id, $3, $4 from messages m where m.id = $2 for key share on conflict do nothing`

// OpenEscalation stores that a chat needs a person. sources are the messages whose words may be in why. first is true if
// the contact did not wait for a person before.
func OpenEscalation(ctx context.Context, tx Tx, chat ChatID, message MessageID, why string, sources []MessageID) (first bool, err error) {
	var ended int
	if err = tx.QueryRow(ctx, endAnsweredEscalationSQL, chat).Scan(&ended); err != nil {
		return false, fmt.Errorf("end answered escalation: %w", err)
	}
	tag, err := tx.Exec(ctx, insertEscalationSQL, chat, message, text.Storable(why), row.EmptyIfNil(sources))
	if err != nil {
		return false, fmt.Errorf("open escalation: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// A cause stays, but danger replaces any other one: what the contact was told before said nothing of it.
const setEscalationCauseSQL = `update escalations set cause = $2, contact_notified = contact_notified and (cause = 'danger' or $2 <> 'danger')
	where chat_id = $1 and closed_at is null and (cause = '' or $2 = 'danger')`

const isContactNotifiedSQL = "select contact_notified from escalations where chat_id = $1 and closed_at is null for update"

// SetEscalationCause stores why the open escalation of a chat was opened, unless a cause is stored already. Danger replaces
// any other cause. told is true if the contact was told that a person will answer, and of the danger if that is the cause.
func SetEscalationCause(ctx context.Context, tx Tx, chat ChatID, cause policy.Cause) (told bool, err error) {
	if err := row.Exec(ctx, tx, "store the cause of an escalation", setEscalationCauseSQL, chat, cause); err != nil {
		return false, err
	}
	return row.Value[bool](ctx, tx, "read whether the contact was told", isContactNotifiedSQL, chat)
}

const markContactNotifiedSQL = "update escalations set contact_notified = true where chat_id = $1 and closed_at is null"

// MarkContactNotified stores that the contact was told that a person will answer.
func MarkContactNotified(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "note that the contact was told", markContactNotifiedSQL, chat)
}

const countSinceEscalationSQL = `select count(*) from escalations e join messages f on f.id = e.message_id
	join messages m on m.chat_id = e.chat_id and m.ts >= f.ts and m.id > f.id and m.code = $2 where e.chat_id = $1 and e.closed_at is null`

// CountSinceEscalation counts the messages since a chat was escalated that were answered with a code.
func CountSinceEscalation(ctx context.Context, db DB, chat ChatID, code policy.Code) (int, error) {
	return row.Value[int](ctx, db, "count messages that wait", countSinceEscalationSQL, chat, code)
}

const waitingEscalationsSQL = "select " + escalationColumns + fromEscalationsSQL +
	" where e.closed_at is null and e.answered_at is null order by e.opened_at, e.id"

// WaitingEscalations returns the escalations in which a contact waits for a person, the longest waiting first.
func WaitingEscalations(ctx context.Context, db DB) ([]Escalation, error) {
	return row.All[Escalation](ctx, db, "escalations", waitingEscalationsSQL)
}

const unresolvedEscalationsSQL = "select " + escalationColumns + fromEscalationsSQL +
	" where e.closed_at is null order by e.answered_at is not null, e.opened_at, e.id"

// UnresolvedEscalations returns all open escalations: first those in which a contact waits, then those that a person has answered.
func UnresolvedEscalations(ctx context.Context, db DB) ([]Escalation, error) {
	return row.All[Escalation](ctx, db, "escalations", unresolvedEscalationsSQL)
}

const escalationByIDSQL = "select " + escalationColumns + fromEscalationsSQL + " where e.id = $1"

// EscalationByID returns an escalation, or ErrNotFound.
func EscalationByID(ctx context.Context, db DB, escalation EscalationID) (Escalation, error) {
	return row.One[Escalation](ctx, db, "escalation", escalationByIDSQL, escalation)
}

// LockEscalation is EscalationByID for a transaction that changes it. A transaction that also locks the chat must lock the chat first.
func LockEscalation(ctx context.Context, tx Tx, escalation EscalationID) (Escalation, error) {
	return row.One[Escalation](ctx, tx, "escalation", escalationByIDSQL+" for update of e", escalation)
}

const escalationOfChatSQL = "select " + escalationColumns + fromEscalationsSQL + " where e.chat_id = $1 and e.closed_at is null"

// EscalationOfChat returns the open escalation of a chat, or ErrNotFound.
func EscalationOfChat(ctx context.Context, db DB, chat ChatID) (Escalation, error) {
	return row.One[Escalation](ctx, db, "escalation", escalationOfChatSQL, chat)
}

const openEscalationIDsSQL = "select id from escalations where chat_id = any ($1) and closed_at is null order by array_position($1, chat_id)"

// OpenEscalationIDs returns the ids of the open escalations of chats, in the order of the chats. A chat has at most one.
func OpenEscalationIDs(ctx context.Context, db DB, chats []ChatID) ([]EscalationID, error) {
	return row.Values[EscalationID](ctx, db, "open escalations", openEscalationIDsSQL, chats)
}

const escalationByEventSQL = "select " + escalationColumns + fromEscalationsSQL + ` where o.chat_id = $1 and o.event_id = $2
	union all select ` + escalationColumns + fromEscalationsSQL +
	` join escalation_lines l on l.escalation_id = e.id join outbox x on x.id = l.outbox_id
		where x.chat_id = $1 and x.event_id = $2 and l.outbox_id <> e.card_id
	limit 1`

// EscalationByEvent returns the escalation of a card, of a former card (LeaveThread), or of a line in its thread, in a
// room; or ErrNotFound.
func EscalationByEvent(ctx context.Context, db DB, room ChatID, event id.EventID) (Escalation, error) {
	return row.One[Escalation](ctx, db, "escalation", escalationByEventSQL, room, event)
}

const threadRoomsSQL = `with threads as (select id from outbox where event_id = any ($1)),
	shown as (select e.chat_id from threads t join escalations e on e.card_id = t.id
		union select e.chat_id from threads t join escalation_lines l on l.outbox_id = t.id join escalations e on e.id = l.escalation_id)
	select c.room_id from shown s join chats c on c.id = s.chat_id where c.room_id is not null`

// ThreadRooms returns the rooms of the contacts whose escalations have these threads. Each thread is named by its first event.
func ThreadRooms(ctx context.Context, db DB, threads []id.EventID) ([]id.RoomID, error) {
	return row.Values[id.RoomID](ctx, db, "rooms of threads", threadRoomsSQL, threads)
}

const setEscalationCardSQL = "update escalations set card_id = $2, proposals = $3, shown = $4 where id = $1"

// SetEscalationCard stores the card of an escalation, which is the first outbox message of its thread, and what the card shows.
func SetEscalationCard(ctx context.Context, tx Tx, e Escalation) error {
	for i := range e.Proposals {
		e.Proposals[i].Text = text.Storable(e.Proposals[i].Text)
	}
	proposals, err := json.Marshal(row.EmptyIfNil(e.Proposals))
	if err != nil {
		return fmt.Errorf("write the proposals of an escalation: %w", err)
	}
	return row.Exec(ctx, tx, "note the card of an escalation", setEscalationCardSQL, e.ID, e.CardID, proposals, e.CardStatus)
}

const setEscalationShownSQL = "update escalations set shown = $2 where id = $1"

// SetEscalationShown stores the line about the escalation's state that the card shows.
func SetEscalationShown(ctx context.Context, tx Tx, escalation EscalationID, line string) error {
	return row.Exec(ctx, tx, "note what a card shows", setEscalationShownSQL, escalation, line)
}

const claimEscalationSQL = "update escalations set claimed_by = $2, claimed_at = $3 where id = $1 and closed_at is null"

// ClaimEscalation stores that a person will answer an escalation. It reports whether the escalation is open.
func ClaimEscalation(ctx context.Context, tx Tx, escalation EscalationID, by id.UserID, at time.Time) (bool, error) {
	return changedOne(ctx, tx, "claim escalation", claimEscalationSQL, escalation, by, at)
}

const answerEscalationSQL = `update escalations set answered_at = now(), claimed_by = case when claimed_by = '' then @by else claimed_by end, claimed_at = coalesce(claimed_at, now())
	where chat_id = @chat and closed_at is null and answered_at is null and (@any or opened_at < @at) returning id`

// AnswerEscalation stores that a person wrote to a contact at a time; zero means now. It returns the escalation in which
// the contact waited; none if the contact did not wait.
func AnswerEscalation(ctx context.Context, tx Tx, chat ChatID, by id.UserID, at time.Time) ([]EscalationID, error) {
	return row.Values[EscalationID](ctx, tx, "answer escalation", answerEscalationSQL,
		pgx.NamedArgs{"chat": chat, "by": by, "at": at, "any": at.IsZero()})
}

const markWaitingAgainSQL = "update escalations set answered_at = null, claimed_by = '', claimed_at = null, paged = 0, opened_at = $2 where id = $1 and closed_at is null"

// MarkWaitingAgain stores that a contact waits again from a time on, because the person who answered left the last
// message without an answer.
func MarkWaitingAgain(ctx context.Context, tx Tx, escalation EscalationID, at time.Time) error {
	return row.Exec(ctx, tx, "wait again", markWaitingAgainSQL, escalation, at)
}

const pickProposalSQL = "update escalations set picked = $2 where id = $1 and picked = 0"

// PickProposal stores that the proposal with a number is sent. It reports false if one was sent before.
func PickProposal(ctx context.Context, tx Tx, escalation EscalationID, number int) (bool, error) {
	return changedOne(ctx, tx, "pick a proposal", pickProposalSQL, escalation, number)
}

const setPageCountSQL = "update escalations set paged = $2 where id = $1"

// SetPageCount stores how often people were called for an escalation.
func SetPageCount(ctx context.Context, tx Tx, escalation EscalationID, paged int) error {
	return row.Exec(ctx, tx, "note who was called", setPageCountSQL, escalation, paged)
}

const resolveEscalationSQL = "update escalations set closed_at = now(), closed_by = $2 where id = $1 and closed_at is null"

// ResolveEscalation closes an escalation. by is empty if it ends by itself. It reports whether it was open.
func ResolveEscalation(ctx context.Context, tx Tx, escalation EscalationID, by id.UserID) (bool, error) {
	return changedOne(ctx, tx, "resolve escalation", resolveEscalationSQL, escalation, by)
}

const reopenEscalationSQL = `update escalations e set closed_at = null, answered_at = coalesce(answered_at, now()) where id = $1 and closed_by = ''
	and not exists (select from escalations n where n.chat_id = e.chat_id and n.id > e.id)`

// ReopenEscalation reopens an escalation that ended by itself (ClosedBy is empty), if the chat has no newer one. It reports whether it did.
func ReopenEscalation(ctx context.Context, tx Tx, escalation EscalationID) (bool, error) {
	return changedOne(ctx, tx, "reopen escalation", reopenEscalationSQL, escalation)
}

// changedOne executes a statement and reports whether it changed a row.
func changedOne(ctx context.Context, tx Tx, what, sql string, args ...any) (bool, error) {
	n, err := row.Changed(ctx, tx, what, sql, args...)
	return n == 1, err
}
