package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

func TestRecall_NamesItsSources(t *testing.T) {
	t.Parallel()
	b := setup(t, llm.None{})
	b.agent.memory = memory.New(memory.Options{
		Store:    b.store,
		Search:   search.New(b.store),
		Model:    llm.None{},
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
	})
	b.storeContactMessage("ok 480 for the fence, until first of december", policy.ActionArchive)
	require.NoError(t, b.agent.memory.IndexMessages(context.Background()))

	text := b.ask("what did Ana say about the fence?")
	require.Contains(t, text, "ok 480 for the fence")
	require.Contains(t, text, "matrix.to/#/!ana:x/$m1")
	require.Contains(t, text, "Looked in: your documents, Ana · ")
	require.Contains(t, b.ask("what about the fence?"), "480", "nobody named her chat, and no document answers")

	require.NoError(t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		quoting, err := store.RedactMessage(context.Background(), tx, b.chat.ID, "$m1", time.Now())
		require.Len(t, quoting, 2, "when her message is deleted, so are the answers that quote it")
		return err
	}))
}

func TestRecall_DeletedWithMessage(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, inTurn(calls("recall_memory", map[string]string{"query": "drink"}),
		llmtest.Reply{Text: `{"sentences": [{"text": "She likes oolong.", "source": 1, "quote": "Ana likes oolong"}]}`}))
	b := setup(t, model)
	b.agent.memory = memory.New(memory.Options{
		Store:    b.store,
		Search:   search.New(b.store),
		Model:    llm.None{},
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
	})
	b.setTools(tools.RecallMemory{Memory: b.agent.memory})
	ctx := context.Background()
	from := b.storeContactMessage("oolong for me, as always", policy.ActionArchive)
	role := policy.UserRole(b.chat.ID)
	require.NoError(t, b.store.AsOwner(ctx, policy.ContactScope(b.chat.ID), func(tx store.Tx) error {
		section, err := store.InsertSection(ctx, tx, b.chat.ID, role, from)
		if err != nil {
			return err
		}
		text := "Ana likes oolong as a drink"
		if _, err := store.InsertNote(ctx, tx, store.Note{
			Role:      role,
			ChatID:    b.chat.ID,
			Section:   &section,
			Kind:      store.NoteFact,
			Body:      text,
			Sources:   []store.MessageID{from},
			ValidFrom: time.Now(),
		}); err != nil {
			return err
		}
		_, err = index.ReplaceDocument(ctx, tx, index.Document{
			Origin: store.SectionOrigin(section),
			Name:   "Notes",
			Role:   role,
			Kind:   index.KindConversation,
			Format: "chat",
			Hash:   "h",
		},
			[]index.Chunk{{Key: "k", Content: text, SearchText: search.IndexText("", "", text)}})
		return err
	}))
	require.Contains(t, b.ask("what does Ana take?"), "oolong")
	require.Len(t, server.Requests(), 2)
	require.Contains(t, storetest.ColumnsContaining(t, b.store, "oolong"), "task_steps.passages")
	task, _ := b.task()
	require.Contains(t, task.Sources, from)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, b.chat.ID, b.messageByID(from).EventID, time.Now())
		return err
	}))
	require.Empty(t, storetest.ColumnsContaining(t, b.store, "oolong"))
}

func TestDeletion_RemovesUnquotedAnswer(t *testing.T) {
	t.Parallel()
	model, _ := scripted(t, func(context.Context, llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Text: `{"sentences":[{"text":"As I know, it is oolong.","source":0,"quote":""}]}`}
	})
	b := setup(t, model)
	ctx := context.Background()
	asked := b.storeQuestion("she said oolong; what was it?")
	require.NoError(t, b.agent.Questions.Ask(ctx, b.admin, asked, asked.Body))
	require.Contains(t, storetest.ColumnsContaining(t, b.store, "oolong"), "outbox.content")
	b.queuedTexts(b.admin)
	_, err := b.store.Pool().Exec(ctx, "update outbox set state = 'sent'")
	require.NoError(t, err)
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, b.admin.ID, asked.EventID, time.Now())
		return err
	}))
	require.Empty(t, storetest.ColumnsContaining(t, b.store, "oolong"))
}
