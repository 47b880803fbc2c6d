package admin_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/ops/health"
	"multis/policy"
	"multis/store"
)

func TestStatus_Text(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, text(
		"**Nora is up** · multis 1.2",
		"No chats yet.",
		"Documents: none yet. Send me one here.",
		"Search: by words (no model for `embeddings` is configured).",
		"Model: some-model",
		"Backup: none yet (`multis backup create`).",
		"Nobody waits for you.",
	), r.asOwner("/status"))
	r.addChats()
	r.addUnreadable("Dr. Weber")
	r.addDocument("prices.md", "# Prices\n\nA fence costs 480 EUR.\n", policy.RolePublic)
	r.addDocument("secret.md", "# Secret\n\nThe fence costs us 200 EUR.\n", policy.RoleAdmin)
	for _, amount := range []int64{90_000, 30_001} {
		r.addSpending(policy.SpendRequest{Day: "2026-11-20", Purpose: "ask", Amount: 500_000}, amount)
	}
	require.Equal(t, text(
		"**Nora is up** · multis 1.2",
		"3 chats on WhatsApp, 2 on Signal and 1 on Telegram · 1 business, 4 silent, 1 off · 🔒 2 cannot be read yet",
		"Dr. Weber · WhatsApp — 🔒 1 message I cannot read: I am waiting for its key",
		"Maybe · Signal — 🔒 I do not know whether it is encrypted, so nothing is sent",
		"Documents: 1 public, 1 only yours",
		"Search: by words (no model for `embeddings` is configured).",
		"Model: some-model · today 0.12 EUR of 2.00 EUR in 2 calls",
		"Backup: none yet (`multis backup create`).",
		"Nobody waits for you.",
	), r.asOwner("/status"))
	require.Contains(t, r.asOperator("/status"), "Documents: 1 public\n", "operators do not see what is only the owner's")
}

func TestStatus_ShowsExamOfModel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.Model = "test/model, else test/other"
	r.restart()
	require.Contains(t, r.asOwner("/status"), "Model: test/model, else test/other · never examined: `multis models exam`\n")
	require.NoError(t, store.PutModelExam(t.Context(), r.st.Writer(), store.ModelExam{
		Model:      "test/model",
		ExaminedAt: time.Now(),
		Summary:    "may draft for customers (31 of 50 tasks right)",
		Card:       []byte("{}"),
	}))
	require.Contains(t, r.asOwner("/status"), " · exam: may draft for customers (31 of 50 tasks right)\n")
}

// sickHealth is a Health whose disk is full.
type sickHealth struct{ status health.Status }

func (h sickHealth) Report(context.Context) health.Report {
	r := health.Report{Status: health.OK, Checks: []health.Check{{Name: "disk", Status: h.status, Detail: "only 0.1 GiB free"}}}
	if h.status == health.Failed {
		r.Status = health.Degraded
	}
	return r
}

func TestStatus_NamesWhatFails(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.health = sickHealth{health.Failed}
	r.restart()
	require.Contains(t, r.asOwner("/status"), "\n❌ Health: disk: only 0.1 GiB free\n")
	require.Contains(t, r.asOperator("/status"), "❌ Health: disk")
	r.health = sickHealth{health.OK}
	r.restart()
	require.Contains(t, r.asOwner("/status"), "\nHealth: good (1 check)\n")
}

func TestStatus_CountsInventions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, store.AddInventedCitations(r.ctx, r.st.Writer(), 1))
	require.NoError(t, store.AddInventedCitations(r.ctx, r.st.Writer(), 2))
	require.Contains(t, r.asOwner("/status"), "3 citations that the model made up so far, left out.")
}

func TestStatus_NamesMissingPgvector(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.st.Pool().Exec(r.ctx, "drop table if exists chunk_vectors, vector_models") // where the machine has pgvector
	require.NoError(t, err)
	r.settings.Embeddings = "ollama/some-model"
	r.restart()
	require.Contains(t, r.asOwner("/status"), "Search: by words only, because the database has no pgvector: `CREATE EXTENSION vector` there")
}

func TestName_Command(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "I am called **Nora**. `/name` and another word changes that.", r.asOwner("/name"))
	require.Equal(t, "I am **Zoë-Lou 2** from now on: I answer to it, and my answers are marked [Zoë-Lou 2].",
		r.asOwner("/name  Zoë-Lou   2 "))
	name, err := store.AssistantName(r.ctx, r.st.DB(), "Nora")
	require.NoError(t, err)
	require.Equal(t, "Zoë-Lou 2", name)
	require.Equal(t, "I am called **Zoë-Lou 2** already.", r.asOwner("/name Zoë-Lou 2"))
	for _, bad := range []string{"N", "[Nora]", "2Nora", "@nora", "**", strings.Repeat("N", 101), "No:ra"} {
		require.Equal(t, "A name has 2 to 100 letters, with blanks, dashes, dots or digits between them: `/name Nora`.", r.asOwner("/name "+bad),
			bad)
	}
}

func TestAsk_PassesQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "You asked **what did Ana say?** in chat 1.", r.asOwner("/ask what did Ana say?"))
	require.Equal(t, "You asked **what did Ana say?** in chat 1.", r.asOwner("  what did Ana say? "))
	require.Contains(t, r.lastSent().HTML, "<strong>what did Ana say?</strong>")
	require.Equal(t, "Ask me something: `/ask when do we deliver?`, or just type it.", r.asOwner("/ask"))
}

func TestAsk_SkipsNeedlessSearch(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, line := range []string{"hello", "Hi!", "?", "/", "👍", "//", "Guten Morgen!"} {
		require.Equal(t, "Ask me anything about your documents, or type `/help` to see what I can do.", r.asOwner(line), line)
	}
	for _, line := range []string{"no", "Yes!", "cancel", "0"} {
		require.Equal(t, "Which question do you mean? Reply to it, or see `/help`.", r.asOwner(line), line)
	}
	for _, line := range []string{"Thank you :)", "Danke schön!", "thanks", "Bye", "ok"} {
		heard := r.handle(store.Message{Body: line})
		require.Len(t, heard, 1, line)
		require.Equal(t, "👍", heard[0].React, line)
	}
	require.Contains(t, r.asOwner("hello Ana?"), "You asked **hello Ana?**")
	r.settings.Model = "none"
	r.restart()
	require.Equal(t,
		"I know no documents yet. Send me one here. I read PDF, Word (.docx), HTML, Markdown, CSV and plain text. `/help index` says more.",
		r.asOwner("when do we deliver?"))
	r.addDocument("prices.md", prices, policy.RolePublic)
	require.Contains(t, r.asOwner("when do we deliver?"), "You asked **when do we deliver?**")
}

const prices = `# Prices

## Delivery

Deliveries run Monday to Saturday, 9:00 to 18:00.

## Fences

A **fence** costs 480 EUR.
`

func TestSearch_RespectsScopes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t, "What should I look for? `/search delivery sunday`", r.asOwner("/search"))
	require.Equal(t, "I found nothing about that in the documents. `/docs` says which I know.", r.asOwner("/search fence"))
	r.addDocument("prices.md", prices, policy.RolePublic)
	r.addDocument("secret.md", "# Secret\n\nThe fence costs us 200 EUR.\n", policy.RoleAdmin)
	require.Equal(t, text(
		"**1 passage** for “deliveries”",
		"1 [prices.md › Delivery, line 5]: “Deliveries run Monday to Saturday, 9:00 to 18:00.”",
	), r.asOwner("/search deliveries"))
	got := r.asOwner("/search fence costs")
	require.Contains(t, got, "**2 passages** for “fence costs”")
	require.Contains(t, got, "[prices.md › Fences, line 9]: “A **fence** costs 480 EUR.”")
	require.Contains(t, got, "[secret.md › Secret, line 3] (only you): “The fence costs us 200 EUR.”")
	require.Equal(t, text(
		"**1 passage** for “fence costs”",
		"1 [prices.md › Fences, line 9]: “A **fence** costs 480 EUR.”",
	), r.asOperator("/search fence costs"))
	require.Equal(t, "I found nothing about that in the documents. `/docs` says which I know.", r.asOwner("/search zebra"))
	require.Equal(t, "I found nothing about that in the documents. `/docs` says which I know.", r.asOwner("/search the and of"))
}

func TestDocs_List(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Equal(t,
		"I know no documents yet. Send me one here. I read PDF, Word (.docx), HTML, Markdown, CSV and plain text. `/help index` says more.",
		r.asOwner("/docs"))
	r.addDocument("prices.md", prices, policy.RolePublic)
	r.addDocument("secret.txt", "The fence costs us 200 EUR.\n", policy.RoleAdmin)
	r.exec("update documents set indexed_at = $1::timestamptz - case when role = 'admin' then interval '1 minute' else interval '0' end", noon)
	require.Equal(t, text(
		"**Documents** — public: 1 document (1 Markdown), 2 passages · only you: 1 document (1 text), 1 passage",
		"**prices.md** “Prices” — public, 2 passages, 1 KB · 18:00",
		"**secret.txt** — only you, 1 passage, 1 KB · 17:59",
		"",
		"Shared by mistake? `/index` it again with `admin` to make it private, `/docs remove NAME` deletes it.",
	), r.asOwner("/docs"))
	require.Equal(t, text(
		"**Documents** — public: 1 document (1 Markdown), 2 passages",
		"**prices.md** “Prices” — public, 2 passages, 1 KB · 18:00",
	), r.asOperator("/docs"))
}
