package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/clock"
	"multis/internal/text"
	"multis/jobs"
	"multis/knowledge"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Notices writes the notices to the owner that belong to no other topic.
type Notices struct {
	base

	bridges  *bridgeCommands
	stalls   *stallNotices
	restores *restoreCommands // asks about what a restored backup holds back
	safeMode *safeModeCommands
}

// NotifyOfLateMessages notifies the owner of the messages that came too late to be answered. It returns jobs.Snooze while
// such messages still arrive.
func (nt *Notices) NotifyOfLateMessages(ctx context.Context) error {
	newest, err := store.NewestStale(ctx, nt.store.DB())
	if err != nil {
		return err
	}
	if newest == nil {
		return nil
	}
	if wait := newest.Add(jobs.LateMessagesDelay).Sub(nt.room.now()); wait > 0 {
		return jobs.Snooze(wait)
	}
	return nt.store.InTx(ctx, func(tx store.Tx) error {
		room, err := outbox.AdminRoom(ctx, tx)
		if err != nil {
			return err
		}
		stale, err := store.ClaimStale(ctx, tx)
		if err != nil {
			return err
		}
		if len(stale) == 0 {
			return nil
		}
		_, err = nt.room.notify(ctx, tx, room, outbox.Quiet, nt.lateMessagesText(stale), nil)
		return err
	})
}

// lateMessagesText says how many late messages there are in which chats.
func (nt *Notices) lateMessagesText(stale []store.StaleChat) string {
	messages := 0
	oldest := stale[0].Oldest
	newest := stale[0].Newest
	for _, s := range stale {
		messages += s.Messages
		if s.Oldest.Before(oldest) {
			oldest = s.Oldest
		}
		if s.Newest.After(newest) {
			newest = s.Newest
		}
	}
	when := nt.room.shortTime(oldest)
	if span := nt.room.shortTime(newest); span != when {
		when += " to " + span
	}
	lines := []string{fmt.Sprintf("**While I was away** (%s): %s in %s came too late for an answer. I stored %s and wrote to nobody.",
		when, text.Count(messages, "message"), text.Count(len(stale), "chat"), text.Plural(messages, "it", "them"))}
	for _, s := range stale[:min(len(stale), pageSize)] {
		lines = append(lines, fmt.Sprintf("%s — %d", esc(store.Chat{Name: s.Name, Protocol: s.Protocol}.Label()), s.Messages))
	}
	if more := len(stale) - pageSize; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", text.Count(more, "chat")))
	}
	return strings.Join(lines, "\n")
}

// Notify writes the notice of a topic.
func (nt *Notices) Notify(ctx context.Context, args jobs.NoticeArgs) error {
	switch args.Topic {
	case jobs.TopicNewBridge:
		return nt.bridges.notifyNew(ctx, args.SubjectID)
	case jobs.TopicBridgeReplaced:
		return nt.bridges.notifyClaim(ctx, args.SubjectID)
	case jobs.TopicBridgeDown, jobs.TopicBridgeUp:
		return nt.bridges.notifyState(ctx, args.SubjectID, args.Topic == jobs.TopicBridgeDown)
	case jobs.TopicAdminRoomClosed:
		return nt.notifyRoomClosed(ctx, store.ChatID(args.SubjectID))
	case jobs.TopicScheduleDeleted:
		return nt.room.completeWithNotice(ctx, outbox.Quiet,
			fmt.Sprintf("⏰ **Job %d is cancelled**: the message that set it was deleted.", args.SubjectID))
	case jobs.TopicReplyKept:
		return nt.notifyAboutChat(ctx, store.ChatID(args.SubjectID), outbox.Quiet,
			"⚠️ A message in a thread was deleted, by somebody who may not answer there or in a room that I no longer use. "+
				"What it sent to **%s** stays: delete it in [that chat](%s) if it should go.")
	case jobs.TopicDraftArrived:
		return nt.notifyAboutChat(ctx, store.ChatID(args.SubjectID), outbox.Alert,
			"⚠️ **The draft for %s went out after all**: it was being sent when I withdrew it. Delete it in [that chat](%s) if it should go.")
	case jobs.TopicModeKept:
		return nt.notifyModeKept(ctx, store.ChatID(args.SubjectID))
	case jobs.TopicBackupOld, jobs.TopicBackupFailed:
		return nt.restores.warnNoBackup(ctx, args.Topic)
	case jobs.TopicRestored:
		return nt.restores.ask(ctx)
	case jobs.TopicSafeModeOn, jobs.TopicSafeModeOff:
		return nt.safeMode.notify(ctx, args.Topic == jobs.TopicSafeModeOn)
	case jobs.TopicPushStalled, jobs.TopicPushResumed, jobs.TopicSyncStalled, jobs.TopicSyncResumed:
		return nt.stalls.notify(ctx, args.Topic)
	case jobs.TopicPageUnread:
		return nt.room.completeWithNotice(ctx, outbox.Quiet,
			fmt.Sprintf("⚠️ **I no longer quote %s to customers**: it does not answer, and I read it last more than %d days ago. Who asks about it gets a person. "+
				"See whether it opens in a browser; if it has moved, change `business.pages`. When it answers again, I read it by myself once a question needs it, or at once with %s.",
				esc(args.Page), int(knowledge.MaxUnread.Hours()/24), code("/index "+args.Page+" public")))
	case jobs.TopicConfigRefused:
		return nt.notifyConfigRefused(ctx)
	default: // the others have a fixed text
	}
	notices := map[jobs.NoticeTopic]struct {
		kind outbox.NoticeKind
		text string
	}{
		jobs.TopicSessionReplaced: {
			outbox.Alert,
			"⚠️ **My session was ended** in one of your Matrix clients, so I made a new one. What was encrypted for the old one I cannot read. " +
				"Run `multis verify` so that your other sessions trust it.",
		},
		jobs.TopicKeysUnavailable: {
			outbox.Alert,
			"⚠️ **I cannot open my keys**, so encrypted chats are neither read nor answered; the log says why. All others work, " +
				"and what is encrypted is read once the keys open again.",
		},
		jobs.TopicKeysAvailable: {outbox.Quiet, "✅ My keys are open again. I've read the messages from in between."},
		jobs.TopicUndecryptable: {
			outbox.Answer,
			"🔒 **I cannot read what you wrote**: it is encrypted, and its key has not come; when it does, I do what you asked. Else send it again. " +
				"If that does not help, let your client send to sessions that are not verified, too.",
		},
		jobs.TopicEditIgnored: {outbox.Answer, "I don't act on edits: write it again."},
	}
	notice, known := notices[args.Topic]
	if !known {
		return jobs.Permanent(fmt.Errorf("the topic %q of a notice is unknown", args.Topic))
	}
	return nt.room.completeWithNotice(ctx, notice.kind, notice.text)
}

// notifyConfigRefused tells the owner why a changed configuration is not used, unless that is over.
func (nt *Notices) notifyConfigRefused(ctx context.Context) error {
	var refused store.RefusedConfig
	is, err := store.GetSetting(ctx, nt.store.DB(), store.SettingConfigRefused, &refused)
	if err != nil {
		return err
	}
	if !is {
		return nil
	}
	var lines []string
	for line := range strings.Lines(refused.Why) {
		lines = append(lines, "• "+esc(strings.TrimSpace(line)))
	}
	return nt.room.completeWithNotice(ctx, outbox.Alert,
		"⚠️ **I cannot use the changed configuration** and keep the one from before:\n"+strings.Join(lines, "\n")+
			"\nWhen the file is corrected, I use it within seconds. Until then `/status` says what is still wrong; I do not write again.")
}

// notifyRoomClosed tells the owner, in the new admin room, that an admin room is no longer used.
func (nt *Notices) notifyRoomClosed(ctx context.Context, chat store.ChatID) error {
	closed, err := store.ChatByID(ctx, nt.store.DB(), chat)
	if err != nil {
		return err
	}
	if closed.ClosedReason == "" {
		return nil
	}
	name, why := "admin room", closed.ClosedReason
	if closed.IsOperatorsRoom {
		name = "room for operators"
	}
	if why == store.ClosedStranger {
		why = "somebody else was invited or came in"
	}
	return nt.room.completeWithNotice(ctx, outbox.Alert,
		fmt.Sprintf("⚠️ **I no longer use the %s** %s: %s. What is written there has no effect, and replies in its threads go to nobody. "+
			"Its open conversations get new threads.", name, code(closed.ChannelID), why))
}

// notifyAboutChat tells the owner something about what a contact has. The format takes the name of the chat and the address of its room.
func (nt *Notices) notifyAboutChat(ctx context.Context, contact store.ChatID, kind outbox.NoticeKind, format string) error {
	chat, err := store.ChatByID(ctx, nt.store.DB(), contact)
	if err != nil {
		return err
	}
	if chat.RoomID == nil {
		return nil
	}
	return nt.room.completeWithNotice(ctx, kind, fmt.Sprintf(format, esc(chat.Label()), chat.RoomID.URI().MatrixToURL()))
}

// notifyModeKept asks the owner which mode a chat should have that its bridge changed.
func (nt *Notices) notifyModeKept(ctx context.Context, subject store.ChatID) error {
	chat, err := store.ChatByID(ctx, nt.store.DB(), subject)
	if err != nil {
		return err
	}
	if chat.Mode == nil {
		return nil
	}
	mode := *chat.Mode
	return nt.room.completeWithNotice(ctx, outbox.Alert, fmt.Sprintf(
		"**%s** stays %s. Its bridge changed it, or it may be another room of a chat that is %s. Should it have another mode? %s",
		esc(chat.Label()), mode, mode, code("/mode business "+chat.TypedName())))
}

// NotifyUndelivered tells the owner that an outbox message was not delivered.
func (nt *Notices) NotifyUndelivered(ctx context.Context, out uuid.UUID) error {
	o, err := store.OutboxMessageByID(ctx, nt.store.DB(), out)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	if o.State != store.OutboxFailed {
		return nil // it was delivered after all
	}
	chat, err := store.ChatByID(ctx, nt.store.DB(), o.ChatID)
	if err != nil {
		return err
	}
	text, err := nt.bridges.notDeliveredText(ctx, chat, o)
	if err != nil {
		return err
	}
	zerolog.Ctx(ctx).Warn().Str("ref", logRef(o.ID)).Stringer("outbox_id", o.ID).Int64("chat_id",
		int64(chat.ID)).Msg("A message was not delivered")
	return nt.room.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		if err := clock.FailExecutionOf(ctx, tx, o); err != nil {
			return err
		}
		n := notice{
			text:    text,
			kind:    outbox.Alert,
			quotes:  o.Quotes,
			sources: o.Sources,
		}
		if o.Purpose == policy.PurposeNotice {
			n.failed = o.ID
		}
		if o.Purpose == policy.PurposeDraft {
			n.question = &resendDraft{OutboxID: o.ID}
			if err := nt.room.endDraftCard(ctx, tx, firstRow(o), "⚠️ **Not delivered to "+esc(chat.Label())+"**"); err != nil {
				return err
			}
		}
		_, err := nt.room.write(ctx, tx, room, n)
		return err
	})
}

// Welcome tells the owner once that multis is ready. It does nothing while there is no admin room.
func (nt *Notices) Welcome(ctx context.Context) error {
	text, err := nt.welcomeText(ctx)
	if err != nil {
		return err
	}
	return nt.store.InTx(ctx, func(tx store.Tx) error {
		room, err := store.AdminChat(ctx, tx)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		first, err := store.ClaimNotification(ctx, tx, store.SettingWelcomed)
		if err != nil {
			return err
		}
		if !first {
			return nil
		}
		_, err = nt.room.notify(ctx, tx, room, outbox.Quiet, text, nil)
		return err
	})
}

// welcomeText says which chats there are, and what happens in new ones.
func (nt *Notices) welcomeText(ctx context.Context) (string, error) {
	networks, modes, locked, err := nt.states.countChats(ctx)
	if err != nil {
		return "", err
	}
	lines := []string{"**multis is ready.** "}
	switch {
	case networks == "":
		lines[0] += "No chats yet: each appears with its first message."
	case strings.HasSuffix(modes, " silent") && !strings.Contains(modes, ","):
		lines[0] += networks + ", all **silent**: I remember, I never write."
	default:
		lines[0] += networks + ": " + modes + "."
	}
	if nt.settings.Defaults.Profile == policy.ProfileBusiness {
		how := "and I show you each answer here before it is sent (`/delivery auto` and a name sends them at once)"
		if nt.settings.Defaults.FirstDelivery == policy.DeliveryAuto {
			how = "and it is sent at once"
		}
		lines = append(lines, "New direct chats are **business**: I answer what the public documents say, "+how+
			"; the rest is yours. `/pause all` stops everything at once.")
	} else {
		lines = append(lines, "I write to nobody until you switch a chat to business or personal.")
	}
	lines = append(lines, "Try: `/index` (send me a document) · `/ask when do we deliver?` · `/mode` · `/help`")
	if locked > 0 {
		lines = append(lines, fmt.Sprintf("🔒 %s cannot be read yet: `/mode` says why.", text.Count(locked, "chat")))
	}
	return strings.Join(lines, "\n"), nil
}
