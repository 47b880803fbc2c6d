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
	"multis/knowledge/knowledgetest"
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
		b.documents = knowledge.Open(b.store, knowledge.Options{CacheDir: knowledgetest.EngineCache(b.t)})
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
