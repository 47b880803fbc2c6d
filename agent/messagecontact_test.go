package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

// draftsFor returns the drafts of a chat.
func (b *fixture) draftsFor(chat store.ChatID) []string {
	b.t.Helper()
	rows, err := b.store.DB().Query(context.Background(), "select content->>'body' from outbox where chat_id = $1 and state = 'draft' order by created_at", chat)
	require.NoError(b.t, err)
	bodies, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(b.t, err)
	return bodies
}

func TestMessageContact_LeavesDraft(t *testing.T) {
	t.Parallel()
	message := func(chat, text string) llmtest.Reply {
		return calls("message_contact", map[string]any{"chat": chat, "text": text})
	}
	model, server := scripted(t, inTurn(message("Ana", " I'm ten minutes late. "),
		llmtest.Reply{Text: answerJSON("The draft waits for you.", 0, "")}))
	b := setup(t, model)
	b.setTools(tools.MessageContact{})
	said := b.ask("Tell Ana that I'm ten minutes late")
	require.Contains(t, said, "The draft waits for you.")
	require.Equal(t, []string{"I'm ten minutes late."}, b.draftsFor(b.chat.ID))
	require.Equal(t, 1, b.jobs("present_draft"), "it is shown, and sent by nobody but the owner")
	require.Zero(t, b.count("select count(*) from outbox where chat_id = $1 and state <> 'draft'", b.chat.ID))
	require.Contains(t, server.Requests()[1].Last(), "shown the draft for Ana · Demo")
	require.Contains(t, offeredTools(server.Requests()[0]), "message_contact")
}

func TestMessageContact_RefusesWhatCannotBeDrafted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args    map[string]any
		answers string
	}{
		"unknown chat": {map[string]any{"chat": "Zoe", "text": "hello"}, "No chat has that name."},
		"several":      {map[string]any{"chat": "Ana", "text": "hello"}, "Several chats have that name: Ana · "},
		"no words":     {map[string]any{"chat": "Ana · Signal", "text": " "}, "text is empty"},
		"too long":     {map[string]any{"chat": "Ana · Signal", "text": strings.Repeat("x", maxMessage+1)}, "text is longer than"},
		"other fields": {map[string]any{"to": "Ana"}, `unknown field "to"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model, server := scripted(t, inTurn(calls("message_contact", c.args), llmtest.Reply{Text: answerJSON("To whom?", 0, "")}))
			b := setup(t, model)
			b.setTools(tools.MessageContact{})
			b.anotherAna("signal")
			b.ask("Tell her that I'm late")
			require.Contains(t, server.Requests()[1].Last(), c.answers)
			require.Zero(t, b.count("select count(*) from outbox where state = 'draft'"))
		})
	}
}

func TestMessageContact_TellsWhatGateRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, _ := scripted(t, inTurn(calls("message_contact", map[string]any{"chat": "Ana", "text": "I'm late"}),
		llmtest.Reply{Text: answerJSON("The draft waits for you.", 0, "")}))
	b := setup(t, model)
	b.setTools(tools.MessageContact{})
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.SetMode(ctx, tx, b.chat.ID, policy.ModeOff) }))
	require.Contains(t, b.ask("Tell Ana that I'm late"), "⚠️ I drafted nothing for **Ana · Demo**: ")
	require.Empty(t, b.draftsFor(b.chat.ID))
}

func TestMessageContact_TellsThatChatIsGone(t *testing.T) {
	t.Parallel()
	var b *fixture
	inOrder := inTurn(calls("message_contact", map[string]any{"chat": "Ana", "text": "I'm late"}),
		llmtest.Reply{Text: answerJSON("The draft waits for you.", 0, "")})
	asked := 0
	model, _ := scripted(t, func(ctx context.Context, request llmtest.Request) llmtest.Reply {
		if asked++; asked == 2 {
			_, err := b.store.Pool().Exec(ctx, "update chats set name = 'Zoe' where id = $1", b.chat.ID)
			require.NoError(t, err)
		}
		return inOrder(ctx, request)
	})
	b = setup(t, model)
	b.setTools(tools.MessageContact{})
	require.Contains(t, b.ask("Tell Ana that I'm late"), "⚠️ I drafted nothing for **Ana**: the chat was renamed or deleted in the meantime.")
	require.Zero(t, b.count("select count(*) from outbox where state = 'draft'"))
}

func TestMessageContact_DraftsAFewOnly(t *testing.T) {
	t.Parallel()
	var many llmtest.Reply
	for range maxDrafts + 2 {
		again := map[string]any{"chat": "Ana", "text": "again " + strings.Repeat("!", len(many.Calls))}
		many.Calls = append(many.Calls, calls("message_contact", again).Calls...)
	}
	model, _ := scripted(t, inTurn(many, llmtest.Reply{Text: answerJSON("They wait for you.", 0, "")}))
	b := setup(t, model)
	b.setTools(tools.MessageContact{})
	b.ask("Write to Ana all day")
	require.Len(t, b.draftsFor(b.chat.ID), maxDrafts)
}
