package store

import (
	"context"
	"strings"
	"time"

	"multis/policy"
	"multis/store/row"
)

// Rehearsal is what customers would get today for what they asked before, where it differs. What they asked and got then is read by the
// ids, so that what is deleted is gone here, too.
type Rehearsal struct {
	At        time.Time
	Days      int // how far back the questions go
	Asked     int // questions that were asked again
	Different []RehearsedAnswer
}

// RehearsedAnswer is an answer that would be another one today.
type RehearsedAnswer struct {
	Message MessageID
	Kind    DifferenceKind
	Said    string   // what a customer would get; empty if a person would answer
	Why     string   // why a person would answer
	Sources []string // what the answer is based on
}

// DifferenceKind says how an answer differs from the one that was sent.
type DifferenceKind string

// DifferenceKinds are the kinds, in the order in which they are shown.
var DifferenceKinds = [...]DifferenceKind{OtherNumber, OtherSource, NowEscalated, NowAnswered} //nolint:gochecknoglobals // a constant

// The kinds.
const (
	OtherNumber  DifferenceKind = "number"
	OtherSource  DifferenceKind = "source"
	NowEscalated DifferenceKind = "escalated"
	NowAnswered  DifferenceKind = "answered"
)

// Title returns the kind as people read it.
func (k DifferenceKind) Title() string {
	switch k {
	case OtherNumber:
		return "Other number"
	case OtherSource:
		return "Other source"
	case NowEscalated:
		return "Now escalated"
	default:
		return "Now answered"
	}
}

// CustomerQuestion is a question of a contact, with what was sent for it.
type CustomerQuestion struct {
	ID        MessageID
	ChatID    ChatID
	Body      string
	At        time.Time
	Purpose   policy.Purpose // of what was sent
	Texts     []string       // of its parts
	Citations []Citation
}

// Said returns what was sent.
func (q CustomerQuestion) Said() string { return strings.Join(q.Texts, "\n") }

const customerQuestionsSQL = `select m.id, m.chat_id, m.body, m.ts as at, o.purpose, o.citations,
		array(select coalesce(p.content ->> 'body', '') from outbox p where p.id = o.id or p.part_of = o.id order by p.seq) as texts
	from (select distinct on (x.outbox_id) x.* from messages x where x.author = 'contact' and x.kind = 'text' and x.redacted_at is null and x.body <> ''
			and x.outbox_id is not null and x.ts >= $1 and ($2::bigint[] is null or x.id = any ($2)) order by x.outbox_id, x.ts desc, x.id desc) m
		join outbox o on o.id = m.outbox_id join chats c on c.id = m.chat_id
	where c.kind = 'dm' and o.purpose in ('reply', 'draft', 'escalation') and o.state in ('sent', 'delivered') and o.content <> '{}'
	order by m.ts desc, m.id desc limit $3`

// CustomerQuestions returns what contacts asked since a time and was answered or escalated, the newest first.
func CustomerQuestions(ctx context.Context, db DB, since time.Time, limit int) ([]CustomerQuestion, error) {
	return row.All[CustomerQuestion](ctx, db, "questions of customers", customerQuestionsSQL, since, []MessageID(nil), limit)
}

// CustomerQuestionsByID returns those of some questions that are still there.
func CustomerQuestionsByID(ctx context.Context, db DB, ids []MessageID) (map[MessageID]CustomerQuestion, error) {
	list, err := row.All[CustomerQuestion](ctx, db, "questions of customers", customerQuestionsSQL, time.Time{}, ids, len(ids))
	byID := map[MessageID]CustomerQuestion{}
	for _, q := range list {
		byID[q.ID] = q
	}
	return byID, err
}
