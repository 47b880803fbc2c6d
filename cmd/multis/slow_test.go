package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/knowledge"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
)

const slowChats = 200

// storeMessage stores a message and its job, as the inbox does.
func (h *processGroup) storeMessage(m store.Message, job func(message store.MessageID) jobs.Args) {
	h.t.Helper()
	ctx := h.t.Context()
	m.Kind, m.At = "text", time.Now()
	require.NoError(h.t, h.st.InTx(ctx, func(tx store.Tx) error {
		row, err := store.InsertMessage(ctx, tx, m)
		if err != nil {
			return err
		}
		return jobs.Enqueue(ctx, tx, job(row))
	}))
}

// storeQuestion stores a question of a contact, with the job that answers it.
func (h *processGroup) storeQuestion(chat store.ChatID, n int, text string) {
	h.t.Helper()
	h.storeMessage(store.Message{
		ChatID:  chat,
		EventID: id.EventID(fmt.Sprintf("$slow%d", n)),
		Author:  policy.AuthorContact,
		Sender:  "@demo_1:x",
		Body:    text,
		Action:  policy.ActionAnswer,
		Code:    policy.CodeAnswer,
	}, func(store.MessageID) jobs.Args { return jobs.TurnArgs{ChatID: chat} })
}

// memory returns the resident memory of process n, in bytes.
func (h *processGroup) memory(n int) int {
	h.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.procs[n].Process.Pid))
	require.NoError(h.t, err)
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	require.True(h.t, found)
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(h.t, err)
	return kb << 10
}

// Two hundred chats wait for a model that does not answer. Meanwhile another chat and the owner's commands are answered.
// When the model finally answers, all chats get their answers.
func TestTurns_SlowOnesDelayNobody(t *testing.T) { //nolint:paralleltest // it takes the whole machine
	release := make(chan struct{})
	model := llmtest.Start(t, func(ctx context.Context, r llmtest.Request) llmtest.Reply {
		if strings.Contains(r.Last(), "sloooow") {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return llmtest.Reply{Text: `{"sentences": [{"text": "Tuning costs 90 euro.", "source": 1, "quote": "Tuning costs 90 euro."}]}`}
	})
	h := newProcessGroup(t, 0)
	h.config = fmt.Sprintf("llm: {model: openai/test, base_url: %q, local: true, timeout: 120s}\nchats: {burst_quiet: 1ms, contact_caps: {per_minute: 1000, per_day: 1000}}\n", model.URL)
	_, err := knowledge.New(h.st).Index(t.Context(), knowledge.File{
		Name: "prices.md",
		Data: []byte("# Prices\n\nTuning costs 90 euro.\n"),
		Role: policy.RolePublic,
	})
	require.NoError(t, err)
	chats := h.chats(slowChats + 1)
	for _, chat := range chats {
		require.NoError(t, h.st.InTx(t.Context(), func(tx store.Tx) error { return store.SetMode(t.Context(), tx, chat, policy.ModeBusiness) }))
	}
	h.procs = append(h.procs, nil)
	h.start(0)
	wait := func(what string, done func() bool) {
		t.Helper()
		require.Eventually(t, done, 2*time.Minute, 50*time.Millisecond, what)
	}
	replies := func() int {
		return h.count("select count(distinct chat_id) from outbox where purpose = $1 and state in ('sent', 'delivered')", policy.PurposeReply)
	}
	wait("an admin room", func() bool {
		_, err := store.AdminChat(t.Context(), h.st.DB())
		return err == nil
	})
	before := h.memory(0)
	for n, chat := range chats[:slowChats] {
		h.storeQuestion(chat, n, "sloooow: what does tuning cost?")
	}
	wait("all to wait for the model", func() bool { return len(model.Requests()) == slowChats })
	grown := h.memory(0) - before
	t.Logf("%d turns that wait take %d kB each", slowChats, grown/slowChats>>10)
	require.Less(t, grown, slowChats*2<<20, "2 MB each, of which the race detector may take most")

	begin := time.Now()
	h.storeQuestion(chats[slowChats], slowChats, "what does tuning cost?")
	wait("the chat whose model answers", func() bool { return replies() == 1 })
	t.Logf("another chat was answered after %d ms", time.Since(begin).Milliseconds())
	admin, err := store.AdminChat(t.Context(), h.st.DB())
	require.NoError(t, err)
	begin = time.Now()
	h.storeMessage(store.Message{
		ChatID:  admin.ID,
		EventID: "$command",
		Author:  policy.AuthorOwnerClient,
		Sender:  testOwner,
		Body:    "/mode silent Storm 7",
		Action:  policy.ActionCommand,
		Code:    policy.CodeCommand,
	}, func(m store.MessageID) jobs.Args { return jobs.CommandArgs{MessageID: m} })
	wait("the command", func() bool {
		return h.count("select count(*) from messages where event_id = '$command' and answered_at is not null") == 1
	})
	t.Logf("a command was carried out after %d ms", time.Since(begin).Milliseconds())
	require.Equal(t, 1, replies(), "all the others still wait")

	close(release)
	wait("everybody", func() bool {
		return h.count("select count(*) from messages where event_id like '$slow%' and answered_at is null") == 0 && replies() >= slowChats
	})
	require.Equal(t, slowChats, replies(), "the chat that was silenced meanwhile gets nothing")
	require.Len(t, model.Requests(), slowChats+1, "nobody was asked twice")
}
