package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// NoticeTopic is what a notice to the owner is about.
type NoticeTopic string

// The topics.
const (
	// TopicSessionReplaced: multis' own Matrix session was ended in a client, and multis made another.
	TopicSessionReplaced NoticeTopic = "session_replaced"
	// TopicRestored: a backup was restored, and the owner decides about what it holds back.
	TopicRestored NoticeTopic = "restored"
	// TopicBackupOld: there is no backup of the last days.
	TopicBackupOld NoticeTopic = "backup_old"
	// TopicBackupFailed: a backup could not be made.
	TopicBackupFailed NoticeTopic = "backup_failed"
	// TopicSafeModeOn: multis started in safe mode.
	TopicSafeModeOn NoticeTopic = "safe_mode_on"
	// TopicSafeModeOff: multis started normally again.
	TopicSafeModeOff NoticeTopic = "safe_mode_off"
	// TopicAdminRoomClosed: an admin room is no longer used. SubjectID is its chat.
	TopicAdminRoomClosed NoticeTopic = "admin_room_closed"
	// TopicEditIgnored: the owner edited a command that was carried out before.
	TopicEditIgnored NoticeTopic = "edit_ignored"
	// TopicReplyKept: somebody who may not answer deleted a message in a thread, and the reply that it sent stays in the
	// contact's chat. SubjectID is the contact's chat.
	TopicReplyKept NoticeTopic = "reply_kept"
	// TopicScheduleDeleted: the message that set a schedule was deleted, and the schedule with it. SubjectID is the schedule.
	TopicScheduleDeleted NoticeTopic = "schedule_deleted"
	// TopicDraftArrived: a draft that was withdrawn after the owner's yes was being sent by then. SubjectID is the contact's chat.
	TopicDraftArrived NoticeTopic = "draft_arrived"
	// TopicKeysUnavailable: the keys of encrypted rooms cannot be opened.
	TopicKeysUnavailable NoticeTopic = "keys_unavailable"
	// TopicKeysAvailable: the keys can be opened again.
	TopicKeysAvailable NoticeTopic = "keys_available"
	// TopicPushStalled: transactions of the homeserver do not come through.
	TopicPushStalled NoticeTopic = "push_stalled"
	// TopicPushResumed: transactions come through again.
	TopicPushResumed NoticeTopic = "push_resumed"
	// TopicSyncStalled: the sync makes no progress.
	TopicSyncStalled NoticeTopic = "sync_stalled"
	// TopicSyncResumed: the sync makes progress again.
	TopicSyncResumed NoticeTopic = "sync_resumed"
	// TopicConfigRefused: a changed configuration cannot be used.
	TopicConfigRefused NoticeTopic = "config_refused"
	// TopicUndecryptable: the key of a message in the admin room did not come.
	TopicUndecryptable NoticeTopic = "undecryptable"
	// TopicBridgeDown: a bridge lost its network. SubjectID is the row of bridge_states.
	TopicBridgeDown NoticeTopic = "bridge_down"
	// TopicBridgeUp: a bridge reaches its network again. SubjectID is the row of bridge_states.
	TopicBridgeUp NoticeTopic = "bridge_up"
	// TopicNewBridge: a bot claims rooms and was not confirmed as a bridge. SubjectID is the row of the bot.
	TopicNewBridge NoticeTopic = "new_bridge"
	// TopicModeKept: a bridge renamed, merged or brought a chat, which would have had a less strict mode than the chat that it was or
	// may be. It keeps the stricter one. SubjectID is the chat.
	TopicModeKept NoticeTopic = "mode_kept"
	// TopicPageUnread: a web page is no longer quoted to customers, because it cannot be read. Site and Page are set.
	TopicPageUnread NoticeTopic = "page_unread"
	// TopicBridgeReplaced: another bot claims the chats of a bridge. SubjectID is the row of the change.
	TopicBridgeReplaced NoticeTopic = "bridge_replaced"
)

// NoticeArgs asks to notify the owner.
type NoticeArgs struct {
	Topic NoticeTopic `json:"topic" river:"unique"`
	// SubjectID is the row that the notice is about; see the topics. Zero for a topic without one.
	SubjectID int64 `json:"subject,omitempty" river:"unique"`
	// Site is the item of business.pages below which a web page is, and Page the address of that page; empty for other topics.
	Site string `json:"site,omitempty" river:"unique"`
	Page string `json:"page,omitempty"`
}

// Kind names the job.
func (NoticeArgs) Kind() string { return "notice" }

// proofTime is how long the owner is not asked about a new bridge. Another room of it, which is read meanwhile, may prove
// that it acts as the owner.
const proofTime = 10 * time.Second

// pageNoticePeriod is the time in which the owner is told of one page of a site, because a site that is away has many.
const pageNoticePeriod = 24 * time.Hour

// InsertOpts allows one such job for a topic, subject and site at a time, one about the pages of a site in
// pageNoticePeriod, and delays the question about a new bridge.
func (a NoticeArgs) InsertOpts() river.InsertOpts {
	opts := river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20, UniqueOpts: uniqueByArgs()}
	if a.Topic == TopicNewBridge {
		opts.ScheduledAt = time.Now().Add(proofTime)
	}
	if a.Topic == TopicPageUnread {
		opts.UniqueOpts = river.UniqueOpts{ByArgs: true, ByPeriod: pageNoticePeriod} // whether the earlier one is done or not
	}
	return opts
}

// Notifier notifies the owner.
type Notifier interface {
	Notify(ctx context.Context, args NoticeArgs) error
}
