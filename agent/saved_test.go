package agent

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/agent/persona"
	"multis/agent/skills"
	"multis/agent/tools"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

func TestSavedTask_RunsWithItsSettings(t *testing.T) {
	t.Parallel()
	model, server := scripted(t, inTurn(calls("lamp", map[string]bool{"on": true}), llmtest.Reply{Text: answerJSON("Nothing new.", 0, "")}))
	b := setup(t, model)
	l := &countingTool{tier: tools.Read}
	b.setTools(l)
	b.agent.personas.All = []persona.Persona{{ID: "main", Default: true}, {ID: "shop", Instructions: "Sell."}}
	begin := func(s skills.SavedTask) store.Task { return b.begin(s, "") }
	task := begin(skills.SavedTask{Prompt: "What is new?", Agent: "shop", Tools: []string{"search_*"}, Target: "Ana"})
	require.Equal(t, store.TaskCompleted, task.State)
	first := server.Requests()[0]
	require.Equal(t, []string{"search_docs"}, offeredTools(first))
	require.Contains(t, first.System, "Sell.")
	require.Zero(t, l.lit.Load(), "and what is not offered is not done")
	require.Len(t, b.queuedTexts(b.admin), 1)
	require.Contains(t, b.queuedTexts(b.admin)[0], "Nothing new.")
	require.Contains(t, b.queuedTexts(b.admin)[0], "Ana", "it says where it looked")

	begin(skills.SavedTask{Prompt: "What is new?", Tools: []string{}})
	begin(skills.SavedTask{Prompt: "What is new?"})
	all := server.Requests()
	require.Empty(t, offeredTools(all[2]))
	require.Equal(t, []string{"lamp", "search_docs"}, offeredTools(all[3]))
}

func TestSavedTask_LeavesDraft(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	model, server := scripted(t,
		llmtest.Say(`{"sentences": [{"text": "One promise is open.", "source": 0, "quote": ""}], "message": " The piano comes on Monday. "}`))
	b := setup(t, model)
	b.storeContactMessage("When does the piano come?", policy.ActionArchive)
	write := skills.SavedTask{Prompt: "Write what is open.", Target: "Ana"}
	b.begin(write, "")
	require.Contains(t, server.Requests()[0].System, `add "message"`)
	require.Contains(t, b.queuedTexts(b.admin)[0], "One promise is open.")
	drafts := func() (bodies []string) {
		rows, err := b.store.DB().Query(ctx, "select content->>'body' from outbox where chat_id = $1 and state = 'draft' order by created_at",
			b.chat.ID)
		require.NoError(t, err)
		bodies, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return bodies
	}
	require.Equal(t, []string{"The piano comes on Monday."}, drafts())
	require.Equal(t, 1, b.jobs("present_draft"), "it is shown, and sent by nobody but the owner")
	require.Zero(t, b.count("select count(*) from outbox where chat_id = $1 and state <> 'draft'", b.chat.ID))

	b.begin(skills.SavedTask{Prompt: "What is new?"}, "")
	require.Len(t, drafts(), 1, "who has no target writes nobody")
	require.NotContains(t, server.Requests()[1].System, `add "message"`)

	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error { return store.SetMode(ctx, tx, b.chat.ID, policy.ModeOff) }))
	b.begin(write, "")
	require.Len(t, drafts(), 1)
	require.Contains(t, b.queuedTexts(b.admin)[2], "⚠️ I drafted nothing for **Ana · Demo**: ")

	b.begin(skills.SavedTask{Prompt: "x", Target: "Zoe"}, "its target is no chat that I know; `/chats` lists them")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "signal",
			ChannelID:  "ana",
			Kind:       policy.KindDM,
			Name:       "Ana",
			Encryption: policy.EncryptionNo,
		})
		return err
	}))
	b.begin(write, "its target could be several chats; write the network as well, such as Ana · WhatsApp")
	b.begin(skills.SavedTask{Prompt: "x", Target: "Ana · Signal"}, "")
}
