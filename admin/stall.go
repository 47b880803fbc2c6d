package admin

import (
	"context"
	"fmt"

	"multis/jobs"
	"multis/outbox"
	"multis/store"
)

// stallNotices notifies the owner when no events arrive from the homeserver, by push or by sync.
type stallNotices struct {
	base
}

// stallTexts are the texts that say that events do not arrive. %s is the time since when.
var stallTexts = map[store.Setting]string{
	store.SettingPushStalled: "⚠️ **What the homeserver sends me does not get through** since %s, although it answers. Messages come in by the sync, some seconds later. " +
		"The log says why.",
	store.SettingSyncStalled: "⚠️ **My sync has been stuck** since %s, although the homeserver answers. What is encrypted is not read, and what the homeserver does not push I do not see; " +
		"nothing is lost. The log says why.",
}

// lines says which of push and sync is stalled; empty if none is.
func (sl *stallNotices) lines(ctx context.Context, _ request) (string, error) {
	text := ""
	for _, source := range []store.Setting{store.SettingPushStalled, store.SettingSyncStalled} {
		line, err := sl.text(ctx, source)
		if err != nil {
			return "", err
		}
		if text != "" && line != "" {
			text += "\n"
		}
		text += line
	}
	return text, nil
}

// text says since when a source of events is stalled; empty if it is not.
func (sl *stallNotices) text(ctx context.Context, source store.Setting) (string, error) {
	var stall store.Stall
	stalled, err := store.GetSetting(ctx, sl.store.DB(), source, &stall)
	if err != nil {
		return "", err
	}
	if !stalled {
		return "", nil
	}
	return fmt.Sprintf(stallTexts[source], sl.room.shortTime(stall.Since)), nil
}

// notify tells the owner that push or sync is stalled or works again. It writes nothing about a stall that has ended meanwhile.
func (sl *stallNotices) notify(ctx context.Context, topic jobs.NoticeTopic) error {
	kind := outbox.Alert
	var text string
	var err error
	switch topic {
	case jobs.TopicPushStalled:
		text, err = sl.text(ctx, store.SettingPushStalled)
	case jobs.TopicSyncStalled:
		text, err = sl.text(ctx, store.SettingSyncStalled)
	case jobs.TopicPushResumed:
		text, kind = "✅ What the homeserver sends me gets through again.", outbox.Quiet
	default:
		text, kind = "✅ My sync works again. I've read the messages from in between.", outbox.Quiet
	}
	if err != nil {
		return err
	}
	if text == "" {
		return nil
	}
	return sl.room.completeWithNotice(ctx, kind, text)
}
