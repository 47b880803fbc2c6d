package store

import (
	"context"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// The queries of this file show whether an installation works. They read counts and times, but no texts.

// JobCount is a number of jobs of one kind.
type JobCount struct {
	Kind   string
	Jobs   int
	Oldest time.Time
}

const failedJobsSQL = `select kind, count(*) as jobs, min(finalized_at) as oldest from river.river_job
	where state = 'discarded' and finalized_at > $1 group by kind order by 2 desc, 1`

// FailedJobs counts the jobs that were given up since a time, by kind.
func FailedJobs(ctx context.Context, db DB, since time.Time) ([]JobCount, error) {
	return row.All[JobCount](ctx, db, "failed jobs", failedJobsSQL, since)
}

const lateJobsSQL = `select kind, count(*) as jobs, min(scheduled_at) as oldest from river.river_job
	where state = 'available' and scheduled_at < $1 group by kind order by 2 desc, 1`

// LateJobs counts the jobs that should have begun before a time and have not, by kind.
func LateJobs(ctx context.Context, db DB, before time.Time) ([]JobCount, error) {
	return row.All[JobCount](ctx, db, "late jobs", lateJobsSQL, before)
}

// BridgeEvidence is what the messages of a bridge show about its settings.
type BridgeEvidence struct {
	Bot      id.UserID
	Protocol string
	// AsGhost is true if the bridge does not double puppet. The evidence is that the owner's last message from the phone was
	// sent by the ghost of his login or, if there is no such message, that this ghost is a member of a chat.
	AsGhost bool
	// Unconfirmed is the number of messages of the last week without a delivery status from the bridge, Confirmed the number
	// of those with one.
	Unconfirmed, Confirmed int
}

const bridgeSettingsEvidenceSQL = `select c.bridge_bot as bot, min(c.protocol) as protocol,
	coalesce((select m.sender = p.self_ghost from messages m join chats p on p.id = m.chat_id
		where p.bridge_bot = c.bridge_bot and m.author = 'owner_phone' order by m.id desc limit 1), bool_or(c.self_ghost <> '')) as as_ghost,
	(select count(*)::int from outbox o join chats p on p.id = o.chat_id where p.bridge_bot = c.bridge_bot and o.send_as = 'owner' and o.state = 'sent'
		and o.sent_at between $1::timestamptz - interval '7 days' and $1::timestamptz - interval '10 minutes') as unconfirmed,
	(select count(*)::int from outbox o join chats p on p.id = o.chat_id where p.bridge_bot = c.bridge_bot and o.delivered_at > $1::timestamptz - interval '7 days') as confirmed
	from chats c where c.bridge_bot <> '' and c.closed_reason = '' and c.kind in ('dm', 'group') group by c.bridge_bot order by 2, 1`

// BridgeSettingsEvidence returns what is known about each bridge that has chats in use.
func BridgeSettingsEvidence(ctx context.Context, db DB, now time.Time) ([]BridgeEvidence, error) {
	return row.All[BridgeEvidence](ctx, db, "what bridges do", bridgeSettingsEvidenceSQL, now)
}

const lastFreshMessageSQL = `select coalesce(max(received_at), 'epoch') from messages where received_at between $1::timestamptz - interval '1 day' and $1 and ts > received_at - interval '5 minutes'`

// LastFreshMessage returns when the last fresh message arrived: one that arrived within five minutes after it was
// written, in the day before until. It returns the epoch if there is none.
func LastFreshMessage(ctx context.Context, db DB, until time.Time) (time.Time, error) {
	return row.Value[time.Time](ctx, db, "last message", lastFreshMessageSQL, until)
}

const knownRoomsSQL = `select room_id from chats where room_id is not null union select room_id from pending_events`

// KnownRooms returns the rooms of chats, and those whose description is due.
func KnownRooms(ctx context.Context, db DB) ([]id.RoomID, error) {
	return row.Values[id.RoomID](ctx, db, "rooms", knownRoomsSQL)
}

const hasChannelSQL = "select exists (select from chats where protocol = $1 and channel_id = $2 and receiver = $3)"

// HasChannel reports whether there is a chat for a channel of a network.
func HasChannel(ctx context.Context, db DB, protocol, channel, receiver string) (bool, error) {
	return row.Value[bool](ctx, db, "channel", hasChannelSQL, protocol, channel, receiver)
}

const installedAtSQL = "select coalesce(min(updated_at), now()) from settings"

// InstalledAt returns when multis was first started on the database, or a little later.
func InstalledAt(ctx context.Context, db DB) (time.Time, error) {
	return row.Value[time.Time](ctx, db, "age of the installation", installedAtSQL)
}
