package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/business/catalog"
	"multis/knowledge"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/index"
	"multis/store/storetest"
)

const priceList = `# Prices

## Delivery

Deliveries run Monday to Saturday, 9:00 to 18:00. Delivery costs 5 euro within the city.

## Pianos

Tuning an upright piano costs 90 euro. A grand piano costs 120 euro.
`

// fixture is an agent with a chat of Ana's, an admin room and a public price list.
type fixture struct {
	t         testing.TB
	store     *store.Store
	agent     *Agent
	chat      store.Chat
	admin     store.Chat
	n         int
	said      string             // what a source returns
	documents *knowledge.Library // of the index method
}

func setup(t testing.TB, model llm.Model) *fixture {
	t.Helper()
	return setupIn(t, storetest.New(t), model)
}

// setupIn is setup with a given database.
func setupIn(t testing.TB, st *store.Store, model llm.Model) *fixture {
	t.Helper()
	ctx := context.Background()
	box := outbox.New(st, outbox.Settings{
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal}, OwnerPause: 30 * time.Minute, SendCap: policy.Rate{Minute: 10, Day: 100},
		Name:     "Nora",
		Disclose: func(string) bool { return true },
	}, nil)
	b := &fixture{t: t, store: st}
	b.agent = New(Options{
		Store:    st,
		Box:      box,
		Search:   search.New(st),
		Personas: persona.Set{Model: model},
		Name:     "Nora",
		Texts:    catalog.Texts{ForAll: map[catalog.Name]string{catalog.Greeting: "Hello! How can I help?"}},
		Language: catalog.English,
		Zone:     time.UTC,
	})
	room := id.RoomID("!ana:x")
	adminRoom := id.RoomID("!admin:x")
	mode := policy.ModeBusiness
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) (err error) {
		b.chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  "ana",
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       "Ana",
			BridgeBot:  "@demobot:x",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		b.admin, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  "admin",
			RoomID:     &adminRoom,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return store.SetMode(ctx, tx, b.chat.ID, mode)
	}))
	_, err := knowledge.New(st).Index(ctx, knowledge.File{Name: "prices.md", Data: []byte(priceList), Role: policy.RolePublic})
	require.NoError(t, err)
	return b
}

// otherChat is a chat in business mode with somebody else.
func (b *fixture) otherChat(name string) (chat store.Chat) {
	b.t.Helper()
	room, mode := id.RoomID("!"+name+":x"), policy.ModeBusiness
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(context.Background(), tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  name,
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       name,
			BridgeBot:  "@demobot:x",
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return store.SetMode(context.Background(), tx, chat.ID, mode)
	}))
	return chat
}

// anotherAna is a second chat of that name.
func (b *fixture) anotherAna(protocol string) {
	b.t.Helper()
	room := id.RoomID("!other:x")
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) error {
		_, err := store.UpsertChat(context.Background(), tx, store.Chat{
			Protocol:   protocol,
			ChannelID:  "other",
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       "Ana",
			Encryption: policy.EncryptionNo,
		})
		return err
	}))
}

// setTools gives the fixture's agent tools.
func (b *fixture) setTools(extra ...tools.Tool) {
	b.agent.tools = tools.NewRegistry(tools.TierPolicy{},
		append([]tools.Tool{tools.SearchDocs{Search: search.New(b.store)}, tools.Escalate{}}, extra...)...)
}

// setOutboxTime moves the outbox messages of the chat to the fixture's time, because the database has a clock of its own.
func (b *fixture) setOutboxTime(now time.Time) {
	b.t.Helper()
	_, err := b.store.Pool().Exec(context.Background(), "update outbox set created_at = $2 where chat_id = $1 and created_at < now()",
		b.chat.ID, now)
	require.NoError(b.t, err)
}

// openPaidModel is a scripted model that is paid from the bundle's database: a cent for ten thousand tokens.
func (b *fixture) openPaidModel(t testing.TB, script llmtest.Script) llm.Model {
	t.Helper()
	server := llmtest.Start(t, script)
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: server.URL}}, Timeout: time.Minute,
		Prices: map[string]llm.Price{"openai/test": {In: 1_000_000, Out: 1_000_000}},
		Budget: llm.Budget{
			Ledger: databaseLedger{b.store}, DayCap: 1 << 50, ChatCap: 1 << 50, AgentCap: 1 << 50, RunCap: 1 << 50,
			Today: func() string {
				return "2026-11-20"
			},
		},
	})
	require.NoError(t, err)
	model, err := models.Open([]string{"openai/test"}, "")
	require.NoError(t, err)
	return model
}

// withinCaps looks at one moment of the storm.
func (b *fixture) withinCaps() {
	rows, err := b.store.DB().Query(context.Background(), "select cap, max(committed) from budgets group by cap")
	if err != nil {
		b.t.Error(err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var purse string
		var most int64
		if err := rows.Scan(&purse, &most); err != nil {
			b.t.Error(err)
		}
		if limit := map[string]int64{"day": stormDay, "chat": stormChat, "agent": stormAgent, "run": stormRun}[purse]; most > limit {
			b.t.Errorf("%s: %d committed, cap %d", purse, most, limit)
		}
	}
}

// storeMessage stores a message of a chat that waits for nothing.
func (b *fixture) storeMessage(chat store.Chat, author policy.Author, body string, at time.Time) store.MessageID {
	b.t.Helper()
	b.n++
	ctx := context.Background()
	var row store.MessageID
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(ctx, tx, store.Message{
			ChatID:  chat.ID,
			EventID: id.EventID(fmt.Sprintf("$w%d", b.n)),
			Author:  author,
			Sender:  "@demo_ana:x",
			Kind:    "text",
			Body:    body,
			At:      at,
			Action:  policy.ActionArchive,
			Code:    policy.CodeSilent,
		})
		return err
	}))
	return row
}

// storeContactMessage stores a message of Ana's that waits for an answer, and returns its id.
func (b *fixture) storeContactMessage(text string, action policy.Action) store.MessageID {
	b.t.Helper()
	b.n++
	var row store.MessageID
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(context.Background(), tx, store.Message{
			ChatID:  b.chat.ID,
			EventID: id.EventID(fmt.Sprintf("$m%d", b.n)),
			Author:  policy.AuthorContact,
			Sender:  "@demo_ana:x",
			Kind:    "text",
			Body:    text,
			At:      time.Now(),
			Action:  action,
			Code:    policy.CodeAnswer,
			Reason:  "It asks for a person.",
		})
		return err
	}))
	return row
}

// storeQuestion stores a question of the owner's in the admin room.
func (b *fixture) storeQuestion(text string) store.Message {
	b.t.Helper()
	b.n++
	ctx := context.Background()
	var m store.Message
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		row, err := store.InsertMessage(ctx, tx, store.Message{
			ChatID:  b.admin.ID,
			EventID: id.EventID(fmt.Sprintf("$q%d", b.n)),
			Author:  policy.AuthorOwnerClient,
			Sender:  "@you:x",
			Kind:    "text",
			Body:    text,
			At:      time.Now(),
			Action:  policy.ActionCommand,
			Code:    policy.CodeCommand,
		})
		if err != nil {
			return err
		}
		m, err = store.MessageByID(ctx, tx, row)
		return err
	}))
	return m
}

// storeAnsweredMessage has Ana write a message that is answered.
func (b *fixture) storeAnsweredMessage(text string) store.Message {
	b.t.Helper()
	row := b.storeContactMessage(text, policy.ActionAnswer)
	require.NoError(b.t, b.agent.Turns.Turn(context.Background(), b.chat.ID, "job", true))
	return b.messageByID(row)
}

// storeLine stores a message of Ana's of some kind, with the line that multis makes of it.
func (b *fixture) storeLine(kind, line string) store.MessageID {
	b.t.Helper()
	message := b.storeContactMessage(line, policy.ActionArchive)
	_, err := b.store.Pool().Exec(context.Background(), "update messages set kind = $2 where id = $1", message, kind)
	require.NoError(b.t, err)
	require.NoError(b.t, b.agent.memory.IndexMessages(context.Background()))
	return message
}

// storePicture has somebody send a picture, and returns its row.
func (b *fixture) storePicture(chat store.Chat, name, caption string, action policy.Action) store.MessageID {
	b.t.Helper()
	b.n++
	author, code := policy.AuthorContact, policy.CodeAnswer
	if chat.Kind == policy.KindAdmin {
		author, code = policy.AuthorOwnerClient, policy.CodeCommand
	}
	var row store.MessageID
	require.NoError(b.t, b.store.InTx(context.Background(), func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(context.Background(), tx, store.Message{
			ChatID:     chat.ID,
			EventID:    id.EventID(fmt.Sprintf("$p%d", b.n)),
			Author:     author,
			Sender:     "@demo_ana:x",
			Kind:       "image",
			Body:       strings.TrimSpace("[photo] " + caption),
			Attachment: &store.Attachment{URL: "mxc://example.com/1", Name: name, MIME: "image/png"},
			At:         time.Now(),
			Action:     action,
			Code:       code,
		})
		return err
	}))
	return row
}

// storeExchange stores what Ana asked and was answered before.
func (b *fixture) storeExchange(question, answer string) {
	b.t.Helper()
	b.storeMessage(b.chat, policy.AuthorContact, question, time.Now().Add(-2*time.Minute))
	b.storeMessage(b.chat, policy.AuthorMultisOwner, answer, time.Now().Add(-time.Minute))
}

// storeConversation stores n messages of Ana's chat, hers and multis' in turn, the last a minute ago.
func (b *fixture) storeConversation(n int) []store.MessageID {
	b.t.Helper()
	var rows []store.MessageID
	for i := range n {
		author := policy.AuthorContact
		if i%2 == 1 {
			author = policy.AuthorMultisOwner
		}
		rows = append(rows, b.storeMessage(b.chat, author, fmt.Sprintf("word%02d", i), time.Now().Add(time.Duration(i-n)*time.Minute)))
	}
	return rows
}

// deleteMessage has somebody delete a message.
func (b *fixture) deleteMessage(row store.MessageID) {
	b.t.Helper()
	ctx := context.Background()
	m := b.messageByID(row)
	require.NoError(b.t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(ctx, tx, m.ChatID, m.EventID, time.Now())
		return err
	}))
}

// index indexes a page that others wrote.
func (b *fixture) index(name, origin string, data []byte) {
	b.t.Helper()
	if b.documents == nil { // compiling the PDF engine takes seconds, so it is kept
		b.documents = knowledge.Open(b.store, knowledge.Options{CacheDir: b.t.TempDir()})
	}
	_, err := b.documents.Index(context.Background(), knowledge.File{Name: name, Origin: origin, Data: data, Role: policy.RoleAdmin})
	require.NoError(b.t, err)
}

func (b *fixture) learn(name, text string) {
	b.t.Helper()
	name = strings.Map(func(r rune) rune {
		if r == 0 {
			return -1
		}
		return r
	}, name)
	text = strings.ReplaceAll(text, "\x00", "")
	_, err := knowledge.New(b.store).Index(context.Background(), knowledge.File{
		Name:   name,
		Origin: "attack",
		Data:   []byte(text),
		Role:   policy.RolePublic,
	})
	require.NoError(b.t, err)
}

// indexCapture puts what was captured of Ana's chat into the library.
func (b *fixture) indexCapture(text string) {
	b.t.Helper()
	_, err := knowledge.New(b.store).Index(context.Background(), knowledge.File{
		Name:   "Ana",
		Origin: "ana",
		Data:   []byte(text),
		Role:   policy.UserRole(b.chat.ID),
	})
	require.NoError(b.t, err)
}

func (b *fixture) forgetDocument() {
	b.t.Helper()
	_ = knowledge.New(b.store).Remove(context.Background(), "attack") // there may be none
}

// note stores something remembered.
func (b *fixture) note(role policy.Role, chat store.ChatID, text string) {
	b.t.Helper()
	ctx := context.Background()
	scope := policy.OwnerScope()
	if role != policy.RoleAdmin {
		scope = policy.OwnerScope(chat)
	}
	require.NoError(b.t, b.store.AsOwner(ctx, scope, func(tx store.Tx) error {
		_, err := store.InsertNote(ctx, tx, store.Note{
			Role:      role,
			ChatID:    chat,
			Kind:      store.NoteByHand,
			Body:      text,
			ValidFrom: time.Now(),
		})
		return err
	}))
}

// notes has the owner remember something.
func (b *fixture) notes(text string) {
	b.t.Helper()
	require.NoError(b.t, b.store.AsOwner(context.Background(), policy.OwnerScope(), func(tx store.Tx) error {
		_, err := index.ReplaceDocument(context.Background(), tx, index.Document{
			Origin: "note:" + text,
			Name:   "Notes",
			Role:   policy.RoleAdmin,
			Kind:   index.KindConversation,
			Format: "chat",
			Hash:   text,
		},
			[]index.Chunk{{Key: text, Content: text, SearchText: search.IndexText("", "", text)}})
		return err
	}))
}

// remember gives the agent a memory in which the passage of a note stands, with the role of Ana's chat.
func (b *fixture) remember(note string) {
	b.t.Helper()
	b.agent.memory = memory.New(memory.Options{
		Store:    b.store,
		Search:   search.New(b.store),
		Model:    llm.None{},
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
	})
	role := policy.UserRole(b.chat.ID)
	require.NoError(b.t, b.store.AsOwner(context.Background(), policy.ContactScope(b.chat.ID), func(tx store.Tx) error {
		_, err := index.ReplaceDocument(context.Background(), tx, index.Document{
			Origin: "note",
			Name:   "Notes · Ana",
			Role:   role,
			Kind:   index.KindConversation,
			Format: "chat",
			Hash:   "h",
		},
			[]index.Chunk{{Key: "note", Content: note, SearchText: search.IndexText("", "", note)}})
		return err
	}))
}

// addMemory gives the fixture's agent a memory, in which Ana said something.
func (b *fixture) addMemory(said string) store.MessageID {
	b.t.Helper()
	b.agent.memory = memory.New(memory.Options{
		Store:    b.store,
		Search:   search.New(b.store),
		Model:    llm.None{},
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
	})
	row := b.storeContactMessage(said, policy.ActionArchive)
	require.NoError(b.t, b.agent.memory.IndexMessages(context.Background()))
	return row
}

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
