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

// ErrNoAdminRoom is returned while there is no admin room, for example in the first seconds after a start. The returned
// error wraps jobs.Snooze as well, so that a job that returns it is tried again.
var ErrNoAdminRoom = errors.New("there is no admin room yet")

// adminRoomWait is the delay before a job looks again for an admin room that can be written to.
const adminRoomWait = 10 * time.Second

// AdminRoom returns the admin room. While there is none it returns ErrNoAdminRoom.
func AdminRoom(ctx context.Context, db store.DB) (store.Chat, error) {
	room, err := store.AdminChat(ctx, db)
	if errors.Is(err, store.ErrNotFound) {
		return store.Chat{}, fmt.Errorf("%w: %w", ErrNoAdminRoom, jobs.Snooze(adminRoomWait))
	}
	return room, err
}

// NotifyOwner queues a notice, written in Markdown, to the admin room. While there is none it returns ErrNoAdminRoom.
func (b *Box) NotifyOwner(ctx context.Context, tx store.Tx, kind NoticeKind, markdown string) error {
	room, err := AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	_, _, err = b.Queue(ctx, tx, NewNotice(room, markdown, kind))
	return err
}

// ErrRefusedNotice is returned for a notice that the gate refuses, and would refuse again.
var ErrRefusedNotice = errors.New("the owner cannot be told")

// refusedNotice returns the error for a notice that the gate refused: jobs.Snooze if its room may be writable later, else ErrRefusedNotice.
func refusedNotice(d policy.Decision) error {
	if d.Code.LacksRoom() || d.Code == policy.CodeEncryptionUnknown {
		return jobs.Snooze(adminRoomWait)
	}
	return fmt.Errorf("%w: %s", ErrRefusedNotice, d.Why)
}

// noticeRoom returns the chat to which a notice is sent. For an admin room that no longer exists it returns the current admin room.
func noticeRoom(ctx context.Context, db store.DB, chat store.ChatID) (store.Chat, error) {
	room, err := store.ChatByID(ctx, db, chat)
	if err != nil {
		return room, err
	}
	if room.HasRoom() || room.Kind != policy.KindAdmin {
		return room, nil
	}
	current, err := store.AdminChat(ctx, db)
	if errors.Is(err, store.ErrNotFound) {
		return room, nil
	}
	return current, err
}

// moveNotice moves a notice whose room no longer exists to the current admin room and enqueues it again.
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
	case c.New != nil: // the message that it edits is in the former room
		c.content = *c.New
		c.Key = o.ID.String()
	case c.RelatesTo != nil && c.RelatesTo.Type == relationThread: // which is in the former room, too
		c.RelatesTo = nil
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

// needsNotice reports whether the owner is notified that a row failed. A failed reaction, and a failed notice about
// another failure, are not reported, because otherwise the notices could continue forever.
func needsNotice(o store.OutboxMessage) bool {
	var c content
	if o.Purpose != policy.PurposeNotice {
		return true
	}
	return o.EventType != "m.reaction" && json.Unmarshal(o.Content, &c) == nil && c.FailedID == ""
}
