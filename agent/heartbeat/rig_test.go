package heartbeat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/agent/persona"
	"multis/agent/tools"
	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// monday is a morning in a week of heartbeats.
var monday = time.Date(2026, 11, 16, 7, 0, 0, 0, time.UTC)

// rig is a Checker with a business chat of Ana's and an admin room.
type rig struct {
	t       testing.TB
	store   *store.Store
	checker *Checker
	chat    store.Chat
	admin   store.Chat
	n       int
}

// newRig returns a rig. Heartbeats whose config has no model use the given one.
func newRig(t testing.TB, model llm.Model, configs ...Config) *rig {
	t.Helper()
	st, ctx := storetest.New(t), context.Background()
	defaults := policy.Defaults{Profile: policy.ProfilePersonal}
	r := &rig{t: t, store: st, checker: New(Options{
		Store:    st,
		Personas: persona.Set{Model: model},
		Defaults: defaults,
		Name:     "Nora",
		Zone:     time.UTC,
		Configs:  configs,
		Tools:    tools.NewRegistry(tools.TierPolicy{}, tools.SearchDocs{Search: search.New(st)}, tools.Escalate{}),
		Box: outbox.New(st, outbox.Settings{
			Defaults:   defaults,
			OwnerPause: 30 * time.Minute,
			SendCap:    policy.Rate{Minute: 10, Day: 100},
			Name:       "Nora",
			Disclose:   func(string) bool { return true },
		}, nil),
	})}
	r.checker.now = func() time.Time { return monday }
	room, adminRoom := id.RoomID("!ana:x"), id.RoomID("!admin:x")
	require.NoError(t, st.InTx(ctx, func(tx store.Tx) (err error) {
		r.chat, err = store.UpsertChat(ctx, tx, store.Chat{
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
		r.admin, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "matrix",
			ChannelID:  "admin",
			RoomID:     &adminRoom,
			Kind:       policy.KindAdmin,
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		return store.SetMode(ctx, tx, r.chat.ID, policy.ModeBusiness)
	}))
	return r
}

// newScripted returns a rig whose model answers with a script.
func newScripted(t *testing.T, script llmtest.Script, c Config) (*rig, *llmtest.Server) {
	t.Helper()
	model, server := openModel(t, &fakeLedger{}, script)
	c.Active = 16 * time.Hour
	return newRig(t, model, c), server
}

// openModel opens a model that answers with a script and is paid from a ledger.
func openModel(t *testing.T, p *fakeLedger, script llmtest.Script) (llm.Model, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(t, script)
	models, err := llm.New(llm.Options{
		Providers: map[string]llm.Provider{"openai": {BaseURL: server.URL}}, Timeout: time.Minute,
		Prices: map[string]llm.Price{"openai/test": {In: 1, Out: 1}},
		Budget: llm.Budget{Ledger: p, Today: func() string { return "2026-11-20" }},
	})
	require.NoError(t, err)
	model, err := models.Open([]string{"openai/test"}, "")
	require.NoError(t, err)
	return model, server
}

// fakeLedger is a ledger that records what is spent, and refuses with a cap.
type fakeLedger struct {
	refuse policy.Cap

	mu     sync.Mutex
	spends []policy.SpendRequest
}

func (p *fakeLedger) Reserve(_ context.Context, s policy.SpendRequest) (policy.Reservation, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spends = append(p.spends, s)
	return policy.Reservation{Refused: p.refuse}, nil
}

func (*fakeLedger) Settle(context.Context, int64, policy.Settlement) error { return nil }

// heartbeats carries out a heartbeat every half hour from 7:00 to 23:00 for some days, and counts the notes by their text.
func (r *rig) heartbeats(agent string, days int) (notes map[string]int) {
	r.t.Helper()
	notes = map[string]int{}
	for range days {
		for range 32 {
			notes[r.heartbeat(agent)]++
			r.advance(30 * time.Minute)
		}
		r.advance(8 * time.Hour)
	}
	return notes
}

func (r *rig) heartbeat(agent string) string {
	r.t.Helper()
	note, err := r.checker.Heartbeat(context.Background(), r.admin, store.ExecutionID(r.checker.now().Unix()), agent)
	require.NoError(r.t, err)
	return note
}

// advance moves the clock.
func (r *rig) advance(d time.Duration) {
	now := r.checker.now().Add(d)
	r.checker.now = func() time.Time { return now }
}

// storeMessage stores a message in Ana's chat that was written some time ago.
func (r *rig) storeMessage(text string, by policy.Author, ago time.Duration) store.MessageID {
	r.t.Helper()
	r.n++
	var row store.MessageID
	at := r.checker.now().Add(-ago)
	require.NoError(r.t, r.store.InTx(context.Background(), func(tx store.Tx) (err error) {
		row, err = store.InsertMessage(context.Background(), tx, store.Message{
			ChatID:  r.chat.ID,
			EventID: id.EventID(fmt.Sprintf("$m%d", r.n)),
			Author:  by,
			Sender:  "@demo_ana:x",
			Kind:    "text",
			Body:    text,
			At:      at,
			Action:  policy.ActionArchive,
			Code:    policy.CodeAnswer,
			Reason:  "It asks for a person.",
		})
		return err
	}))
	_, err := r.store.Pool().Exec(context.Background(), "update messages set received_at = $2, answered_at = now() where id = $1", row, at)
	require.NoError(r.t, err)
	return row
}

// queuedTexts lists the texts that were queued for a chat, the oldest first.
func (r *rig) queuedTexts(chat store.Chat) []string {
	r.t.Helper()
	rows, err := r.store.DB().Query(context.Background(),
		"select content->>'body' from outbox where chat_id = $1 and state = 'queued' order by seq", chat.ID)
	require.NoError(r.t, err)
	defer rows.Close()
	var bodies []string
	for rows.Next() {
		var body string
		require.NoError(r.t, rows.Scan(&body))
		bodies = append(bodies, body)
	}
	require.NoError(r.t, rows.Err())
	return bodies
}

// countingTool is a tool that changes something.
type countingTool struct{ calls atomic.Int32 }

func (*countingTool) Spec() tools.Spec {
	return tools.Spec{Name: "lamp", Description: "Switch the lamp.", Schema: tools.Schema[struct {
		On bool `json:"on"`
	}](), Tier: tools.Read, HasEffect: true}
}

func (l *countingTool) Run(context.Context, tools.Call) (tools.Result, error) {
	l.calls.Add(1)
	return tools.Result{ForLLM: "The lamp is on.", ForUser: "switched the lamp"}, nil
}

// inTurn returns a script with one reply per request. The last reply is repeated.
func inTurn(replies ...llmtest.Reply) llmtest.Script {
	var n atomic.Int32
	return func(context.Context, llmtest.Request) llmtest.Reply {
		return replies[min(int(n.Add(1))-1, len(replies)-1)]
	}
}

// reportAll is a script that reports every finding in the request.
func reportAll(_ context.Context, r llmtest.Request) llmtest.Reply {
	var tell []map[string]string
	for line := range strings.Lines(r.Messages[0].Text) {
		if _, rest, found := strings.Cut(line, " matter "); found {
			key, _, _ := strings.Cut(rest, ": ")
			tell = append(tell, map[string]string{"matter": key, "text": "Look at it now!"})
		}
	}
	return llmtest.Reply{Text: mustJSON(map[string]any{"notify": true, "tell": tell})}
}

func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}
