package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/index"
	"multis/store/row"
)

const lockDraftSQL = "select " + outboxColumns +
	" from outbox o where (o.id = $1 or o.part_of = $1) and o.state = 'draft' order by o.seq for update"

// LockDraft returns the rows of a draft by its first row, locked until the end of the transaction. It returns none if the draft was
// decided before.
func LockDraft(ctx context.Context, tx Tx, first uuid.UUID) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, tx, "draft", lockDraftSQL, first)
}

const queueDraftSQL = `update outbox o set state = 'queued', drafted_as = case purpose when $2 then '' else purpose end, purpose = $2, code = $3, reason = $4, created_at = now(),
		seen_id = case when seen_id > 0 and purpose = $5 then greatest(seen_id, (select max(m.id) from messages m where m.chat_id = o.chat_id)) else seen_id end
	where (id = $1 or part_of = $1) and state = 'draft'`

// QueueDraft queues a draft for sending, as if it had been written now, with the gate's decision. A draft that only
// says that a person will answer counts as having seen all messages until now, because later messages do not withdraw it.
func QueueDraft(ctx context.Context, tx Tx, first uuid.UUID, purpose policy.Purpose, code policy.Code, why string) error {
	return row.Exec(ctx, tx, "queue draft", queueDraftSQL, first, purpose, code, why, policy.PurposeEscalation)
}

const makeDraftSQL = `update outbox set state = 'draft', created_at = now()
	where (id = $1 or part_of = $1) and state = 'queued' and not exists (select from outbox p where p.part_of = $1 and p.state not in ('queued', 'draft'))`

// MakeDraft makes a queued message wait for the owner's approval. It returns false if a part of it is not queued any more.
func MakeDraft(ctx context.Context, tx Tx, first uuid.UUID) (bool, error) {
	n, err := row.Changed(ctx, tx, "make a draft", makeDraftSQL, first)
	return n > 0, err
}

const openDraftsSQL = "select " + outboxColumns +
	` from outbox o where o.state = 'draft' and coalesce(o.part_of = o.id, true) and o.content <> '{}'
	and o.seq > $1 order by o.seq limit $2`

// OpenDrafts returns the first row of each open draft with a sequence number above after, the oldest first.
func OpenDrafts(ctx context.Context, db DB, after int64, limit int) ([]OutboxMessage, error) {
	return row.All[OutboxMessage](ctx, db, "drafts", openDraftsSQL, after, limit)
}

const draftDialogSQL = "select " + dialogColumns + " from dialogs d where d.kind = $1 and d.draft_id = $2 order by d.id desc limit 1"

// DraftDialog returns the newest dialog of a kind about a draft, or ErrNotFound if the owner was not asked yet. first is the
// id of the draft's first outbox row.
func DraftDialog(ctx context.Context, db DB, kind string, first uuid.UUID) (Dialog, error) {
	return row.One[Dialog](ctx, db, "question about a draft", draftDialogSQL, kind, first)
}

const (
	moveAnswersSQL   = "update messages set outbox_id = $2 where outbox_id = $1 and chat_id = (select chat_id from outbox where id = $1)"
	moveExecutionSQL = "update schedule_executions set outbox_id = $2 where outbox_id = $1"
	moveRatingSQL    = "update ratings set outbox_id = $2 where outbox_id = $1"
	copyOriginSQL    = "update outbox o set drafted_as = d.drafted_as from outbox d where d.id = $1 and o.id = $2"
)

// ReplaceDraft moves the references to the draft oldID to the outbox message newID: those of the messages that it
// answers, of the execution that made it, and of the rating that it asks for. What the draft was made for, if the owner
// approved it as it stood, is copied.
func ReplaceDraft(ctx context.Context, tx Tx, oldID, newID uuid.UUID) error {
	if err := row.Exec(ctx, tx, "move what is answered", moveAnswersSQL, oldID, newID); err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "move the execution of a draft", moveExecutionSQL, oldID, newID); err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "move a rating", moveRatingSQL, oldID, newID); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "copy what a draft was made for", copyOriginSQL, oldID, newID)
}

const lockAnswerDraftsSQL = `select o.id from outbox o where o.chat_id = $1 and o.state = 'draft' and o.seen_id > 0 and o.purpose <> $2
	and coalesce(o.part_of = o.id, true) order by o.seq for update`

// LockAnswerDrafts returns the first row of each open draft of an answer in a chat, locked until the end of the
// transaction. Drafts that only say that a person will answer are left out.
func LockAnswerDrafts(ctx context.Context, tx Tx, chat ChatID) ([]uuid.UUID, error) {
	return row.Values[uuid.UUID](ctx, tx, "drafts of answers", lockAnswerDraftsSQL, chat, policy.PurposeEscalation)
}

const markWaitingAnsweredSQL = `update messages set answered_at = now(), outbox_id = $2 where chat_id = $1 and answered_at is null and action in ('answer', 'escalate')`

// MarkWaitingAnswered marks all messages of a chat that wait for a turn as answered by an outbox message.
func MarkWaitingAnswered(ctx context.Context, tx Tx, chat ChatID, out uuid.UUID) error {
	return row.Exec(ctx, tx, "answer what waits", markWaitingAnsweredSQL, chat, out)
}

// SeenState is what an answer has seen of its chat. The answer is outdated if a newer message, an edit, a deletion or a
// person's own reply came after that.
type SeenState struct {
	Newest      MessageID // 0 for none
	ChangeCount int       `db:"changes"` // how often messages of the last days were edited or deleted
}

const currentSeenSQL = `select coalesce((select id from messages where chat_id = $1 order by id desc limit 1), 0) as newest,
	(select coalesce(sum(edits + (redacted_at is not null)::int), 0)::int from messages where chat_id = $1 and ts > now() - interval '2 days') as changes`

// CurrentSeen returns the present state of a chat, which an answer that begins now has seen.
func CurrentSeen(ctx context.Context, db DB, chat ChatID) (SeenState, error) {
	return row.One[SeenState](ctx, db, "state of a chat", currentSeenSQL, chat)
}

// IsOutdated reports whether a chat has changed since an answer saw it.
func IsOutdated(ctx context.Context, db DB, chat ChatID, seen SeenState) (bool, error) {
	newer, err := HasNewerMessage(ctx, db, chat, seen.Newest)
	if err != nil {
		return newer, err
	}
	if newer {
		return newer, nil
	}
	now, err := CurrentSeen(ctx, db, chat)
	return now.ChangeCount != seen.ChangeCount, err
}

const hasNewerMessageSQL = `select exists (select from messages where chat_id = $1 and id > $2
	and author not in ('multis_owner', 'multis_bot', 'bridge_bot') and kind <> 'reaction' and code <> 'backfill')`

// HasNewerMessage reports whether a person wrote in a chat after a message.
func HasNewerMessage(ctx context.Context, db DB, chat ChatID, seen MessageID) (bool, error) {
	return row.Value[bool](ctx, db, "newer messages", hasNewerMessageSQL, chat, seen)
}

const withdrawDraftSQL = "select withdraw_drafts($1, $2, $3, $4, true)"

// WithdrawDraft withdraws the draft of an answer by its first row. The messages that it answers wait for a turn again.
func WithdrawDraft(ctx context.Context, tx Tx, chat ChatID, first uuid.UUID, code policy.Code) error {
	return row.Exec(ctx, tx, "withdraw draft", withdrawDraftSQL, chat, first, code, code.Sentence())
}

const setDraftFeedbackSQL = "update outbox set feedback_id = $2 where id = $1"

// SetDraftFeedback links a withdrawn draft to the message in which the owner said what the next draft must change.
func SetDraftFeedback(ctx context.Context, tx Tx, first uuid.UUID, message MessageID) error {
	return row.Exec(ctx, tx, "store what is wrong with a draft", setDraftFeedbackSQL, first, message)
}

// RefusedDraft is a draft that the owner refused with feedback.
type RefusedDraft struct {
	Draft    string // its text; empty if it was deleted
	Feedback string // the owner's message
	Message  MessageID
}

const refusedDraftsSQL = `select coalesce(o.content->>'body', '') as draft, m.body as feedback, m.id as message
	from outbox o join messages m on m.id = o.feedback_id and m.redacted_at is null and m.body <> ''
	where o.chat_id = $1 and o.feedback_id is not null and o.code = 'draft_refused' and o.seen_id >= $2 order by o.seq desc limit 3`

// RefusedDrafts returns the last drafts of an answer that the owner refused with feedback, the newest first. The answer
// is to the messages from first on.
func RefusedDrafts(ctx context.Context, db DB, chat ChatID, first MessageID) ([]RefusedDraft, error) {
	return row.All[RefusedDraft](ctx, db, "refused drafts", refusedDraftsSQL, chat, first)
}

// PendingWork is what is left to do in a chat after a message was added, changed or deleted there: close the card of a
// withdrawn draft, withdraw the message of a schedule, or, without both, answer the waiting messages.
type PendingWork struct {
	ChatID     ChatID
	DraftID    *uuid.UUID  // a withdrawn draft whose card is open
	ScheduleID *ScheduleID // a schedule whose message is not sent because the contact wrote first
}

// pendingWorkSQL selects chats with unanswered messages, unless a turn is queued, because that turn will answer them all.
// It also selects the withdrawn drafts whose cards still show them as open, and the schedules that wait unless the contact
// writes, who has. It looks at one waiting message of a chat, however many there are, and at the open cards only.
const pendingWorkSQL = `select c.id as chat_id, null::uuid as draft_id, null::bigint as schedule_id from generate_subscripts($1::bigint[], 1) n, lateral (select ($1::bigint[])[n] as id) c,
		lateral (select from messages m where m.chat_id = c.id and m.answered_at is null and m.action in ('answer', 'escalate') limit 1) waiting
		where not exists (select from river.river_job where kind = 'turn' and args->>'chat' = c.id::text and state in ('available', 'retryable', 'scheduled'))
	union all select o.chat_id, o.id, null from dialogs card join outbox o on o.id = card.draft_id
		where card.kind = 'draft' and card.done_at is null and o.chat_id = any ($1) and ` + withdrawnCardSQL + `
	union all select s.chat_id, null, s.id from schedules s where s.chat_id = any ($1) and s.unless_reply and s.next_at is not null and s.paused_at is null
		and exists (select from messages m where m.chat_id = s.chat_id and m.received_at > s.created_at and ` + isReplySQL + ")"

// withdrawnCardSQL is the condition that o is a withdrawn draft whose card still shows it as open.
const withdrawnCardSQL = `o.seen_id > 0 and o.state = 'dropped' and o.code in ('draft_outdated', 'draft_answered', 'draft_mode', 'draft_source', 'draft_refused', 'draft_late')
	and exists (select from dialogs d where d.draft_id = o.id and d.kind = 'draft' and d.done_at is null)`

// PendingWorkOf returns what is left to do in chats in which a message was added, changed or deleted.
func PendingWorkOf(ctx context.Context, db DB, chats []ChatID) ([]PendingWork, error) {
	return row.All[PendingWork](ctx, db, "what is left to do in chats", pendingWorkSQL, chats)
}

// DraftCard is the message in the admin room that shows the drafts of a chat, with the draft that it showed last.
type DraftCard struct {
	Dialog    int64
	DraftID   uuid.UUID
	State     OutboxState // of that draft
	Code      policy.Code
	ExpiresAt time.Time
	Root      id.EventID  // the event of the card; empty while it is not sent, and once it is deleted, because clients show no edit of it then
	CardState OutboxState // of the message that showed the draft: the card's, or that of its last edit
}

// draftCardSQL reads the newest answers only: a card is never older than the drafts that it shows.
const draftCardSQL = `select d.id as dialog, o.id as draft_id, o.state, o.code, d.expires_at,
		case when r.content = '{}' then '' else coalesce(nullif(c.replaces, ''), c.event_id, '') end as root, c.state as card_state
	from (select * from outbox where chat_id = $1 and seen_id > 0 order by seq desc limit 50) o
	join dialogs d on d.draft_id = o.id and d.kind = 'draft' join outbox c on c.id = d.outbox_id
	left join outbox r on r.event_id = coalesce(nullif(c.replaces, ''), c.event_id) order by d.id desc limit 1`

// DraftCardOf returns the newest card of a chat, or ErrNotFound.
func DraftCardOf(ctx context.Context, db DB, chat ChatID) (DraftCard, error) {
	return row.One[DraftCard](ctx, db, "card of a draft", draftCardSQL, chat)
}

// AreCitationsCurrent reports whether a text that was made from citations may still be sent: their passages exist and are
// public, and no learned answer corrects the quotes, or what the text says. A passage never changes: a document that is
// changed gets new ones.
func AreCitationsCurrent(ctx context.Context, tx Tx, said string, citations []Citation) (bool, error) {
	outdated, err := outdatedTexts(ctx, tx, []citingText{{said, citations}})
	return len(outdated) == 0, err
}

// WithOutdatedCitations returns those of the messages, by their first rows, that may no longer be sent because of their
// citations (AreCitationsCurrent).
func WithOutdatedCitations(ctx context.Context, tx Tx, messages []OutboxMessage) ([]OutboxMessage, error) {
	said, err := wholeTexts(ctx, tx, messages)
	if err != nil {
		return nil, err
	}
	texts := make([]citingText, len(messages))
	for i, o := range messages {
		texts[i] = citingText{said[o.ID], o.Citations}
	}
	outdated, err := outdatedTexts(ctx, tx, texts)
	found := make([]OutboxMessage, len(outdated))
	for i, at := range outdated {
		found[i] = messages[at]
	}
	return found, err
}

// citingText is a text with the citations that it was made from.
type citingText struct {
	said      string
	citations []Citation
}

// outdatedTexts returns the indexes of the texts whose citations are not current (AreCitationsCurrent).
func outdatedTexts(ctx context.Context, tx Tx, texts []citingText) (outdated []int, _ error) {
	var ids []ChunkID
	for _, t := range texts {
		for _, c := range t.citations {
			if chunk, ok := c.Ref.Chunk(); ok {
				ids = append(ids, chunk)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	corrections, err := Corrections(ctx, tx)
	if err != nil {
		return nil, err
	}
	before, err := row.Value[string](ctx, tx, "scope", "select coalesce(current_setting('multis.scope', true), '')")
	if err != nil {
		return nil, err
	}
	found, err := index.PublicChunks(ctx, tx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	passages := make(map[int64]index.ChunkText, len(found))
	for _, c := range found {
		passages[c.ID] = c
	}
	for i, t := range texts {
		if !t.isCurrent(passages, corrections) {
			outdated = append(outdated, i)
		}
	}
	return outdated, row.SetScopeSetting(ctx, tx, before)
}

// isCurrent reports whether passages, by their ids, has those of all citations, and no correction covers a quote or is
// about what the text says.
func (t citingText) isCurrent(passages map[int64]index.ChunkText, corrections []Correction) bool {
	var cited []index.ChunkText
	for _, c := range t.citations {
		if !c.isCurrent(passages, corrections) {
			return false
		}
		if chunk, ok := c.Ref.Chunk(); ok {
			cited = append(cited, passages[int64(chunk)])
		}
	}
	_, isCorrected := OnlySource(t.said, cited, corrections)
	return !isCorrected
}

// isCurrent reports whether passages, by their ids, has the passage of a citation, and no correction covers its quote. A
// citation of a message is always current.
func (c Citation) isCurrent(passages map[int64]index.ChunkText, corrections []Correction) bool {
	chunk, ok := c.Ref.Chunk()
	if !ok {
		return true
	}
	passage, found := passages[int64(chunk)]
	return found && !slices.ContainsFunc(corrections, func(by Correction) bool {
		covers, _ := by.Covers(DocumentID(passage.DocID), passage.Content, c.Quote)
		return covers
	})
}

const requeueSQL = "update outbox set state = 'queued', error = '', created_at = now() where id = $1 and state = 'failed' and event_id is null and content <> '{}'"

// Requeue queues a failed message again, with the same key, so that the homeserver cannot send it twice. It returns false
// if the homeserver had accepted it, or if it did not fail.
func Requeue(ctx context.Context, tx Tx, out uuid.UUID) (bool, error) {
	n, err := row.Changed(ctx, tx, "queue again", requeueSQL, out)
	return n == 1, err
}

const setExecutionOutcomeSQL = "update schedule_executions set state = $2, note = $3 where outbox_id = $1"

// SetExecutionOutcome sets the state and the note of the execution whose message is the outbox message out.
func SetExecutionOutcome(ctx context.Context, tx Tx, out uuid.UUID, state ExecutionState, note string) error {
	return row.Exec(ctx, tx, "note what became of a run", setExecutionOutcomeSQL, out, state, note)
}
