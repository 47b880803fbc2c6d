package admin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/knowledge/search"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

// addGroupMessage stores a message in a chat, as the inbox does.
func (r *rig) addGroupMessage(chat store.Chat, sender id.UserID, body string) store.Message {
	r.t.Helper()
	m := store.Message{
		ChatID:  chat.ID,
		EventID: r.event(),
		Author:  policy.AuthorContact,
		Sender:  sender,
		Kind:    string(bridgebridge.Text),
		Body:    body,
		At:      r.now.Add(-time.Hour),
		Action:  policy.ActionArchive,
		Code:    policy.CodeSilent,
	}
	r.tx(func(tx store.Tx) (err error) {
		m.ID, err = store.InsertMessage(r.ctx, tx, m)
		return err
	})
	return m
}

// addNote stores a captured note with its passage.
func (r *rig) addNote(chat store.Chat, body string, from store.Message) store.NoteID {
	r.t.Helper()
	var note store.NoteID
	role := policy.UserRole(chat.ID)
	require.NoError(r.t, r.st.AsOwner(r.ctx, policy.ContactScope(chat.ID), func(tx store.Tx) error {
		section, err := store.InsertSection(r.ctx, tx, chat.ID, role, from.ID)
		if err != nil {
			return err
		}
		n := store.Note{
			Role:      role,
			ChatID:    chat.ID,
			Section:   &section,
			Kind:      store.NoteFact,
			Body:      body,
			Sources:   []store.MessageID{from.ID},
			ValidFrom: from.At,
		}
		if note, err = store.InsertNote(r.ctx, tx, n); err != nil {
			return err
		}
		doc := index.Document{
			Origin: store.SectionOrigin(section),
			Name:   "Notes",
			Role:   role,
			Kind:   index.KindConversation,
			Format: "chat",
			Hash:   body,
		}
		if _, err = index.ReplaceDocument(r.ctx, tx, doc,
			[]index.Chunk{{Key: body, Content: body, SearchText: search.IndexText("", "", body)}}); err != nil {
			return err
		}
		return store.InsertCommitment(r.ctx, tx, store.Commitment{
			ChatID:    chat.ID,
			NoteID:    &note,
			MessageID: from.ID,
			Who:       "Ana",
			What:      body,
		})
	}))
	return note
}

// addWork stores a task that read messages, with a step and a question about a call.
func (r *rig) addWork(chat store.Chat, text string, about ...store.MessageID) {
	r.t.Helper()
	about = append([]store.MessageID{}, about...)
	raw, err := json.Marshal(map[string]string{"text": text})
	require.NoError(r.t, err)
	task, err := store.InsertTask(r.ctx, r.st.Writer(), store.Task{
		Key:     uuid.NewString(),
		Kind:    "turn",
		ChatID:  chat.ID,
		Sources: about,
		Input:   text,
	})
	require.NoError(r.t, err)
	task, err = store.ClaimTask(r.ctx, r.st.Writer(), task.ID)
	require.NoError(r.t, err)
	_, err = store.SetTaskRequest(r.ctx, r.st.Writer(), task, raw, about)
	require.NoError(r.t, err)
	step := store.Step{
		Kind:      store.StepTool,
		Name:      "t",
		CallID:    "c",
		Arguments: text,
		Text:      text,
		ForUser:   text,
		Calls:     raw,
		Passages:  raw,
		Ref:       text,
		EndReason: text,
	}
	require.NoError(r.t, store.BeginStep(r.ctx, r.st.Writer(), task, step))
	require.NoError(r.t, store.EndStep(r.ctx, r.st.Writer(), task, step))
	storetest.OpenApproval(r.t, r.st, store.Approval{
		TaskID:    task.ID,
		CallID:    "c",
		Tool:      "t",
		Arguments: text,
		ExpiresAt: r.now.Add(time.Hour),
	})
	task.State = store.TaskCompleted
	task.Answer = text
	task.Error = text
	r.tx(func(tx store.Tx) error {
		_, err := store.EndTask(r.ctx, tx, task)
		return err
	})
}

// addNotice sends a message.
func (r *rig) addNotice(l outbox.Message) {
	r.t.Helper()
	r.tx(func(tx store.Tx) error {
		_, decision, err := r.box.Queue(r.ctx, tx, l)
		require.True(r.t, decision.Allow, decision.Why)
		return err
	})
	r.sendQueued()
}

// runForgettings runs the jobs that delete, and returns the report.
func (r *rig) runForgettings() string {
	r.t.Helper()
	require.NoError(r.t, r.admin.Forgetting.Forget(r.ctx, store.ForgettingID(r.count("select coalesce(max(id), 0) from forgettings"))))
	return bodies(r.sendQueued())
}

// addSecret stores a message with everything that can refer to one.
func (r *rig) addSecret(ana store.Chat) store.Message {
	r.t.Helper()
	secret := r.addGroupMessage(ana, ana.Contact, "the door code is Zanzibar")
	r.exec("update messages set attachment = '{\"name\": \"zanzibar.jpg\"}', action = 'answer' where id = $1", secret.ID)
	r.tx(func(tx store.Tx) error {
		if err := store.KeepFile(r.ctx, tx, secret.ID, []byte("zanzibar"), r.now.AddDate(1, 0, 0)); err != nil {
			return err
		}
		_, err := store.OpenEscalation(r.ctx, tx, ana.ID, secret.ID, "she asks about zanzibar", nil)
		return err
	})
	r.addNote(ana, "The door opens with zanzibar", secret)
	r.addWork(ana, "what about zanzibar", secret.ID)
	quotes := outbox.NewNotice(r.room, "Ana wrote: zanzibar", outbox.Quiet)
	quotes.Quotes = []store.MessageID{secret.ID}
	r.addNotice(quotes)
	r.exec("insert into chat_summaries (chat_id, body, sources, until) values ($1, 'she told of zanzibar', array[$2::bigint], now())", ana.ID,
		secret.ID)
	r.indexMessages()
	return secret
}

// indexMessages indexes the messages for search.
func (r *rig) indexMessages() {
	r.t.Helper()
	for more := true; more; {
		var err error
		more, err = search.IndexMessages(r.ctx, r.st, time.UTC)
		require.NoError(r.t, err)
	}
}

func TestForget_RedactionEmptiesTables(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp", func(c *store.Chat) { c.Contact = "@ana:example.com" })
	secret := r.addSecret(ana)
	require.Greater(t, len(storetest.ColumnsContaining(t, r.st, "zanzibar")), 25)
	r.tx(func(tx store.Tx) error {
		quotes, err := store.RedactMessage(r.ctx, tx, ana.ID, secret.EventID, r.now)
		require.Len(t, quotes, 1, "what quotes it is to be deleted in its room, too")
		return err
	})
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"))
	require.Equal(t, 1, r.count("select count(*) from escalations where closed_at is null"), "she still waits for a person")
}

func TestForget_DeletesQuotesInAdminRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp", func(c *store.Chat) { c.Contact = "@ana:example.com" })
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, policy.ModeBusiness) })
	earlier := r.addGroupMessage(ana, ana.Contact, "zanzibar is the code")
	newer := r.addGroupMessage(ana, ana.Contact, "did you read that?")
	rests := []store.MessageID{earlier.ID, newer.ID}
	r.tx(func(tx store.Tx) error {
		_, err := store.OpenEscalation(r.ctx, tx, ana.ID, newer.ID, "she says zanzibar", rests)
		return err
	})
	r.addNote(ana, "The code is zanzibar", earlier)
	r.addWork(ana, "zanzibar", rests...)
	task := r.count("select max(id) from tasks")
	require.NoError(t, r.admin.Tasks.RequestApproval(r.ctx, int64(r.count("select max(id) from approvals"))))
	running, err := store.InsertTask(r.ctx, r.st.Writer(), store.Task{
		Key:     "plan:1",
		Kind:    "plan",
		ChatID:  r.room.ID,
		Input:   "what about zanzibar?",
		Sources: rests,
	})
	require.NoError(t, err)
	r.addNotice(outbox.Message{
		Chat:      ana,
		Purpose:   policy.PurposeReply,
		Text:      "I know: zanzibar",
		Citations: r.citations("", "zanzibar"),
		Sources:   rests,
	})
	r.exec("update outbox set state = 'failed', error = 'gone' where chat_id = $1", ana.ID)
	require.NoError(t, r.admin.Notices.NotifyUndelivered(r.ctx, r.lastOutboxTo(ana)))
	r.tx(func(tx store.Tx) error {
		_, decision, err := r.box.Queue(r.ctx, tx, outbox.Message{
			Chat:    ana,
			Purpose: policy.PurposeDraft,
			Text:    "Zanzibar, yes.",
			Draft:   true,
			Sources: rests,
		})
		require.True(t, decision.Allow, decision.Why)
		return err
	})
	r.presentDrafts()
	for _, command := range []string{
		fmt.Sprintf("/replay %d", task), "/cancel-task", "/drafts", "/status", "/why ana", "/memory ana",
		"/commitments", "/forget zanzibar",
	} {
		require.Contains(t, strings.ToLower(r.asOwner(command)), "zanzibar", command)
	}
	r.asOwner("no")
	r.sendQueued()
	r.tx(func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, ana.ID, earlier.EventID, r.now)
		return err
	})
	require.Equal(t, []string{"messages.body"}, storetest.ColumnsContaining(t, r.st, "zanzibar"), "but for the owner's own command")
	require.Empty(t, r.task(running.ID).Input)
}

// lastOutboxTo returns the newest outbox message to a chat.
func (r *rig) lastOutboxTo(c store.Chat) uuid.UUID {
	r.t.Helper()
	var out uuid.UUID
	require.NoError(r.t, r.st.DB().QueryRow(r.ctx, "select id from outbox where chat_id = $1 order by seq desc limit 1", c.ID).Scan(&out))
	return out
}

// addWordEverywhere adds a chat, with a word in each table that can contain text.
func addWordEverywhere(t *testing.T) (r *rig, ana store.Chat) {
	t.Helper()
	r = newRig(t)
	business := policy.ModeBusiness
	ana = r.chat("Ana", "whatsapp", func(c *store.Chat) { c.Contact = "@ana:example.com" })
	r.tx(func(tx store.Tx) error { return store.SetMode(r.ctx, tx, ana.ID, business) })
	r.addSecret(ana)
	r.addGroupMessage(ana, ana.Contact, "I like tea")
	r.asOwner("/remember my aunt lives in Zanzibar")
	r.asOwner("/remind 2h book zanzibar")
	r.addWork(r.room, "zanzibar, as it is said") // linked to nothing
	r.addNotice(outbox.Message{Chat: ana, Purpose: policy.PurposeReply, Text: "Zanzibar it is.", Citations: r.citations("x", "zanzibar")})
	r.exec(`insert into river.river_job (kind, args, max_attempts, queue, state, finalized_at) values ('index', '{"path": "zanzibar.pdf"}', 1, 'index', 'completed', now())`)
	r.exec("insert into chat_summaries (chat_id, body, sources, until) values ($1, 'he asked about zanzibar', '{}', now())", r.room.ID)
	r.exec("insert into dialogs (chat_id, kind, payload, outbox_id, expires_at, done_at) values ($1, 'role', '{\"Path\": \"zanzibar.pdf\"}', gen_random_uuid(), now(), now())", r.room.ID)
	r.exec("update outbox set error = 'zanzibar is out of reach', reason = 'It says “zanzibar”, which no document says.' where chat_id = $1",
		ana.ID)
	r.indexMessages()
	require.ElementsMatch(t, []string{
		"messages.body", "messages.attachment", "message_index.tsv", "message_terms.word", "kept_files.data", "escalations.reason", "notes.body",
		"commitments.what", "chat_summaries.body",
		"chunks.content", "chunks.chunk_key", "chunk_index.tsv", "term_stats.word", "documents.hash", "schedules.body", "tasks.input",
		"tasks.request", "tasks.answer", "tasks.error",
		"task_steps.arguments", "task_steps.text", "task_steps.for_user", "task_steps.calls", "task_steps.passages", "task_steps.ref",
		"task_steps.end_reason", "approvals.arguments",
		"outbox.content", "outbox.citations", "outbox.error", "outbox.reason", "dialogs.payload", "river.river_job.args",
	}, storetest.ColumnsContaining(t, r.st, "zanzibar"))
	return r, ana
}

func TestForget_TextIsInNoTable(t *testing.T) {
	t.Parallel()
	r, ana := addWordEverywhere(t)
	asked := r.asOwner("/forget zanzibar")
	require.Contains(t, asked, "Forget what I hold about “zanzibar”?")
	require.Contains(t, asked, "3 messages, 2 notes, 1 reminder")
	require.Contains(t, asked, "Ana · WhatsApp, Fri 20 Nov")
	require.NotEmpty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"), "nothing goes before it is wanted")
	r.asOwner("yes")
	report := r.runForgettings()
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"))
	// Her message, /remember and /remind; of what was said: the answer to her, the notice that quotes her, the answers to
	// /remind, and the question.
	require.Contains(t, report, "3 messages, 1 file I kept, 2 notes, 2 passages of notes, 1 promise, 2 summaries, 1 reminder,")
	require.Contains(t, report, "2 tasks of mine, 1 call for a person and 2 entries in my books")
	require.Contains(t, report, "backups")
	require.Contains(t, report, "networks")
	require.Equal(t, 1, r.count("select count(*) from messages where chat_id = $1 and body = 'I like tea'", ana.ID))

	require.Equal(t, "I hold nothing about that.", r.asOwner("/forget zanzibar"))
	require.Empty(t, r.runForgettings(), "there is nothing to tell of")
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"), "the question itself is forgotten, too")
}

func TestForget_FailedJobKeepsNoError(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`insert into river.river_job (kind, args, max_attempts, queue, state, attempt, errors)
		values ('capture', '{"chat": 1}', 3, 'model', 'retryable', 1, array['{"at": "2026-11-20T10:00:00Z", "attempt": 1, "error": "the model wrote zanzibar", "trace": ""}'::jsonb])`)
	require.Contains(t, r.asOwner("/forget zanzibar"), "1 entry in my books")
	r.asOwner("yes")
	require.Contains(t, r.runForgettings(), "1 entry in my books")
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"))
	require.Equal(t, 1, r.count("select count(*) from river.river_job where kind = 'capture' and state = 'retryable'"))
}

func TestForget_StatisticsKeepNoSample(t *testing.T) {
	t.Parallel()
	r, ana := addWordEverywhere(t)
	for i := range 40 { // a sample is of several values
		r.addGroupMessage(ana, ana.Contact, fmt.Sprintf("line %d of zanzibar", i))
	}
	r.addDocument("prices.md", "# Prices\nDelivery is free.", policy.RolePublic) // a table that is empty keeps its samples
	r.indexMessages()
	r.exec("analyze")
	require.Subset(t, storetest.ColumnStatisticsWith(t, r.st, "zanzibar"), []string{"message_index.tsv", "message_terms.word"},
		"words are sampled")
	r.asOwner("/forget zanzibar")
	r.asOwner("yes")
	r.runForgettings()
	require.Empty(t, storetest.ColumnStatisticsWith(t, r.st, "zanzibar"))
}

func TestForget_ReportMatchesDeletions(t *testing.T) {
	t.Parallel()
	r, _ := addWordEverywhere(t)
	r.asOwner("/forget zanzibar")
	r.asOwner("yes")
	emptied := func() int { return r.count("select count(*) from outbox where content = '{}'") }
	require.Zero(t, emptied())
	report := r.runForgettings()
	require.Contains(t, report, fmt.Sprintf("%d things I said", emptied()-2), "and the question and its end, which quoted it")
	require.Equal(t, 3, r.count("select (counts->>'messages')::int from forgettings"))
	require.Equal(t, 2, r.count("select (counts->>'summaries')::int from forgettings"))
	require.Equal(t, 3+1, r.count("select count(*) from messages where redacted_at is not null"), "and the one that asked")
	require.Zero(t, r.count("select count(*) from notes"))
	require.Zero(t, r.count("select count(*) from documents where name <> 'faq.md'"))
	require.Zero(t, r.count("select count(*) from schedules where created_by <> ''"))
	require.Zero(t, r.count("select count(*) from commitments"))
	require.Equal(t, 2, r.count("select count(*) from tasks where forgotten"))
	// What quoted it in this room is taken back there; what she was told stays with her.
	require.Zero(t,
		r.count("select count(*) from river.river_job j join outbox o on o.id = (j.args->>'outbox')::uuid where j.kind = 'retract' and o.send_as = 'owner'"))
	require.Positive(t, r.count("select count(*) from river.river_job where kind = 'retract'"))
}

func TestForget_BackfillSkipsForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	m := r.addGroupMessage(ana, "@ana:x", "zanzibar")
	r.asOwner("/forget zanzibar")
	r.asOwner("👍")
	r.runForgettings()
	require.Error(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := store.InsertMessage(r.ctx, tx, m)
		return err
	}), "its event is known for good")
}

func TestForget_NoKeepsEverything(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.addGroupMessage(ana, "@ana:x", "zanzibar")
	require.Contains(t, r.asOwner("/forget"), "What should I forget?")
	for _, command := range []string{"/forget zanzibar", "/forget all", "/forget all ana", "/erase ana"} {
		require.Contains(t, r.asOwner(command), "Open until")
		require.Equal(t, "Kept.", r.asOwner("no"), command)
	}
	require.Contains(t, r.asOperator("/forget zanzibar"), "Only the owner can use")
	require.Contains(t, r.asOperator("/erase ana"), "Only the owner can use")
	require.Zero(t, r.count("select count(*) from forgettings"))
	require.Equal(t, 1, r.count("select count(*) from messages where body = 'zanzibar'"))
}

func TestForget_ChatNeedsTypedYes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.chat("Ana", "whatsapp")
	for _, command := range []string{"/forget all", "/forget all ana", "/erase ana"} {
		r.asOwner(command)
		require.Contains(t, r.react(r.lastSent().Event, "👍"), "Please type")
		r.asOwner("no")
	}
	require.Zero(t, r.count("select count(*) from forgettings"))
}

func TestForget_TopicMatchesLiterally(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	r.addGroupMessage(ana, "@ana:x", "die Überweisung war 100% (net.)")
	r.addGroupMessage(ana, "@ana:x", "100 net")
	r.addNote(ana, "ÜBERWEISUNG erledigt", r.addGroupMessage(ana, "@ana:x", "ja"))
	require.Contains(t, r.asOwner("/forget überweisung"), "2 messages and 1 note", "and what the note comes from")
	r.asOwner("no")
	require.Contains(t, r.asOwner(`/forget 100% (NET.)`), "1 message")
	r.asOwner("no")
	for _, nothing := range []string{"%", "(net", `\d`, ".*", "[a-z]+"} {
		r.asOwner("/forget " + nothing)
	}
	require.Contains(t, r.asOwner(`/forget [a-z]+q`), "I hold nothing about that.")
}

func TestForget_TopicIsAllOrNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec(`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state)
		select gen_random_uuid(), $1, 'bot', 'notice', 'm.room.message', '{"body": "zanzibar"}', 'allowed', '', 'sent' from generate_series(1, 5001)`, r.room.ID)
	require.Contains(t, r.asOwner("/forget zanzibar"), "more than 5000 places")
}

func TestForget_PhotoByName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	photo := r.addGroupMessage(ana, "@ana:x", "[photo]")
	r.exec(`update messages set attachment = '{"url": "mxc://x/1", "name": "passport of Zanzibar.jpg"}' where id = $1`, photo.ID)
	require.Contains(t, r.asOwner("/forget zanzibar"), "1 message")
	r.asOwner("yes")
	require.Contains(t, r.runForgettings(), "1 message")
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"))
}

func TestForget_NoteByNumber(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	from := r.addGroupMessage(ana, "@ana:x", "it is istanbul")
	note := r.addNote(ana, "The city is meant", from)
	require.Contains(t, r.asOwner(fmt.Sprintf("/forget %d", note+100)), "There is no note")
	require.Contains(t, r.asOwner(fmt.Sprintf("/forget #%d", note)), "1 message and 1 note")
	r.asOwner("yes")
	require.Contains(t, r.runForgettings(), "1 message, 1 note, 1 passage of notes and 1 promise")
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "istanbul"))
}

func TestForget_ByLink(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	m := r.addGroupMessage(ana, "@ana:x", "zanzibar")
	require.Contains(t, r.asOwner("/forget https://matrix.to/#/!x:example.com/$nothing"), "no message under that link")
	require.Contains(t, r.asOwner("/forget "+ana.RoomID.EventURI(m.EventID).MatrixToURL()), "Forget this message?")
	r.asOwner("yes")
	require.Contains(t, r.runForgettings(), "1 message")
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"))
}

func TestForget_ChatKeepsItsRow(t *testing.T) {
	t.Parallel()
	r, ana := addWordEverywhere(t)
	ben := r.chat("Ben", "whatsapp")
	r.addGroupMessage(ben, "@ben:x", "Ben says oslo")
	require.Contains(t, r.asOwner("/forget all ana"), "Forget all that was said in Ana · WhatsApp")
	r.asOwner("yes")
	require.Contains(t, r.runForgettings(), "2 messages, 1 file I kept, 1 note, 1 passage of notes, 1 promise")
	require.Zero(t, r.count("select count(*) from messages where chat_id = $1", ana.ID))
	require.Equal(t, policy.ModeBusiness, *r.reload(ana).Mode)
	require.Equal(t, 1, r.count("select count(*) from messages where body = 'Ben says oslo'"))
	require.ElementsMatch(t, []string{ // what the owner wrote himself
		"messages.body", "notes.body", "chunks.content", "chunk_index.tsv", "term_stats.word", "schedules.body", "tasks.input", "tasks.request",
		"tasks.answer", "tasks.error", "outbox.content",
		"task_steps.arguments", "task_steps.text", "task_steps.for_user", "task_steps.calls", "task_steps.passages", "task_steps.ref",
		"task_steps.end_reason", "approvals.arguments", "river.river_job.args",
		"chat_summaries.body", "dialogs.payload",
	}, storetest.ColumnsContaining(t, r.st, "zanzibar"))
}

func TestForget_AllKeepsDocumentsAndSettings(t *testing.T) {
	t.Parallel()
	r, ana := addWordEverywhere(t)
	r.addDocument("prices.md", "# Prices\nDelivery is free.", policy.RolePublic)
	r.asOwner("/forget all")
	r.asOwner("yes")
	require.Contains(t, r.runForgettings(), "Forgotten:")
	require.ElementsMatch(t, []string{"schedules.body", "river.river_job.args"}, storetest.ColumnsContaining(t, r.st, "zanzibar"))
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "I like tea"))
	require.Equal(t, 1, r.count("select count(*) from documents where name <> 'faq.md'"))
	require.Equal(t, policy.ModeBusiness, *r.reload(ana).Mode)
	require.Contains(t, r.asOwner("/remember a new beginning"), "Noted: “a new beginning”. ")
}

func TestErase_PersonInAllChats(t *testing.T) {
	t.Parallel()
	r, ana := addWordEverywhere(t)
	family := r.chat("Family", "whatsapp", func(c *store.Chat) { c.Kind = policy.KindGroup })
	r.addGroupMessage(family, ana.Contact, "quito is nice")
	r.addGroupMessage(family, "@ben:x", "Ben says oslo")
	other := r.chat("Ana", "whatsapp", func(c *store.Chat) { c.Contact, c.Login = ana.Contact, "second" })
	r.addGroupMessage(other, ana.Contact, "bogota too")
	require.Contains(t, r.asOwner("/erase Family"), "is not a person")
	r.asOwner("/erase Ana")
	asked := r.asOwner("1")
	require.Contains(t, asked, "Erase Ana?")
	require.Contains(t, asked, "and 1 message in groups")
	r.addGroupMessage(family, ana.Contact, "lima is nicer")
	r.asOwner("yes")
	require.Equal(t, policy.ModeOff, *r.reload(ana).Mode, "from the moment it is wanted")
	r.addGroupMessage(ana, ana.Contact, "what was just on its way")
	report := r.runForgettings()
	require.Contains(t, report, "6 messages")
	require.Contains(t, report, "**off**")
	for _, c := range []store.Chat{ana, other} {
		require.Equal(t, policy.ModeOff, *r.reload(c).Mode)
		require.Zero(t, r.count("select count(*) from messages where chat_id = $1", c.ID))
	}
	for _, text := range []string{"quito", "lima", "bogota", "I like tea", "door code"} {
		require.Empty(t, storetest.ColumnsContaining(t, r.st, text), text)
	}
	require.Equal(t, 1, r.count("select count(*) from messages where body = 'Ben says oslo'"))
	verified, err := r.settings.Audit.Verify(r.ctx, r.st)
	require.NoError(t, err, "the audit log needs no rewriting")
	require.Positive(t, verified.Entries)
	require.Positive(t, r.count("select count(*) from audit_entries where kind = 'deletion' and outcome = 'done'"))
}

func TestForget_ResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	for range 3 {
		r.addGroupMessage(ana, "@ana:x", "zanzibar")
	}
	r.asOwner("/forget zanzibar")
	r.asOwner("yes")
	forgetting := store.ForgettingID(r.count("select max(id) from forgettings"))
	r.tx(func(tx store.Tx) error { // one step, and then the process dies
		_, _, err := r.memory.ForgetStep(r.ctx, tx, forgetting)
		return err
	})
	r.restart()
	require.Contains(t, r.runForgettings(), "3 messages")
	require.Empty(t, r.runForgettings(), "it is told once")
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"))
}

// TestForget_AmountIsTopic: only a link to a message, or its id, names a message.
func TestForget_AmountIsTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	m := r.addGroupMessage(ana, "@ana:x", "the deposit of $500 and the code 4711")
	require.Contains(t, r.asOwner("/forget $500"), "Forget what I hold about")
	require.Contains(t, r.asOwner("/forget number 4711"), "“4711”")
	require.Contains(t, r.asOwner("/forget "+string(m.EventID)+":example.com"), "no message under that link")
}
