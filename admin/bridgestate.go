package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// notifyState tells the owner that a bridge lost its network or is connected again, unless the state has changed back meanwhile.
func (br *bridgeCommands) notifyState(ctx context.Context, state int64, down bool) error {
	s, err := store.BridgeStateByID(ctx, br.store.DB(), state)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	if (s.DownSince != nil) != down {
		return nil
	}
	if down {
		return br.room.completeWithNotice(ctx, outbox.Alert,
			"⚠️ "+br.downText(s)+" What I say there does not arrive, and I may not hear what is said to you. "+repairHint(s))
	}
	text := "✅ **" + esc(bridgebridge.NetworkName(s.Protocol)) + " works again**"
	if s.WasDown != nil {
		text += ", since " + br.room.shortTime(s.ChangedAt) + " (down from " + br.room.shortTime(*s.WasDown) + ")"
	}
	return br.room.completeWithNotice(ctx, outbox.Quiet, text+".")
}

// downText says what is wrong with a bridge, and since when.
func (br *bridgeCommands) downText(s store.BridgeState) string {
	network := esc(bridgebridge.NetworkName(s.Protocol))
	if s.Reason == store.SilentBridge {
		return fmt.Sprintf("**The %s bridge does not answer** since %s.", network, br.room.shortTime(*s.DownSince))
	}
	return fmt.Sprintf("**%s says %s** (since %s).", network, quote(s.Reason, 200), br.room.shortTime(*s.DownSince))
}

// repairHint says how to repair a bridge.
func repairHint(s store.BridgeState) string {
	switch s.Reason {
	case store.SilentBridge:
		return "Look whether it runs; what waits at the homeserver arrives when it does."
	case bridgebridge.NotConnected:
		return "It tries again automatically, and I tell you when it works. If that takes long, restart the bridge."
	}
	return "Log in again with the bridge: write `login` to " + esc(s.Bot.String()) + "."
}

// downLines lists the bridges that are not connected to their network.
func (br *bridgeCommands) downLines(ctx context.Context, _ request) (string, error) {
	states, err := store.BridgesDown(ctx, br.store.DB())
	if err != nil {
		return "", err
	}
	var lines []string
	for _, s := range states[:min(len(states), pageSize)] {
		lines = append(lines, "⚠️ "+br.downText(s)+" "+repairHint(s))
	}
	return strings.Join(lines, "\n"), nil
}

// notDeliveredText tells the owner that a message was not delivered.
func (br *bridgeCommands) notDeliveredText(ctx context.Context, chat store.Chat, o store.OutboxMessage) (string, error) {
	if o.Purpose == policy.PurposeNotice {
		return lostNoticeText(o), nil
	}
	states, err := store.BridgesDown(ctx, br.store.DB())
	if err != nil {
		return "", err
	}
	head, ref := "⚠️ **Not sent to "+esc(chat.Label())+"**: ", esc(logRef(o.ID))
	length := 200
	offline := "I don't send it again: write there yourself then."
	rejected := "I don't try again: write there yourself, or fix the bridge first."
	if o.Purpose == policy.PurposeDraft { // the owner may have written it
		length = maxUnsentText
		offline = "👍 sends it again then."
		rejected = "👍 sends it again."
	}
	for _, s := range states {
		if s.Bot == chat.BridgeBot && (s.Login == chat.Login || s.Login == "") {
			return head + fmt.Sprintf("%s says %s (since %s). %s %s It was %s. (%s)",
				esc(bridgebridge.NetworkName(s.Protocol)), quote(s.Reason, 200), br.room.shortTime(*s.DownSince), repairHint(s), offline,
				quote(o.Text(), length), ref), nil
		}
	}
	cause := o.Error
	if cause == "" {
		cause = "the bridge gave no reason"
	}
	return head + fmt.Sprintf("%s. It was %s. %s (%s)",
		esc(strings.TrimSuffix(text.Clip(cause, 200), ".")), quote(o.Text(), length), rejected, ref), nil
}

// lostNoticeText tells the owner that the homeserver did not accept a notice.
func lostNoticeText(o store.OutboxMessage) string {
	reply := "⚠️ **Not sent to you**: " + esc(strings.TrimSuffix(text.Clip(o.Error, 200), ".")) + "."
	if body := o.Text(); body != "" {
		reply += " It began " + quote(text.FirstLine(body), 100) + "."
	}
	return reply + " I don't try again. (" + esc(logRef(o.ID)) + " in the log)"
}
