package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// errNotFound is returned when the subject of an event was deleted, is over, or may no longer be sent.
var errNotFound = errors.New("what it was about is gone or over")

// payload is the JSON body of a delivery.
type payload struct {
	Event    policy.HookEvent `json:"event"`
	At       time.Time        `json:"at"`
	Ref      string           `json:"ref,omitempty"`
	Chat     *chat            `json:"chat,omitempty"`
	Message  *message         `json:"message,omitempty"`
	Document *document        `json:"document,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
	Approval *approval        `json:"approval,omitempty"`
	Budget   *budget          `json:"budget,omitempty"`
	Bridge   *bridge          `json:"bridge,omitempty"`
	Job      *job             `json:"job,omitempty"`
	Why      string           `json:"why,omitempty"`
}

type chat struct {
	ID      store.ChatID `json:"id"`
	Name    string       `json:"name"`
	Network string       `json:"network"`
	Room    *id.RoomID   `json:"room,omitempty"`
}

type message struct {
	Event  id.EventID `json:"event_id"`
	Sender id.UserID  `json:"sender"`
	At     time.Time  `json:"at"`
	Text   string     `json:"text"` // empty when it was deleted
}

type document struct {
	Name   string      `json:"name"`
	Origin string      `json:"origin"`
	Role   policy.Role `json:"role"`
	Chunks int         `json:"chunks"`
}

type approval struct {
	ID      int64        `json:"id"`
	Task    store.TaskID `json:"task"`
	Tool    string       `json:"tool"`
	Expires time.Time    `json:"expires_at"`
}

type budget struct {
	Day     string `json:"day"`
	Cap     string `json:"cap"` // day, agent, chat or run
	Percent int64  `json:"percent"`
	Subject string `json:"of,omitempty"` // an agent's name or a chat's number; empty for other caps
}

type bridge struct {
	Network string    `json:"network"`
	Bot     id.UserID `json:"bot"`
	Login   string    `json:"login,omitempty"`
	Since   time.Time `json:"since"`
}

type job struct {
	ID   store.ScheduleID `json:"id"`
	What string           `json:"what"`
	Due  time.Time        `json:"due_at"`
}

// payload returns the body of a delivery with the current data of its subject. It returns errNotFound when there is
// nothing to deliver any more.
func (h *Hooks) payload(ctx context.Context, d store.Delivery) ([]byte, error) {
	b := payload{Event: d.Event, At: d.At.UTC(), Ref: d.Ref}
	var err error
	switch d.Event {
	case policy.HookMessage, policy.HookEscalation:
		err = h.addMessage(ctx, &b, d.Ref)
	case policy.HookUnclaimed:
		err = h.addUnclaimed(ctx, &b, d.Ref)
	case policy.HookResolved:
		err = h.addChat(ctx, &b, store.ChatID(parseID(d.Ref)))
	case policy.HookIndex:
		err = h.addDocument(ctx, &b, d.Ref)
	case policy.HookCapture:
		err = h.addNotes(ctx, &b, store.SectionID(parseID(d.Ref)))
	case policy.HookApproval:
		err = h.addApproval(ctx, &b, parseID(d.Ref))
	case policy.HookBudget:
		b.Budget = parseBudgetRef(d.Ref)
	case policy.HookBridgeDown:
		err = h.addBridge(ctx, &b, parseID(d.Ref))
	case policy.HookCronFail:
		err = h.addRun(ctx, &b, store.ExecutionID(parseID(d.Ref)))
	default: // the other events have no data
	}
	if errors.Is(err, store.ErrNotFound) {
		err = errNotFound
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("write event for a hook: %w", err)
	}
	return text, nil
}

// parseID returns the row id in a reference; 0, which is the id of no row, if it has none.
func parseID(ref string) int64 {
	n, err := strconv.ParseInt(ref, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (h *Hooks) addMessage(ctx context.Context, b *payload, ref string) error {
	m, err := store.MessageByID(ctx, h.Store.DB(), store.MessageID(parseID(ref)))
	if err != nil {
		return err
	}
	b.Message = &message{Event: m.EventID, Sender: m.Sender, At: m.At.UTC(), Text: m.Body}
	b.Why = m.Reason
	return h.addChat(ctx, b, m.ChatID)
}

// addUnclaimed adds the message of an escalation. It returns errNotFound if a person has taken the escalation since, or it has ended.
func (h *Hooks) addUnclaimed(ctx context.Context, b *payload, ref string) error {
	if err := h.addMessage(ctx, b, ref); err != nil {
		return err
	}
	e, err := store.EscalationOfChat(ctx, h.Store.DB(), b.Chat.ID)
	if err != nil {
		return err
	}
	if !e.IsWaiting() || e.ClaimedBy != "" || int64(e.MessageID) != parseID(ref) {
		return errNotFound
	}
	return nil
}

// addChat adds a chat. It returns errNotFound for a chat that is off.
func (h *Hooks) addChat(ctx context.Context, b *payload, chatID store.ChatID) error {
	c, err := store.ChatByID(ctx, h.Store.DB(), chatID)
	if err != nil {
		return err
	}
	if c.ModeIn(h.Defaults) == policy.ModeOff {
		return errNotFound
	}
	b.Chat = &chat{ID: c.ID, Name: c.Name, Network: c.Protocol, Room: c.RoomID}
	return nil
}

func (h *Hooks) addDocument(ctx context.Context, b *payload, origin string) error {
	d, err := index.DocumentByOrigin(ctx, h.Store.DB(), origin)
	if err != nil {
		return err
	}
	b.Document = &document{Name: d.Name, Origin: d.Origin, Role: d.Role, Chunks: d.Chunks}
	return nil
}

// addNotes adds the notes of a capture that are still valid.
func (h *Hooks) addNotes(ctx context.Context, b *payload, section store.SectionID) error {
	chatID, err := store.ChatOfSection(ctx, h.Store.DB(), section)
	if err != nil {
		return err
	}
	if c, err := store.ChatByID(ctx, h.Store.DB(), chatID); err != nil {
		return err
	} else if c.Kind != policy.KindAdmin { // webhooks do not get the admin room
		if err := h.addChat(ctx, b, chatID); err != nil {
			return err
		}
	}
	return h.Store.AsOwner(ctx, policy.OwnerScope(chatID), func(tx store.Tx) error {
		notes, err := store.NotesOfSection(ctx, tx, section)
		if err != nil {
			return err
		}
		for _, n := range notes {
			if n.ValidTo == nil {
				b.Notes = append(b.Notes, n.Body)
			}
		}
		if len(b.Notes) == 0 {
			return errNotFound
		}
		return nil
	})
}

func (h *Hooks) addApproval(ctx context.Context, b *payload, row int64) error {
	a, err := store.ApprovalByID(ctx, h.Store.DB(), row)
	if err != nil {
		return err
	}
	b.Approval = &approval{ID: a.ID, Task: a.TaskID, Tool: a.Tool, Expires: a.ExpiresAt.UTC()}
	return nil
}

// parseBudgetRef parses the reference day/cap/percent, which a chat or agent may follow.
func parseBudgetRef(ref string) *budget {
	part := strings.SplitN(ref, "/", 4)
	part = append(part, make([]string, 4-len(part))...)
	return &budget{Day: part[0], Cap: part[1], Percent: parseID(part[2]), Subject: part[3]}
}

func (h *Hooks) addBridge(ctx context.Context, b *payload, state int64) error {
	s, err := store.BridgeStateByID(ctx, h.Store.DB(), state)
	if err != nil {
		return err
	}
	if s.DownSince == nil {
		return errNotFound // the bridge is connected again
	}
	b.Bridge, b.Why = &bridge{Network: s.Protocol, Bot: s.Bot, Login: s.Login, Since: s.DownSince.UTC()}, s.Reason
	return nil
}

func (h *Hooks) addRun(ctx context.Context, b *payload, row store.ExecutionID) error {
	run, err := store.ExecutionByID(ctx, h.Store.DB(), row)
	if err != nil {
		return err
	}
	s, err := store.ScheduleByID(ctx, h.Store.DB(), run.ScheduleID)
	if err != nil {
		return err
	}
	b.Job, b.Why = &job{ID: s.ID, What: s.Body, Due: run.DueAt.UTC()}, run.Note
	return nil
}
