package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/knowledge/search"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// rig is a memory with a model server, Ana's chat, Ben's chat and the owner's room.
type rig struct {
	t      *testing.T
	ctx    context.Context
	st     *store.Store
	script llmtest.Script
	server *llmtest.Server
	mem    *memory.Memory
	ana    store.Chat
	ben    store.Chat
	room   store.Chat
	n      int
	now    time.Time
}

// unlimitedLedger is a Ledger that refuses nothing.
type unlimitedLedger struct{}

func (unlimitedLedger) Reserve(context.Context, policy.SpendRequest) (policy.Reservation, error) {
	return policy.Reservation{}, nil
}
func (unlimitedLedger) Settle(context.Context, int64, policy.Settlement) error { return nil }

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{
		t:      t,
		ctx:    context.Background(),
		st:     storetest.New(t),
		script: llmtest.Say(`{"notes": []}`),
		now:    time.Now().Truncate(time.Second),
	}
	r.server = llmtest.Start(t, func(ctx context.Context, req llmtest.Request) llmtest.Reply { return r.script(ctx, req) })
	model, err := modelWithTimeout(r.server.URL, time.Minute)
	require.NoError(t, err)
	r.mem = r.withModel(model)
	r.ana, r.ben = r.chat("Ana", policy.KindDM), r.chat("Ben", policy.KindDM)
	r.room = r.chat("Admin", policy.KindAdmin)
	return r
}

func (r *rig) withModel(model llm.Model) *memory.Memory {
	return memory.New(memory.Options{
		Store:    r.st,
		Search:   search.New(r.st),
		Model:    model,
		Defaults: policy.Defaults{Profile: policy.ProfilePersonal},
		Zone:     time.UTC,
		Name:     "Nora",
		Now:      func() time.Time { return r.now },
	})
}

func (r *rig) chat(name string, kind policy.Kind) store.Chat {
	r.t.Helper()
	room := id.RoomID("!" + name + ":x")
	c := store.Chat{
		Protocol:   "whatsapp",
		ChannelID:  name,
		RoomID:     &room,
		Kind:       kind,
		Name:       name,
		BridgeBot:  "@bot:x",
		Encryption: policy.EncryptionNo,
	}
	require.NoError(r.t, r.st.InTx(r.ctx, func(tx store.Tx) (err error) {
		c, err = store.UpsertChat(r.ctx, tx, c)
		return err
	}))
	return c
}

// says stores a message as the inbox does.
func (r *rig) says(chat store.Chat, author policy.Author, body string, at time.Time) store.Message {
	r.t.Helper()
	r.n++
	m := store.Message{
		ChatID:  chat.ID,
		EventID: id.EventID(fmt.Sprintf("$m%d", r.n)),
		Author:  author,
		Sender:  "@someone:x",
		Kind:    "text",
		Body:    body,
		At:      at,
		Action:  policy.ActionArchive,
		Code:    policy.CodeSilent,
	}
	if chat.Kind == policy.KindAdmin {
		m.Action, m.Code = policy.ActionCommand, policy.CodeCommand
	}
	require.NoError(r.t, r.st.InTx(r.ctx, func(tx store.Tx) (err error) {
		m.ID, err = store.InsertMessage(r.ctx, tx, m)
		return err
	}))
	return m
}

// talk stores n messages of a chat, the contact's and the owner's in turn.
func (r *rig) talk(chat store.Chat, n int) []store.Message {
	r.t.Helper()
	var all []store.Message
	for i := range n {
		author := policy.AuthorContact
		if i%2 == 1 {
			author = policy.AuthorOwnerPhone
		}
		all = append(all, r.says(chat, author, fmt.Sprintf("line %d of %s", i+1, chat.Name), r.now.Add(time.Duration(i-n)*time.Minute)))
	}
	return all
}

// note is one note as a model would write it.
type note struct {
	Kind     string       `json:"kind"`
	Subject  string       `json:"subject"`
	Text     string       `json:"text"`
	Who      string       `json:"who,omitempty"`
	Whom     string       `json:"whom,omitempty"`
	Due      string       `json:"due,omitempty"`
	From     []int        `json:"from"`
	Replaces store.NoteID `json:"replaces,omitempty"`
}

// notes makes the model answer with notes.
func (r *rig) notes(list ...note) {
	r.t.Helper()
	if list == nil {
		list = []note{}
	}
	raw, err := json.Marshal(map[string]any{"notes": list})
	require.NoError(r.t, err)
	r.script = llmtest.Say(string(raw))
}

// validNotes returns the valid notes of a role.
func (r *rig) validNotes(scope policy.Scope, role policy.Role) []store.Note {
	r.t.Helper()
	var notes []store.Note
	require.NoError(r.t, r.st.AsOwner(r.ctx, scope, func(tx store.Tx) (err error) {
		notes, err = store.NotesOfRole(r.ctx, tx, role, 1000)
		return err
	}))
	return notes
}

func (r *rig) notesOfAna() []store.Note {
	return r.validNotes(policy.ContactScope(r.ana.ID), policy.UserRole(r.ana.ID))
}

func (r *rig) count(sql string, args ...any) int {
	r.t.Helper()
	return storetest.Count(r.t, r.st, sql, args...)
}

func (r *rig) dueCaptures() []store.ChatID {
	r.t.Helper()
	due, err := r.mem.DueCaptures(r.ctx)
	require.NoError(r.t, err)
	return due
}
