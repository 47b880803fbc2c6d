package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/policy"
	"multis/store/row"
)

// Summary is the summary of the older part of a conversation, which prompts show in place of its messages.
type Summary struct {
	ChatID  ChatID
	Body    string
	Sources []MessageID // the messages whose words may be in it
	Until   time.Time   // the time of the last message that it is a summary of
	Tainted bool        // it may repeat text that is not the owner's
}

const summaryOfSQL = "select s.chat_id, s.body, s.sources, s.until, s.tainted from chat_summaries s where s.chat_id = $1"

// SummaryOf returns a chat's summary, or ErrNotFound.
func SummaryOf(ctx context.Context, db DB, chat ChatID) (Summary, error) {
	return row.One[Summary](ctx, db, "summary", summaryOfSQL, chat)
}

const putSummarySQL = `insert into chat_summaries (chat_id, body, sources, until, tainted) values (@chat, @body, @sources, @until, @tainted)
	on conflict (chat_id) do update set body = excluded.body, sources = excluded.sources, until = excluded.until, tainted = excluded.tainted, created_at = now()`

// PutSummary replaces a chat's summary.
func PutSummary(ctx context.Context, tx Tx, s Summary) error {
	return row.Exec(ctx, tx, "store summary", putSummarySQL, pgx.NamedArgs{
		"chat":    s.ChatID,
		"body":    text.Storable(s.Body),
		"sources": s.Sources,
		"until":   s.Until,
		"tainted": s.Tainted,
	})
}

const recentMessagesSQL = "select * from (select " + messageColumns + ` from messages m
	where m.chat_id = $1 and m.kind <> 'reaction' and m.redacted_at is null and m.body <> '' and ($2::timestamptz is null or m.ts >= $2) and m.id <> all ($3)
	order by m.ts desc, m.id desc limit $4) w order by ts, id`

// RecentMessages returns the newest messages of a chat since a time, at most limit of them and none of excluded. They are
// sorted with the oldest first. A zero time means from the start.
func RecentMessages(ctx context.Context, db DB, chat ChatID, since time.Time, excluded []MessageID, limit int) ([]Message, error) {
	return collectMessages(ctx, db, recentMessagesSQL, chat, nullTime(since), row.EmptyIfNil(excluded), limit)
}

const writtenByPeopleSQL = `select o.event_id, coalesce((select w.author from messages w where w.id = any (o.quotes) and w.chat_id <> o.chat_id and w.author in ('owner_client', 'owner_phone', 'operator') limit 1), 'owner_client') as author
	from outbox o where o.chat_id = any ($1) and o.event_id = any ($2) and o.purpose in ('draft', 'operator') and o.citations = '[]'`

// MarkPeople sets the authors of the messages that multis sent for a person, such as replies in the thread of an
// escalation, to those people. It takes them from the same places as linesByPeopleSQL.
func MarkPeople(ctx context.Context, db DB, messages []Message) error {
	var chats []ChatID
	var events []id.EventID
	for _, m := range messages {
		if m.Author == policy.AuthorMultisOwner {
			chats, events = append(chats, m.ChatID), append(events, m.EventID)
		}
	}
	if len(events) == 0 {
		return nil
	}
	byPeople, err := row.All[struct {
		EventID id.EventID
		Author  policy.Author
	}](ctx, db, "what people wrote", writtenByPeopleSQL, chats, events)
	if err != nil {
		return err
	}
	authors := map[id.EventID]policy.Author{}
	for _, line := range byPeople {
		authors[line.EventID] = line.Author
	}
	for i := range messages {
		if author, ok := authors[messages[i].EventID]; ok {
			messages[i].Author = author
		}
	}
	return nil
}

// AnsweredQuestion is a question of the owner with its answer.
type AnsweredQuestion struct {
	Message  MessageID
	EventID  id.EventID
	At       time.Time
	Question string
	Answer   string      // of the model
	Sources  []MessageID // the messages whose words may be in the answer
	Tainted  bool        // the answer may repeat text of others
}

// AnsweredFilter selects answered questions.
type AnsweredFilter struct {
	Room ChatID
	// Since is the time from which questions are read; zero means from the start. Of the questions of that very time, those
	// of Before are left out.
	Since  time.Time
	Before []MessageID
	// Excluded are questions that are left out.
	Excluded []MessageID
	// Limit is the number of questions, the newest.
	Limit int
}

// The newest tasks are chosen before their messages are joined: a plan made while the tables were small would join every task of the room.
const answeredQuestionsSQL = `select m.id as message, m.event_id, m.ts as at, m.body as question, t.answer, t.sources, t.tainted
	from (select message_id, answer, sources, tainted from tasks
		where chat_id = @room and kind = @kind and state = 'completed' and not forgotten and answer <> '' and message_id <> all (@excluded)
		order by id desc limit @limit) t
	join messages m on m.id = t.message_id
	where m.redacted_at is null and (@since::timestamptz is null or m.ts > @since or (m.ts = @since and m.id <> all (@before)))
	order by m.ts, m.id`

// AnsweredQuestions returns questions in a room that a model answered, with their answers, the oldest first. Commands are
// left out, because they are not part of the conversation.
func AnsweredQuestions(ctx context.Context, db DB, f AnsweredFilter) ([]AnsweredQuestion, error) {
	return row.All[AnsweredQuestion](ctx, db, "conversation", answeredQuestionsSQL, pgx.NamedArgs{
		"room":     f.Room,
		"kind":     TaskAsk,
		"since":    nullTime(f.Since),
		"before":   row.EmptyIfNil(f.Before),
		"excluded": row.EmptyIfNil(f.Excluded),
		"limit":    f.Limit,
	})
}
