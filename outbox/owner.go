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

// ErrNoAdminRoom is returned while there is no admin room, for example in the first seconds after a start. The returned error is also a
// jobs.Later, so a job that returns it is tried again.
var ErrNoAdminRoom = errors.New("there is no admin room yet")

// adminRoomWait is how long a job waits for an admin room that can be written to.
const adminRoomWait = 10 * time.Second

// AdminRoom returns the admin room. While there is none it returns ErrNoAdminRoom.
func AdminRoom(ctx context.Context, db store.DB) (store.Chat, error) {
	room, err := store.AdminChat(ctx, db)
	if errors.Is(err, store.ErrNotFound) {
		return store.Chat{}, fmt.Errorf("%w: %w", ErrNoAdminRoom, jobs.Later(adminRoomWait))
	}
	return room, err
}

// NotifyOwner queues a notice, written in Markdown, to the admin room. While there is none it returns ErrNoAdminRoom.
func (b *Box) NotifyOwner(ctx context.Context, tx store.Tx, kind NoticeKind, markdown string) error {
	room, err := AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	_, _, err = b.Queue(ctx, tx, Notice(room, markdown, kind))
	return err
}

// ErrRefusedNotice is returned for a notice that the gate refuses for good.
var ErrRefusedNotice = errors.New("the owner cannot be told")

// refusedNotice returns the error for a notice that the gate refused: Later when its room cannot be written to for the moment, else
// ErrRefusedNotice.
func refusedNotice(d policy.Decision) error {
	if d.Code.LacksRoom() || d.Code == policy.CodeEncryptionUnknown {
		return jobs.Later(adminRoomWait)
	}
	return fmt.Errorf("%w: %s", ErrRefusedNotice, d.Why)
}

// noticeRoom returns the chat that a notice is sent to. When that is an admin room that is gone, it returns the present admin room.
func noticeRoom(ctx context.Context, db store.DB, chat store.ChatID) (store.Chat, error) {
	room, err := store.ChatByID(ctx, db, chat)
	if err != nil || room.HasRoom() || room.Kind != policy.KindAdmin {
		return room, err
	}
	present, err := store.AdminChat(ctx, db)
	if errors.Is(err, store.ErrNotFound) {
		return room, nil
	}
	return present, err
}

// moveNotice moves a notice whose room is gone to the present admin room and enqueues it again.
func (b *Box) moveNotice(ctx context.Context, tx store.Tx, o store.OutboxMessage, d policy.Decision) error {
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
	if err := store.MoveToChat(ctx, tx, o.ID, room.ID, raw); err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.SendArgs{OutboxID: o.ID})
}

// needsNotice reports whether the owner is notified that a row failed. A notice about a failed row is not reported when it fails too, or the
// notices would never end; nor is a reaction.
func needsNotice(o store.OutboxMessage) bool {
	var c content
	if o.Purpose != policy.PurposeNotice {
		return true
	}
	return o.EventType != "m.reaction" && json.Unmarshal(o.Content, &c) == nil && c.Unsent == ""
}
