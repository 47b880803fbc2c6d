package store

import (
	"context"
	"time"

	"multis/policy"
	"multis/store/row"
)

// DeskFactKind is what a DeskFact counts for.
type DeskFactKind string

// The kinds of facts.
const (
	FactAlone        DeskFactKind = "alone"         // an answer that went out without a person
	FactDraft        DeskFactKind = "draft"         // a draft that went out as it stood
	FactChanged      DeskFactKind = "changed"       // a draft that went out with other words
	FactDropped      DeskFactKind = "dropped"       // a draft that did not go out
	FactEscalated    DeskFactKind = "escalated"     // an escalation was opened
	FactReopened     DeskFactKind = "reopened"      // an escalation was opened within a week after the chat's previous one was closed
	FactAnswered     DeskFactKind = "answered"      // a contact got the first answer after a silence; Seconds is how long it took
	FactPerson       DeskFactKind = "person"        // a person first wrote to an escalated contact; Seconds is how long that took
	FactOpen         DeskFactKind = "open"          // an escalation is open for too long
	FactUnanswered   DeskFactKind = "unanswered"    // a question that no document answered was escalated
	FactGood         DeskFactKind = "good"          // a contact said that a conversation helped
	FactBad          DeskFactKind = "bad"           // a contact said that a conversation did not help
	FactCost         DeskFactKind = "cost"          // an attempt to answer cost money; Cost is how much
	FactConversation DeskFactKind = "conversations" // a contact wrote something that needs an answer: one for each chat
)

// DeskFact is one thing that the numbers of the desk count.
type DeskFact struct {
	Kind    DeskFactKind
	ChatID  ChatID
	At      time.Time
	Cause   policy.Cause // of an escalation
	Seconds float64
	Cost    int64 // in millionths of the currency
}

// deskFactsSQL selects what happened from $1 until $2, and the escalations that are open at $2 for longer than $3. A
// reply is an answer that was sent, at once or as an approved draft, or what a person wrote in the chat or in a thread.
// Greetings, clarifying questions, follow-ups, questions for a rating and the message that a person will answer are no
// replies, not even as approved drafts.
const deskFactsSQL = `with portals as (select id from chats where kind in ('dm', 'group')),
	answers as (
		select o.chat_id, o.purpose, o.state, o.code, o.sent_at, o.created_at, o.drafted_as, exists (select from messages m where m.outbox_id = o.id and m.chat_id = o.chat_id) as answers
		from outbox o where o.chat_id in (select id from portals) and coalesce(o.part_of = o.id, true) and o.purpose in ('reply', 'draft', 'operator') and o.drafted_as in ('', 'reply', 'operator') and o.replaces = ''
			and o.event_type = 'm.room.message' and (o.sent_at >= $1::timestamptz - interval '7 days' or o.created_at >= $1::timestamptz - interval '7 days')
	), spoken as (
		select m.chat_id, m.ts as at, m.author <> 'contact' as reply, m.author <> 'contact' as person, m.action in ('answer', 'escalate') as asks
		from messages m where m.chat_id in (select id from portals) and m.ts >= $1::timestamptz - interval '7 days' and m.ts < $2 and m.kind <> 'reaction' and (m.author in ('owner_client', 'owner_phone', 'operator')
			or m.author = 'contact' and (m.action in ('answer', 'escalate') or m.answered_at is not null))
		union all
		select chat_id, sent_at, true, purpose = 'operator' or purpose = 'draft' and not answers, false from answers where state in ('sent', 'delivered') and sent_at < $2
	), turns as (
		select chat_id, at, reply, asks, lag(reply) over w as after_reply, min(at) filter (where reply) over (partition by chat_id order by at, reply rows between 1 following and unbounded following) as replied_at
		from spoken window w as (partition by chat_id order by at, reply)
	), resolved as (
		select distinct e.id from escalations e join escalations p on p.chat_id = e.chat_id and p.id <> e.id and p.closed_at <= e.opened_at and p.closed_at > e.opened_at - interval '7 days'
		where e.opened_at >= $1 and e.opened_at < $2
	), joined as (
		select e.id, min(s.at) as person_at from escalations e join spoken s on s.chat_id = e.chat_id and s.person and s.at >= e.opened_at where e.opened_at >= $1 and e.opened_at < $2 group by e.id
	), opened as (
		select e.chat_id, e.opened_at, e.closed_at, e.cause, r.id is not null as reopened, j.person_at
		from escalations e left join resolved r using (id) left join joined j using (id) where e.chat_id in (select id from portals) and e.opened_at < $2 and (e.opened_at >= $1 or e.closed_at is null)
	)
	select 'alone' as kind, chat_id, sent_at as at, '' as cause, 0::float8 as seconds, 0::bigint as cost from answers where purpose = 'reply' and state in ('sent', 'delivered') and sent_at >= $1 and sent_at < $2
	union all select case drafted_as when '' then 'changed' else 'draft' end, chat_id, sent_at, '', 0, 0 from answers where purpose = 'draft' and answers and state in ('sent', 'delivered') and sent_at >= $1 and sent_at < $2
	union all select 'dropped', chat_id, created_at, '', 0, 0 from answers where state = 'dropped' and (answers or purpose <> 'draft') and code in ('draft_dropped', 'draft_expired') and created_at >= $1 and created_at < $2
	union all select 'escalated', chat_id, opened_at, cause, 0, 0 from opened where opened_at >= $1
	union all select 'reopened', chat_id, opened_at, cause, 0, 0 from opened where opened_at >= $1 and reopened
	union all select 'unanswered', chat_id, opened_at, cause, 0, 0 from opened where opened_at >= $1 and cause in ('no_answer', 'model', 'unsupported')
	union all select 'person', chat_id, opened_at, cause, extract(epoch from person_at - opened_at)::float8, 0 from opened where opened_at >= $1 and person_at is not null
	union all select 'open', chat_id, opened_at, cause, extract(epoch from $2 - opened_at)::float8, 0 from opened where closed_at is null and opened_at < $2::timestamptz - $3::interval
	union all select 'answered', chat_id, at, '', extract(epoch from replied_at - at)::float8, 0 from turns where not reply and coalesce(after_reply, true) and replied_at is not null and at >= $1
	union all select 'conversations', chat_id, min(at), '', 0, 0 from spoken where asks and at >= $1 group by chat_id
	union all select value, chat_id, given_at, '', 0, 0 from ratings where value <> '' and given_at >= $1 and given_at < $2
	union all select 'cost', t.chat_id, t.created_at, '', 0, t.cost from tasks t where t.kind = 'turn' and t.cost > 0 and t.created_at >= $1 and t.created_at < $2 and t.chat_id in (select id from portals)
	order by at, chat_id, kind`

// DeskFacts returns what the numbers of the desk count in a period, the oldest first. openFor is how long an escalation
// may be open before it counts.
func DeskFacts(ctx context.Context, db DB, from, until time.Time, openFor time.Duration) ([]DeskFact, error) {
	return row.All[DeskFact](ctx, db, "numbers of the desk", deskFactsSQL, from, until, openFor)
}
