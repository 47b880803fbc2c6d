package agent

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func (b *fixture) runTurn() {
	b.t.Helper()
	require.NoError(b.t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "1.1", false))
}

// ask asks a question as the owner and returns the reply.
func (b *fixture) ask(text string) string {
	b.t.Helper()
	before := len(b.queuedTexts(b.admin))
	m := b.storeQuestion(text)
	require.NoError(b.t, b.agent.Questions.Ask(context.Background(), b.admin, m, text))
	said := b.queuedTexts(b.admin)
	require.Len(b.t, said, before+1)
	require.NotNil(b.t, b.messageByID(m.ID).AnsweredAt)
	return said[before]
}

// preview tries a question as a customer.
func (b *fixture) preview(question string) Preview {
	b.t.Helper()
	p, err := b.agent.Turns.Preview(context.Background(), b.admin, b.storeQuestion("/business preview "+question), question)
	require.NoError(b.t, err)
	require.Empty(b.t, b.queuedTexts(b.chat))
	require.Empty(b.t, b.queuedTexts(b.admin))
	return p
}

// readConversation returns the conversation that a model is given when Ana writes.
func (b *fixture) readConversation(server *llmtest.Server) string {
	b.t.Helper()
	b.storeContactMessage("What does tuning a grand piano cost?", policy.ActionAnswer)
	b.runTurn()
	requests := server.Requests()
	return requests[len(requests)-1].Last()
}

// escalate makes Ana ask for a person.
func (b *fixture) escalate(text string) {
	b.t.Helper()
	b.storeContactMessage(text, policy.ActionEscalate)
	require.NoError(b.t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job-"+text, false))
}

// askAndDropDraft has Ana ask something whose draft the owner drops.
func (b *fixture) askAndDropDraft(text string) {
	b.t.Helper()
	ctx := context.Background()
	m := b.storeAnsweredMessage(text)
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		return b.agent.box.DropDraft(ctx, tx, *m.OutboxID, policy.CodeDraftDropped)
	}))
}

// refuseDraft has the owner reply to the open draft of an answer to Ana. It returns his message.
func (b *fixture) refuseDraft(asked store.MessageID, reply string) store.MessageID {
	b.t.Helper()
	ctx := context.Background()
	said := b.storeMessage(b.admin, policy.AuthorOwnerClient, reply, time.Now())
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		isRedrafted, err := b.agent.box.RefuseDraft(ctx, tx, *b.messageByID(asked).OutboxID, said)
		require.True(b.t, isRedrafted)
		return err
	}))
	require.Nil(b.t, b.messageByID(asked).AnsweredAt, "it waits for an answer again")
	return said
}

// answeredLongAgo is a question of Ana's that was answered a time ago.
func (b *fixture) answeredLongAgo(question string, ago time.Duration) {
	b.t.Helper()
	b.storeAnsweredMessage(question)
	require.NotEmpty(b.t, b.queuedTexts(b.chat), question)
	b.goesOut()
	b.passes(ago)
}

// answeredByOwner is a question of Ana's in a chat with shadow answers, and what the owner said in place of the shadow answer.
func (b *fixture) answeredByOwner(question, wrote string, ago time.Duration) {
	b.t.Helper()
	b.exec("update chats set delivery = 'shadow' where id = $1", b.chat.ID)
	b.storeAnsweredMessage(question)
	if wrote != "" {
		b.storeMessage(b.chat, policy.AuthorOwnerPhone, wrote, time.Now())
	}
	b.passes(ago)
}

// markAllSent marks all queued messages as sent.
func (b *fixture) markAllSent() {
	b.t.Helper()
	_, err := b.store.Pool().Exec(context.Background(), "update outbox set state = 'sent' where state = 'queued'")
	require.NoError(b.t, err)
}

// goesOut has what is queued for Ana arrive, as the homeserver shows it.
func (b *fixture) goesOut() {
	b.t.Helper()
	for _, body := range b.queuedTexts(b.chat) {
		m := b.messageByID(b.storeMessage(b.chat, policy.AuthorMultisOwner, body, time.Now()))
		b.exec("update outbox set state = 'sent', sent_at = now(), event_id = $2 where id = (select id from outbox where chat_id = $1 and state = 'queued' order by seq limit 1)", b.chat.ID, m.EventID)
	}
}

// passes lets a time pass in the chat.
func (b *fixture) passes(d time.Duration) {
	b.t.Helper()
	b.exec("update messages set ts = ts - $1::interval, received_at = received_at - $1::interval, answered_at = answered_at - $1::interval", d)
	b.exec("update chats set last_message_at = last_message_at - $1::interval, owner_last_at = owner_last_at - $1::interval, followed_up_at = followed_up_at - $1::interval", d)
	b.exec("update outbox set created_at = created_at - $1::interval, sent_at = sent_at - $1::interval", d)
	b.exec("update ratings set asked_at = asked_at - $1::interval", d)
}

// checkQuiet carries out the periodic job, as often as it finds something, and returns how many texts of a purpose there are.
func (b *fixture) checkQuiet(purpose policy.Purpose) int {
	b.t.Helper()
	for range 3 {
		found, err := b.agent.Quiet.HasQuietChats(context.Background())
		require.NoError(b.t, err)
		require.NoError(b.t, b.agent.Quiet.CheckQuietChats(context.Background()))
		if !found {
			break
		}
	}
	return b.count("select count(*) from outbox where purpose = $1", purpose)
}

// queuedTexts returns the texts that are queued for a chat, oldest first.
func (b *fixture) queuedTexts(chat store.Chat) []string {
	b.t.Helper()
	rows, err := b.store.DB().Query(context.Background(),
		"select content->>'body' from outbox where chat_id = $1 and state = 'queued' order by seq", chat.ID)
	require.NoError(b.t, err)
	defer rows.Close()
	var bodies []string
	for rows.Next() {
		var body string
		require.NoError(b.t, rows.Scan(&body))
		bodies = append(bodies, body)
	}
	require.NoError(b.t, rows.Err())
	return bodies
}

// openDrafts returns the texts for Ana that wait for a yes.
func (b *fixture) openDrafts() (texts []string) {
	b.t.Helper()
	drafts, err := store.OpenDrafts(context.Background(), b.store.DB(), 0, 10)
	require.NoError(b.t, err)
	for _, o := range drafts {
		texts = append(texts, outbox.TextOf(o))
	}
	return texts
}

func (b *fixture) messageByID(row store.MessageID) store.Message {
	b.t.Helper()
	m, err := store.MessageByID(context.Background(), b.store.DB(), row)
	require.NoError(b.t, err)
	return m
}

// escalationWhy returns why the chat is escalated.
func (b *fixture) escalationWhy() string {
	b.t.Helper()
	e, err := store.EscalationOfChat(context.Background(), b.store.DB(), b.chat.ID)
	require.NoError(b.t, err)
	return e.Reason
}

// ownerQuotes returns the quotes that are stored with the last answer to the owner.
func (b *fixture) ownerQuotes() (quotes []string) {
	b.t.Helper()
	sql := "select array(select s->>'quote' from jsonb_array_elements(citations) s) from outbox where chat_id = $1 order by seq desc limit 1"
	require.NoError(b.t, b.store.DB().QueryRow(context.Background(), sql, b.admin.ID).Scan(&quotes))
	return quotes
}

// judged returns the model's verdicts about the shadow answers, the oldest first.
func (b *fixture) judged() (verdicts []string) {
	b.t.Helper()
	rows, err := b.store.DB().Query(context.Background(), "select judged from outbox where state = 'shadow' order by seq")
	require.NoError(b.t, err)
	defer rows.Close()
	for rows.Next() {
		var verdict string
		require.NoError(b.t, rows.Scan(&verdict))
		verdicts = append(verdicts, verdict)
	}
	require.NoError(b.t, rows.Err())
	return verdicts
}

func (b *fixture) jobs(kind string) int {
	b.t.Helper()
	var n int
	require.NoError(b.t, b.store.DB().QueryRow(context.Background(), "select count(*) from river.river_job where kind = $1", kind).Scan(&n))
	return n
}

func (b *fixture) count(sql string, args ...any) int {
	b.t.Helper()
	return storetest.Count(b.t, b.store, sql, args...)
}

// countChanges counts the rows that an injection could have added.
func (b *fixture) countChanges() []int {
	return []int{
		b.count("select count(*) from notes where role = 'admin'"), b.count("select count(*) from schedules where created_by <> ''"),
		b.count("select count(*) from settings where key <> 'invented_citations'"),
		b.count("select count(*) from outbox where chat_id <> $1", b.admin.ID),
	}
}

// exec runs a statement.
func (b *fixture) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.store.Pool().Exec(context.Background(), sql, args...)
	require.NoError(b.t, err)
}

// deleteCaseRows deletes the rows of a test case, so that the next case begins with an empty database.
func (b *fixture) deleteCaseRows() {
	b.t.Helper()
	_, err := b.store.Pool().Exec(context.Background(),
		`set multis.scope = '*'; delete from outbox; delete from tasks; delete from messages; delete from notes; delete from documents where origin <> 'prices.md'`)
	require.NoError(b.t, err)
}
