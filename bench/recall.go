package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/agent/tools"
	"multis/appservice"
	"multis/knowledge/search"
	"multis/llm"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

// recallCmd evaluates the tool recall_memory on a collection: each row becomes a message received from Matrix, and each query a call of the
// tool in the chat of its group.
type recallCmd struct {
	Dir string `arg:"" help:"Holds corpus.jsonl and queries.jsonl of what people said to each other."`
}

const (
	recallOwner = id.UserID("@owner:bench")
	recallGhost = id.UserID("@ghost:bench")
)

// conversation is a group of the collection as a chat. The author of the first row is the contact, all others are the owner.
type conversation struct {
	chat    store.Chat
	contact string
	last    time.Time
}

// Run receives the messages, indexes them and prints what each query recalls.
func (c recallCmd) Run(ctx context.Context) error {
	rows, queries, err := readCollection(c.Dir)
	if err != nil {
		return err
	}
	db, err := openDatabase(ctx, options{throwaway: true})
	if err != nil {
		return err
	}
	defer db.close()
	start := time.Now()
	conversations, names, err := ingestMessages(ctx, db, rows)
	if err != nil {
		return err
	}
	progress("%d messages in %d chats received in %s", len(rows), len(conversations), time.Since(start).Round(time.Millisecond))
	var at time.Time
	mem := memory.New(memory.Options{
		Store:  db.Store,
		Search: search.New(db.Store),
		Model:  llm.None{},
		Zone:   time.UTC,
		Now:    func() time.Time { return at },
	})
	if err := mem.IndexMessages(ctx); err != nil {
		return err
	}
	progress("searchable after %s", time.Since(start).Round(time.Millisecond))
	out := bufio.NewWriter(os.Stdout)
	var took []time.Duration
	for _, q := range queries {
		t := conversations[q.Group]
		at = t.last.AddDate(0, 0, 1)
		args, err := json.Marshal(map[string]string{"query": q.Text})
		if err != nil {
			return fmt.Errorf("write a query: %w", err)
		}
		start := time.Now()
		found, err := tools.RecallMemory{Memory: mem}.Run(ctx, tools.Call{
			ID: q.ID, Name: "recall_memory", Args: args, Caller: tools.Caller{Chat: t.chat, Scope: policy.ContactScope(t.chat.ID)},
		})
		if err != nil {
			return err
		}
		took = append(took, time.Since(start))
		for _, h := range found.Passages {
			fmt.Fprintln(out, q.ID+"\t"+names[h.Ref.ID])
		}
	}
	progress("recall_memory %s", summary(took))
	return out.Flush()
}

// ingestMessages sends the rows through the inbox, in order, and returns the row of each message.
func ingestMessages(ctx context.Context, db *database, rows []row) (map[string]*conversation, map[int64]string, error) {
	inbox := appservice.NewInbox(db.Store, appservice.Settings{
		Owner:       recallOwner,
		Bot:         "@multis:bench",
		Name:        "Nora",
		Defaults:    policy.Defaults{Profile: policy.ProfilePersonal},
		ReplyMaxAge: 10 * time.Minute,
		StoreCap:    policy.Rate{Minute: len(rows) + 1, Day: len(rows) + 1},
		SendCap:     policy.Rate{Minute: 10, Day: 100},
	})
	conversations, events := map[string]*conversation{}, map[string]string{}
	col := collection{rows: rows}
	for _, session := range col.documents() {
		t, err := chatOf(ctx, db, conversations, session)
		if err != nil {
			return nil, nil, err
		}
		start, err := time.Parse("3:04 pm on 2 January, 2006", session[0].Title)
		if err != nil {
			start = t.last.Add(time.Hour)
		}
		var batch []*event.Event
		for i, r := range session {
			t.last = start.Add(time.Duration(i) * time.Second)
			evt := message(t, r, "$"+strconv.Itoa(len(events)))
			events[evt.ID.String()] = r.ID
			batch = append(batch, evt)
		}
		if err := inbox.Receive(ctx, batch, ""); err != nil {
			return nil, nil, err
		}
	}
	names, err := messageRows(ctx, db, events)
	return conversations, names, err
}

func chatOf(ctx context.Context, db *database, conversations map[string]*conversation, session []row) (*conversation, error) {
	first := session[0]
	if t, known := conversations[first.Group]; known {
		return t, nil
	}
	room := id.RoomID("!" + strconv.Itoa(len(conversations)) + ":bench")
	t := &conversation{contact: first.Author}
	conversations[first.Group] = t
	owner := session[slices.IndexFunc(session, func(r row) bool { return r.Author != first.Author })].Author
	return t, db.InTx(ctx, func(tx store.Tx) (err error) {
		t.chat, err = store.UpsertChat(ctx, tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  first.Group,
			RoomID:     &room,
			Kind:       policy.KindDM,
			Name:       first.Author,
			OwnerName:  owner,
			Contact:    recallGhost,
			BridgeBot:  "@bridge:bench",
			Encryption: policy.EncryptionNo,
		})
		return err
	})
}

func message(t *conversation, r row, key string) *event.Event {
	sender := recallOwner
	if r.Author == t.contact {
		sender = recallGhost
	}
	evt := &event.Event{
		ID:        id.EventID(key),
		RoomID:    *t.chat.RoomID,
		Sender:    sender,
		Timestamp: t.last.UnixMilli(),
		Type:      event.EventMessage,
		Content:   event.Content{Parsed: &event.MessageEventContent{MsgType: event.MsgText, Body: r.Text}},
	}
	evt.Content.Raw = map[string]any{"msgtype": "m.text", "body": r.Text}
	return evt
}

// messageRows returns the row of each stored message. A missing message is an error, because the results would be wrong.
func messageRows(ctx context.Context, db *database, events map[string]string) (map[int64]string, error) {
	rows, err := db.Pool().Query(ctx, "select id, event_id from messages")
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	defer rows.Close()
	names := map[int64]string{}
	for rows.Next() {
		var n int64
		var evt string
		if err := rows.Scan(&n, &evt); err != nil {
			return nil, fmt.Errorf("list messages: %w", err)
		}
		names[n] = events[evt]
	}
	if len(names) != len(events) {
		return nil, fmt.Errorf("%d of %d messages were stored", len(names), len(events))
	}
	return names, rows.Err()
}
