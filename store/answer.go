package store

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store/row"
)

// CannedAnswer is an answer that the owner wrote for a question of contacts.
type CannedAnswer struct {
	ID       int64
	Question string
	Answer   string // with variables such as {name}
}

const cannedAnswersSQL = "select id, question, answer from canned_answers order by id"

// CannedAnswers returns all canned answers, in their order.
func CannedAnswers(ctx context.Context, db DB) ([]CannedAnswer, error) {
	return row.All[CannedAnswer](ctx, db, "canned answers", cannedAnswersSQL)
}

const cannedAnswerByIDSQL = "select id, question, answer from canned_answers where id = $1"

// CannedAnswerByID returns a canned answer, or ErrNotFound.
func CannedAnswerByID(ctx context.Context, db DB, answer int64) (CannedAnswer, error) {
	return row.One[CannedAnswer](ctx, db, "canned answer", cannedAnswerByIDSQL, answer)
}

const addCannedAnswerSQL = "insert into canned_answers (question, answer) values ($1, $2) returning id"

// AddCannedAnswer stores a canned answer and returns its number.
func AddCannedAnswer(ctx context.Context, tx Tx, question, answer string) (int64, error) {
	return row.Value[int64](ctx, tx, "add canned answer", addCannedAnswerSQL, question, answer)
}

const removeCannedAnswerSQL = "delete from canned_answers where id = $1"

// RemoveCannedAnswer deletes a canned answer. It returns false if there is none.
func RemoveCannedAnswer(ctx context.Context, tx Tx, answer int64) (bool, error) {
	n, err := row.Changed(ctx, tx, "remove canned answer", removeCannedAnswerSQL, answer)
	return n > 0, err
}

// LearnedAnswer is an answer of a person that the owner added to his documents.
type LearnedAnswer struct {
	ID         int64
	Question   string
	Answer     string
	Role       policy.Role // policy.RolePublic or policy.RoleAdmin
	Person     id.UserID   // empty if it is not known
	AnsweredAt time.Time
	// CorrectsOrigin is the origin of the public document that the answer corrects, and CorrectsQuote the corrected sentence
	// in it. Both are empty if it corrects none.
	CorrectsOrigin string
	CorrectsQuote  string
}

const learnedColumns = "l.id, l.question, l.answer, l.role, l.person, l.answered_at, l.corrects_origin, l.corrects_quote"

const learnedAnswersSQL = "select " + learnedColumns + " from learned_answers l order by l.id"

// LearnedAnswers returns all learned answers, in their order.
func LearnedAnswers(ctx context.Context, db DB) ([]LearnedAnswer, error) {
	return row.All[LearnedAnswer](ctx, db, "learned answers", learnedAnswersSQL)
}

const addLearnedAnswerSQL = "insert into learned_answers (question, answer, role, person, answered_at, corrects_origin, corrects_quote) values ($1, $2, $3, $4, $5, $6, $7)"

const updateLearnedAnswerSQL = "update learned_answers set answer = $2, role = $3, person = $4, answered_at = $5, corrects_origin = $6, corrects_quote = $7 where id = $1"

// PutLearnedAnswer stores a learned answer: a new one if its id is zero, else in place of the one with that id.
func PutLearnedAnswer(ctx context.Context, tx Tx, a LearnedAnswer) error {
	if a.ID == 0 {
		return row.Exec(ctx, tx, "add learned answer", addLearnedAnswerSQL, a.Question, a.Answer, a.Role, a.Person, a.AnsweredAt,
			a.CorrectsOrigin, a.CorrectsQuote)
	}
	return row.Exec(ctx, tx, "change learned answer", updateLearnedAnswerSQL, a.ID, a.Answer, a.Role, a.Person, a.AnsweredAt, a.CorrectsOrigin,
		a.CorrectsQuote)
}

// UnansweredState is what became of an unanswered question.
type UnansweredState string

// The states of unanswered_questions.
const (
	UnansweredOpen     UnansweredState = "open"     // the owner is asked
	UnansweredAccepted UnansweredState = "accepted" // the answer is a LearnedAnswer
	UnansweredDeclined UnansweredState = "declined" // the owner does not want it in his documents
	// nothing to decide: the answer is known, or no document was missing, or he declined the same before.
	UnansweredNotAsked UnansweredState = "not_asked"
)

// UnansweredQuestion is a question that multis could not answer, or that a person answered by himself, with the person's answer.
type UnansweredQuestion struct {
	ID           int64
	EscalationID *int64     // nil for a question that was not escalated
	QuestionID   *MessageID // the last message of a question that was not escalated; else nil
	ChatID       ChatID
	MessageIDs   []MessageID // the messages whose words are in Question or Answer
	Edits        int         `db:"-"` // how often these had been edited when they were read
	Question     string
	Answer       string
	Person       id.UserID // who answered; empty if it is not known
	AnsweredAt   time.Time
	State        UnansweredState
	Contradicts  *int64 `db:"changes"` // the learned answer that Answer contradicts; nil for none
	// CorrectsOrigin is the origin of the public document that Answer contradicts, and CorrectsQuote the sentence in it.
	// Both are empty for none.
	CorrectsOrigin string
	CorrectsQuote  string
}

const unansweredColumns = "g.id, g.escalation_id, g.question_id, g.chat_id, g.message_ids, g.question, g.answer, g.person, g.answered_at, g.state, g.changes, g.corrects_origin, g.corrects_quote"

const openOrDeclinedQuestionsSQL = "select " + unansweredColumns +
	" from unanswered_questions g where g.state in ('open', 'declined') and g.question <> '' order by g.id desc limit 500"

// OpenOrDeclinedQuestions returns up to 500 unanswered questions of these states, the newest first. Questions without a text are left out.
func OpenOrDeclinedQuestions(ctx context.Context, db DB) ([]UnansweredQuestion, error) {
	return row.All[UnansweredQuestion](ctx, db, "unanswered_questions", openOrDeclinedQuestionsSQL)
}

const addUnansweredSQL = `insert into unanswered_questions (escalation_id, chat_id, message_ids, question, answer, person, answered_at, state, changes, corrects_origin, corrects_quote, question_id)
	select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 where not exists (select from unnest($3::bigint[]) m(id) where not exists (select from messages x where x.id = m.id and x.redacted_at is null))
		and (select coalesce(sum(edits), 0) from messages where id = any ($3)) = $13
		and not exists (select from outbox o where o.quotes && $3 and o.quotes <> '{}' and o.send_as = 'owner' and o.content = '{}')
	on conflict do nothing returning id`

// AddUnanswered stores an unanswered question and returns its id. It returns false if the escalation or the message has
// one already, or if one of its messages was edited, deleted or taken back since it was read. A change that comes from
// here on waits, and finds the question.
func AddUnanswered(ctx context.Context, tx Tx, g UnansweredQuestion) (int64, bool, error) {
	if _, err := LockChatShared(ctx, tx, g.ChatID); err != nil { // before the messages, in the order of the inbox
		return 0, false, err
	}
	if _, err := LockMessages(ctx, tx, g.MessageIDs); err != nil {
		return 0, false, err
	}
	added, err := row.Value[int64](ctx, tx, "add unanswered question", addUnansweredSQL, g.EscalationID, g.ChatID,
		row.EmptyIfNil(g.MessageIDs), g.Question, g.Answer, g.Person, g.AnsweredAt, g.State, g.Contradicts, g.CorrectsOrigin, g.CorrectsQuote,
		g.QuestionID, g.Edits)
	if errors.Is(err, ErrNotFound) {
		return 0, false, nil
	}
	return added, err == nil, err
}

const lockUnansweredSQL = "select " + unansweredColumns + " from unanswered_questions g where g.id = $1 and g.state = 'open' for update"

// LockUnanswered returns an unanswered question that the owner has not decided about, locked until the end of the
// transaction; or ErrNotFound.
func LockUnanswered(ctx context.Context, tx Tx, question int64) (UnansweredQuestion, error) {
	return row.One[UnansweredQuestion](ctx, tx, "unanswered question", lockUnansweredSQL, question)
}

const setUnansweredAnswerSQL = "update unanswered_questions set answer = $2 where id = $1 and state = 'open'"

// SetUnansweredAnswer replaces the proposed answer of an unanswered question that the owner has not decided about.
func SetUnansweredAnswer(ctx context.Context, tx Tx, question int64, answer string) error {
	return row.Exec(ctx, tx, "set an answer", setUnansweredAnswerSQL, question, answer)
}

const forgetUnansweredSQL = "delete from unanswered_questions where (state = 'open' or state = 'known' and question_id is not null) and message_ids && array[$1::bigint]"

// forgetUnanswered deletes the unanswered question that rests on a message whose text has changed, unless the owner has
// decided about it. The next search for unanswered questions finds it again, with the new text.
func forgetUnanswered(ctx context.Context, tx Tx, message MessageID) error {
	return row.Exec(ctx, tx, "forget an unanswered question", forgetUnansweredSQL, message)
}

const decideUnansweredSQL = `update unanswered_questions set state = $2, answer = '', question = case $2 when 'declined' then question else '' end,
	corrects_quote = case $2 when 'declined' then corrects_quote else '' end where id = $1`

// DecideUnanswered stores what the owner decided. The question of a declined one is kept, so that he is not asked again.
func DecideUnanswered(ctx context.Context, tx Tx, question int64, state UnansweredState) error {
	return row.Exec(ctx, tx, "decide about an unanswered question", decideUnansweredSQL, question, state)
}

// EscalatedQuestion is an escalation with the question of the contact.
type EscalatedQuestion struct {
	EscalationID int64
	ChatID       ChatID
	ChatName     string
	MessageID    MessageID
	Question     string
	Edits        int // of the message with the question
	AskedAt      time.Time
	Cause        policy.Cause
}

const escalatedQuestionsSQL = `select e.id as escalation_id, e.chat_id, c.name as chat_name, q.id as message_id, q.body as question, q.edits, q.ts as asked_at, e.cause
	from escalations e join messages q on q.id = e.message_id and q.redacted_at is null and q.body <> '' and q.kind = 'text' join chats c on c.id = e.chat_id and c.kind = 'dm'
	where e.opened_at > $1 and e.cause <> '' and not exists (select from unanswered_questions g where g.escalation_id = e.id)
		and (exists (select from messages m where m.chat_id = e.chat_id and m.ts >= q.ts and m.author in ('owner_client', 'owner_phone', 'operator') and m.kind = 'text')
			or exists (select from outbox o where o.chat_id = e.chat_id and o.sent_at >= q.ts and o.purpose in ('draft', 'operator')))
	order by e.id limit 100`

// EscalatedQuestions returns the questions that were escalated since a time, that a person has replied to, and that are
// not stored as unanswered questions yet.
func EscalatedQuestions(ctx context.Context, db DB, since time.Time) ([]EscalatedQuestion, error) {
	return row.All[EscalatedQuestion](ctx, db, "escalated questions", escalatedQuestionsSQL, since)
}

const hasEscalatedQuestionsSQL = "select exists (" + escalatedQuestionsSQL + ")"

// HasEscalatedQuestions reports whether EscalatedQuestions would return any.
func HasEscalatedQuestions(ctx context.Context, db DB, since time.Time) (bool, error) {
	return row.Value[bool](ctx, db, "escalated questions", hasEscalatedQuestionsSQL, since)
}

// RepliedQuestion is the last message of a contact's before a person wrote.
type RepliedQuestion struct {
	ChatID    ChatID
	MessageID MessageID
	Edits     int // of the message
	AskedAt   time.Time
	Escalated []MessageID // the messages of the chat's escalations
}

// repliedQuestionsSQL takes the lines of people from the same places as linesByPeopleSQL. Of the contacts it takes what
// the assistant might have answered, whoever was there.
const repliedQuestionsSQL = `with active as (select c.id from chats c where c.kind = 'dm' and c.last_message_at > $1),
	lines as (
		select m.chat_id, m.id, m.edits, m.author <> 'contact' as person, m.ts as at, m.id as seq, m.action in ('answer', 'escalate') or m.code in ('owner_active', 'paused_chat', 'paused_all') as counts
			from active a join messages m on m.chat_id = a.id and m.ts > $1
			where m.author in ('contact', 'owner_client', 'owner_phone', 'operator') and m.kind = 'text' and m.redacted_at is null and m.body <> ''
		union all
		select o.chat_id, 0, 0, true, o.sent_at, o.seq, false from active a join outbox o on o.chat_id = a.id and o.sent_at > $1
			where o.purpose in ('draft', 'operator') and o.citations = '[]' and o.replaces = '' and o.state in ('sent', 'delivered') and o.content->>'body' <> ''
				and not exists (select from messages m where m.outbox_id = o.id)
	), turns as (select l.*, lead(l.person) over (partition by l.chat_id order by l.at, l.seq) as answered from lines l)
	select t.chat_id, t.id as message_id, t.edits, t.at as asked_at, array(select e.message_id from escalations e where e.chat_id = t.chat_id and e.message_id is not null) as escalated
	from turns t where not t.person and t.counts and t.answered and not exists (select from unanswered_questions g where g.question_id = t.id)
		and not exists (select from escalations e where e.chat_id = t.chat_id and e.message_id = t.id) order by t.id limit 100`

// RepliedQuestions returns the messages since a time after which a person wrote and that are not stored as unanswered questions yet.
func RepliedQuestions(ctx context.Context, db DB, since time.Time) ([]RepliedQuestion, error) {
	return row.All[RepliedQuestion](ctx, db, "questions that people answered", repliedQuestionsSQL, since)
}

const hasRepliedQuestionsSQL = "select exists (" + repliedQuestionsSQL + ")"

// HasRepliedQuestions reports whether RepliedQuestions would return any.
func HasRepliedQuestions(ctx context.Context, db DB, since time.Time) (bool, error) {
	return row.Value[bool](ctx, db, "questions that people answered", hasRepliedQuestionsSQL, since)
}

// ChatLine is a message in a chat by the contact, the owner or an operator.
type ChatLine struct {
	MessageID MessageID // 0 for a message that was sent from a thread
	Person    bool      // whether the owner or an operator wrote it
	Sender    id.UserID // empty if it is not known
	Body      string
	Edits     int // of the message
	At        time.Time
}

// linesByPeopleSQL has two parts: the messages of the chat that people wrote, and what people sent to the contact from a
// thread. The second part reads the outbox messages without citations that answer no message of the chat, in their newest
// edited version, also if that did not reach the contact: it is what the person says now. Of a message that was edited in
// a way that no edit could be made of, the text is empty and left out. message_id is the message in the thread.
const linesByPeopleSQL = `select message_id, person, sender, body, edits, at from (
		select m.id as message_id, m.author <> 'contact' as person, m.sender, m.body, m.edits, m.ts as at, m.id as seq from messages m
			where m.chat_id = $1 and m.author in ('contact', 'owner_client', 'owner_phone', 'operator') and m.kind = 'text' and m.redacted_at is null and m.body <> '' and m.id <> $3
		union all
		select coalesce(w.id, 0), true, coalesce(w.sender, ''), coalesce((select e.content->'m.new_content'->>'body' from outbox e
				where e.chat_id = $1 and e.replaces = o.event_id order by e.seq desc limit 1), case when w.edited_at is null or btrim(w.body) = btrim(o.content->>'body') then o.content->>'body' end), coalesce(w.edits, 0), o.sent_at, o.seq
			from outbox o left join messages w on w.id = any (o.quotes) and w.chat_id <> o.chat_id
			where o.chat_id = $1 and o.purpose in ('draft', 'operator') and o.citations = '[]' and o.replaces = ''
				and o.state in ('sent', 'delivered') and o.content->>'body' <> '' and not exists (select from messages m where m.outbox_id = o.id)
	) l where at >= $2 and body <> '' order by at, seq limit 50`

const unsentEditsSQL = `select o.content->>'body' from outbox o where o.chat_id = $1 and o.quotes && $2 and o.purpose in ('draft', 'operator') and o.replaces = '' and o.state in ('sent', 'delivered')
	and (select e.state from outbox e where e.chat_id = $1 and e.replaces = o.event_id order by e.seq desc limit 1) in ('dropped', 'failed') order by o.seq`

// UnsentEdits returns what a contact still has of the messages in a thread whose edits did not reach him.
func UnsentEdits(ctx context.Context, db DB, chat ChatID, messages []MessageID) ([]string, error) {
	return row.Values[string](ctx, db, "edits that were not sent", unsentEditsSQL, chat, row.EmptyIfNil(messages))
}

// LinesByPeople returns what the contacts, the owner and operators wrote in a chat from a time on: at most the first 50
// messages, without the message excluded.
func LinesByPeople(ctx context.Context, db DB, chat ChatID, from time.Time, excluded MessageID) ([]ChatLine, error) {
	return row.All[ChatLine](ctx, db, "what was said", linesByPeopleSQL, chat, from, excluded)
}
