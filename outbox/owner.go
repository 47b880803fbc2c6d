package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// ErrNoAdminRoom is returned while there is no admin room, for example in the first seconds after a start. The error that carries it
// makes a job try again later (jobs.IsLater).
var ErrNoAdminRoom = errors.New("there is no admin room yet")

// adminRoomWait is how long a job waits before it looks again for an admin room that can be written to.
const adminRoomWait = 10 * time.Second

// AdminRoom returns the admin room, where the owner is told things. While there is none it returns ErrNoAdminRoom.
func AdminRoom(ctx context.Context, db store.DB) (store.Chat, error) {
	room, err := store.AdminChat(ctx, db)
	if errors.Is(err, store.ErrNotFound) {
		return store.Chat{}, fmt.Errorf("%w: %w", ErrNoAdminRoom, jobs.Later(adminRoomWait))
	}
	return room, err
}

// NotifyOwner queues a notice, written in Markdown, for the admin room. While there is none it returns ErrNoAdminRoom.
func (b *Box) NotifyOwner(ctx context.Context, tx store.Tx, kind NoticeKind, markdown string) error {
	room, err := AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	_, _, err = b.Queue(ctx, tx, Notice(room, markdown, kind))
	return err
}

// ErrRefusedNotice is returned for a notice that the gate refuses for what it is.
var ErrRefusedNotice = errors.New("the owner cannot be told")

// refusedNotice is what becomes of a notice that may not go: it is tried again until its room can be written to.
func refusedNotice(d policy.Decision) error {
	if d.Code.Homeless() || d.Code == policy.CodeEncryptionUnknown {
		return jobs.Later(adminRoomWait)
	}
	return fmt.Errorf("%w: %s", ErrRefusedNotice, d.Why)
}

// noticeRoom is the admin room that a notice goes to: the present one, when the one that it was meant for is gone.
func noticeRoom(ctx context.Context, db store.DB, chat int64) (store.Chat, error) {
	room, err := store.ChatByID(ctx, db, chat)
	if err != nil || room.Usable() || room.Kind != policy.KindAdmin {
		return room, err
	}
	present, err := store.AdminChat(ctx, db)
	if errors.Is(err, store.ErrNotFound) {
		return room, nil
	}
	return present, err
}

// moveNotice has a notice that cannot be sent where it was meant for sent to the present admin room.
func (b *Box) moveNotice(ctx context.Context, tx store.Tx, o store.Out, d policy.Decision) error {
	room, err := noticeRoom(ctx, tx, o.ChatID)
	if err != nil {
		return err
	}
	if room.ID == o.ChatID {
		return refusedNotice(d)
	}
	var c struct {
		content
		New *content `json:"m.new_content"`
	}
	if err := json.Unmarshal(o.Content, &c); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	switch {
	case c.New != nil: // what it replaces stands in the other room
		c.content = *c.New
		c.Key = o.ID.String()
	case c.RelatesTo != nil: // a reaction
		return b.drop(ctx, tx, o, d.Code, d.Why)
	}
	raw, err := json.Marshal(c.content)
	if err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	if err := store.ReaddressOut(ctx, tx, o.ID, room.ID, raw); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: o.ID})
}

// needsNotice tells whether the owner has to know that a row cannot be sent. A notice that tells this of another one ends there, or the
// notices about notices would never end; nobody misses a reaction of multis in the admin room.
func needsNotice(o store.Out) bool {
	var c content
	if o.Purpose != policy.PurposeNotice {
		return true
	}
	return o.EventType != "m.reaction" && json.Unmarshal(o.Content, &c) == nil && c.Unsent == ""
}
