// Package admin is the room from which the owner runs multis: commands, questions that a number or a reaction answers, and
// what multis tells by itself. Everything it says leaves through the outbox; everything it changes is committed together
// with the reply that says so.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/bridgebridge"
	"multis/clock"
	"multis/jobs"
	"multis/knowledge"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/search"
	"multis/store"
)

// Asker answers a question of the owner in the room where it was asked, and settles the message that asked it.
type Asker interface {
	Ask(ctx context.Context, room store.Chat, message store.Message, question string) error
	// Thinks tells whether whoever answers a question there has a model.
	Thinks(room store.Chat, question string) bool
}

// Files fetches a file that was sent in the admin room, at most limit bytes. A larger one is an error, as is one that is gone.
type Files interface {
	Download(ctx context.Context, file store.Attachment, limit int64) ([]byte, error)
}

// Rules are what the admin room shows of the configuration, or goes by.
type Rules struct {
	Version    string
	Name       string // what the assistant is called unless the owner renamed it
	Model      string // the language model's name; "none" without one
	Zone       *time.Location
	Defaults   policy.Defaults
	OwnerPause time.Duration
	// Disclose tells by protocol whether answers are marked with the assistant's name.
	Disclose func(protocol string) bool
	// DayBudget is the most that may be spent a day, in millionths of Currency; zero means no paid call.
	DayBudget int64
	Currency  string
	// Embeddings is the name of the model that finds by meaning; "none" or empty without one.
	Embeddings string
	// Inbox is where other programs call in, as they reach it; empty: nobody can.
	Inbox string
	// HandOverAtCap tells that contacts are handed over once money is used up.
	HandOverAtCap bool
	// Agents are who answers, when it is not multis alone.
	Agents []Agent
	// Shortcuts are what the owner means by words of his own.
	Shortcuts []policy.Shortcut
	// Terminal says that the room is a terminal: documents are named there, not sent.
	Terminal bool
	folder   string // the documents folder
}

// Planner begins what takes its time. A plan is shown to the owner before any of it is done.
type Planner interface {
	Plan(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, goal string) error
	// ReplayWith goes through a task again with another model, whose calls are paid. What comes of it is said in the room.
	ReplayWith(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, task store.Task, model string) error
}

// Options are what an admin room works with.
type Options struct {
	Store   *store.Store
	Box     *outbox.Box
	Search  *search.Searcher
	Library *knowledge.Library
	Asker   Asker
	Planner Planner
	Files   Files
	Memory  *memory.Memory
	Rules   Rules
	// Clock carries out schedules.
	Clock *clock.Clock
	// Tools lists what a model may call for the owner who asks in a room; nil: nothing.
	Tools func(ctx context.Context, room store.Chat) ([]Tool, error)
	// Replay goes through a task again and shows what came of it.
	Replay func(ctx context.Context, task int64) (string, error)
	// MaxTools is how many Tools gives at the most: what is above that is left out.
	MaxTools int
	// Sources tells how the servers are that bring tools; nil: there are none.
	Sources func() []ToolSource
	// Saved lists the tasks that are begun by name, as their files are now; nil: there are none.
	Saved func() []Saved
	// Answers says which agent answers in a chat, and what decided that; empty, or nil: multis itself does.
	Answers func(chat store.Chat) (agent, by string)
	// Skills lists what says how agents work; nil: nothing does.
	Skills func() []Skill
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time
}

// Admin runs the admin room. It keeps nothing in memory: another one on the same store goes on where it stopped.
type Admin struct {
	Options
	commands []command
}

// New makes an Admin.
func New(o Options) *Admin {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Library != nil {
		o.Rules.folder = o.Library.Folder()
	}
	a := &Admin{Options: o}
	a.commands = a.table()
	return a
}

// request is one message, or one reaction, from the admin room.
type request struct {
	message store.Message
	room    store.Chat
	now     time.Time
}

// byOwner tells the owner from an operator.
func (r request) byOwner() bool { return r.message.Author.IsOwner() }

// scope is what the one who asks may read: the owner what is his and what is public, an operator what is public.
func (r request) scope() policy.Scope {
	if r.byOwner() {
		return policy.OwnerScope()
	}
	return policy.ContactScope(r.room.ID)
}

// answer is what a request leads to. Its zero value is silence.
type answer struct {
	text  string   // Markdown; empty says nothing
	asks  question // what the text asks; nil for nothing
	react string   // an emoji on the message that was answered
	about []int64  // the messages that the text quotes: when one is deleted, so is the text
	shows int64    // the promise that the text shows by itself; 0 for none
	// do is what changes, in the transaction that says so; nil for nothing.
	do func(ctx context.Context, tx store.Tx) error
	// tells is do where what there is to say depends on what came of it; nil for nothing.
	tells func(ctx context.Context, tx store.Tx) (text string, err error)
	kind  outbox.NoticeKind
	why   string // for the record, where it is not plain
	// unsent is the notice that could not be sent and that this one tells; zero for none.
	unsent uuid.UUID
	// said: it was answered and settled already.
	said bool
}

// change does what an answer leads to, and returns what there is to say.
func (ans answer) change(ctx context.Context, tx store.Tx) (string, error) {
	if ans.do != nil {
		if err := ans.do(ctx, tx); err != nil {
			return "", err
		}
	}
	if ans.tells != nil {
		return ans.tells(ctx, tx)
	}
	return ans.text, nil
}

// errSettled rolls back what another attempt at the same message has already done.
var errSettled = errors.New("the message was settled before")

// orderWait is how long a command waits for an older one that is still being carried out.
const orderWait = 50 * time.Millisecond

// Command carries out what was written in the admin room, once. last says that no other attempt follows. A question is left
// to Answer, so that no command waits for a model.
func (a *Admin) Command(ctx context.Context, message int64, last bool) error {
	r, err := a.request(ctx, message)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || r.message.AnsweredAt != nil {
		return err
	}
	if isQuestion(r.message) {
		return a.Store.InTx(ctx, func(tx store.Tx) error { return jobs.Enqueue(ctx, tx, jobs.AskArgs{Message: message}) })
	}
	if waits, err := a.waits(ctx, r); err != nil {
		return err
	} else if waits {
		return jobs.Later(orderWait)
	}
	return a.carryOut(ctx, r, last)
}

// Answer answers a question from the admin room, once. last says that no other attempt follows.
func (a *Admin) Answer(ctx context.Context, message int64, last bool) error {
	r, err := a.request(ctx, message)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Final(err)
	}
	if err != nil || r.message.AnsweredAt != nil {
		return err
	}
	return a.carryOut(ctx, r, last)
}

func (a *Admin) carryOut(ctx context.Context, r request, last bool) error {
	ans, err := a.handle(ctx, r)
	if err == nil && !ans.said {
		err = a.commit(ctx, r, ans)
	}
	if err == nil || !last || jobs.IsLater(err) {
		return err
	}
	return a.apologise(context.WithoutCancel(ctx), r, err)
}

func (a *Admin) request(ctx context.Context, message int64) (request, error) {
	m, err := store.MessageByID(ctx, a.Store.DB(), message)
	if err != nil {
		return request{}, err
	}
	room, err := store.ChatByID(ctx, a.Store.DB(), m.ChatID)
	if meant, ok := policy.Meant(a.Rules.Shortcuts, m.Body); ok && m.Author.IsOwner() && m.Code == policy.CodeCommand && m.Kind == string(bridgebridge.Text) {
		m.Body = meant
	}
	return request{message: m, room: room, now: a.Now()}, err
}

// orderFor is how long an unfinished command holds up those after it. One that hangs must not block the room for good.
const orderFor = time.Minute

// waits tells whether an older command must come first. Questions take their time and hold nothing up, and nothing holds up a
// pause.
func (a *Admin) waits(ctx context.Context, r request) (bool, error) {
	if name, _ := parse(r.message.Body); name == "pause" {
		return false, nil
	}
	earlier, err := store.OpenCommands(ctx, a.Store.DB(), r.room.ID, r.message.ID, r.now.Add(-orderFor))
	if err != nil {
		return false, err
	}
	for _, m := range earlier {
		if !isQuestion(m) {
			return true, nil
		}
	}
	return false, nil
}

// commit writes what a request leads to. A message that was settled meanwhile changes nothing.
func (a *Admin) commit(ctx context.Context, r request, ans answer) error {
	ans.kind = outbox.Answer
	err := a.Store.InTx(ctx, func(tx store.Tx) error {
		var err error
		if ans.text, err = ans.change(ctx, tx); err != nil {
			return err
		}
		if ans.react != "" {
			if err := a.react(ctx, tx, r.room, r.message, ans.react); err != nil {
				return err
			}
		}
		var out *uuid.UUID
		if ans.text != "" {
			said, err := a.write(ctx, tx, r.room, ans, []int64{r.message.ID})
			if err != nil {
				return err
			}
			if ans.shows != 0 {
				if err := store.ShownIn(ctx, tx, ans.shows, said); err != nil {
					return err
				}
			}
			out = &said
		}
		why := ans.why
		if why == "" {
			why = policy.CodeCommand.Sentence()
		}
		settled, err := store.Settle(ctx, tx, []int64{r.message.ID}, out, policy.CodeCommand, why)
		if err == nil && settled == 0 {
			err = errSettled
		}
		return err
	})
	if errors.Is(err, errSettled) {
		return nil
	}
	return err
}

// apologise tells the owner that a command failed for good, with a number that the log shows as well.
func (a *Admin) apologise(ctx context.Context, r request, cause error) error {
	ref := fmt.Sprintf("#%d", r.message.ID)
	zerolog.Ctx(ctx).Err(cause).Str("ref", ref).Msg("A command failed")
	return a.commit(ctx, r, answer{
		text: "⚠️ **That did not work**, and nothing was changed. The log says why under " + esc(ref) + "; then try again.",
		why:  "It failed.",
	})
}

// say puts a notice into the admin room. asks, unless nil, waits for an answer from then on; about are the messages it quotes.
func (a *Admin) say(ctx context.Context, tx store.Tx, room store.Chat, kind outbox.NoticeKind, markdown string, asks question, about ...int64) (uuid.UUID, error) {
	return a.write(ctx, tx, room, answer{text: markdown, kind: kind, asks: asks, about: about}, nil)
}

// write puts what there is to say into a room. The text is not kept when one of the messages that it rests on is deleted.
func (a *Admin) write(ctx context.Context, tx store.Tx, room store.Chat, ans answer, restsOn []int64) (uuid.UUID, error) {
	markdown, asks, expires := ans.text, ans.asks, a.Now().Add(dialogTime)
	if q, ok := asks.(patient); ok {
		expires = a.Now().Add(q.lasts())
	}
	if asks != nil {
		markdown += " Open until " + a.moment(expires) + "."
	}
	letter := notice(room, markdown, ans.kind, asks != nil)
	letter.About, letter.RestsOn, letter.Unsent = ans.about, restsOn, ans.unsent
	out, _, err := a.Box.Queue(ctx, tx, letter)
	if err != nil || asks == nil {
		return out, err
	}
	payload, err := json.Marshal(asks)
	if err != nil {
		return out, fmt.Errorf("write question: %w", err)
	}
	_, err = store.OpenDialog(ctx, tx, store.Dialog{ChatID: room.ID, Kind: asks.kind(), Payload: payload, OutboxID: out, ExpiresAt: expires})
	return out, err
}

func (a *Admin) react(ctx context.Context, tx store.Tx, room store.Chat, to store.Message, emoji string) error {
	_, _, err := a.Box.Queue(ctx, tx, outbox.Letter{Chat: room, Purpose: policy.PurposeNotice, Text: emoji, React: to.EventID})
	return err
}
