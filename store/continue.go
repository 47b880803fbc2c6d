package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"maunium.net/go/mautrix/id"

	"multis/store/row"
)

// ClosedContinued is the reason of a chat that was closed because its bridge merged it with another.
const ClosedContinued = "it continues in another chat"

const lockPairSQL = "select c.id from chats c where c.id in (@from, @into) order by c.id for update"

// continueSettingsSQL gives a chat what only the other one had. Of two deliveries it keeps the stricter, of two pauses the longer.
const continueSettingsSQL = `update chats c set
		delivery = (select d from unnest('{shadow,draft,auto}'::text[]) with ordinality o(d, n) where d in (c.delivery, f.delivery) order by n limit 1),
		labels = array(select distinct unnest(c.labels || f.labels) order by 1), unlabelled = array(select distinct unnest(c.unlabelled || f.unlabelled) order by 1),
		paused_until = greatest(c.paused_until, f.paused_until), follow_up_days = coalesce(c.follow_up_days, f.follow_up_days),
		followed_up_at = greatest(c.followed_up_at, f.followed_up_at), last_message_at = greatest(c.last_message_at, f.last_message_at),
		owner_last_by = case when f.owner_last_at > coalesce(c.owner_last_at, '-infinity') then f.owner_last_by else c.owner_last_by end,
		owner_last_at = greatest(c.owner_last_at, f.owner_last_at), agent = coalesce(nullif(c.agent, ''), f.agent),
		auto_offered_at = greatest(c.auto_offered_at, f.auto_offered_at), former_room = coalesce(c.former_room, f.room_id),
		moved_at = coalesce(c.moved_at, now())
	from chats f where c.id = @into and f.id = @from`

// endChatSQL ends the lease of a turn as well, so that the turn commits nothing. The channel becomes free.
const endChatSQL = `update chats set continued_in = @into, channel_id = left(channel_id, 200) || ' until ' || id, room_id = null, former_room = null,
	closed_reason = @closed, locked_by = '', locked_until = '-infinity' where id = @from`

// copyClaimsSQL gives a chat the claims of another one. It runs before and after the other one ends, because its end is kept as a claim, too.
const copyClaimsSQL = `insert into chat_claims select @into as chat_id, bridge_bot, protocol, channel_id, receiver, room_id, contact, self_ghost, ended_at
	from chat_claims where chat_id = @from on conflict do nothing`

// continueSQL moves the rows of a chat to another one. The index of its messages is made again. Summaries are derived, so they are made
// again too. Notes and their sections stay: they belong to the role of their chat, and are read through Chat.Person.
var continueSQL = []string{
	continueSettingsSQL,
	"delete from message_index where doc_id = @from",
	"update messages set chat_id = @into, unindexed = redacted_at is null where chat_id = @from",
	"update outbox set chat_id = @into where chat_id = @from",
	`update escalations e set closed_at = now() where e.chat_id = @from and e.closed_at is null
		and exists (select from escalations o where o.chat_id = @into and o.closed_at is null)`,
	"update escalations set chat_id = @into where chat_id = @from",
	"update dialogs set chat_id = @into where chat_id = @from",
	"update watched_folders set chat_id = @into where chat_id = @from",
	"update commitments set chat_id = @into where chat_id = @from",
	"update tasks set chat_id = @into where chat_id = @from",
	"update tasks set target = @into where target = @from",
	"update heartbeat_findings set chat_id = @into where chat_id = @from",
	"update schedules set chat_id = @into where chat_id = @from",
	"update injection_scores set chat_id = @into where chat_id = @from",
	"update approval_grants set chat_id = @into where chat_id = @from",
	"update unanswered_questions set chat_id = @into where chat_id = @from",
	"update ratings set chat_id = @into where chat_id = @from",
	`insert into model_holds as h select @into as chat_id, sender, since, until from model_holds where chat_id = @from
		on conflict (chat_id, sender) do update set until = greatest(h.until, excluded.until)`,
	"delete from model_holds where chat_id = @from",
	"delete from chat_summaries where chat_id in (@from, @into)",
	`insert into chat_memory as m select @into as chat_id, fresh, fresh_at, captured_to, window_from, retry_at, failures from chat_memory where chat_id = @from
		on conflict (chat_id) do update set fresh = m.fresh + excluded.fresh, fresh_at = greatest(m.fresh_at, excluded.fresh_at),
			captured_to = case when excluded.fresh > 0 then least(m.captured_to, excluded.captured_to) else m.captured_to end`,
	"delete from chat_memory where chat_id = @from",
	copyClaimsSQL,
	"delete from chat_claims where chat_id = @from",
	endChatSQL,
	copyClaimsSQL,
	"update chats set continued_in = @into where continued_in = @from",
}

// ContinueChat makes from a part of into, because their bridge merged the two: what was said, drafts, open threads, schedules and
// commitments move, and the notes of both are one person's. The caller decides the mode of into.
func ContinueChat(ctx context.Context, tx Tx, from, into ChatID) error {
	args := pgx.NamedArgs{"from": from, "into": into, "closed": ClosedContinued}
	if _, err := row.Values[ChatID](ctx, tx, "lock two chats", lockPairSQL, args); err != nil {
		return err
	}
	for _, sql := range continueSQL {
		if err := row.Exec(ctx, tx, "continue a chat in another", sql, args); err != nil {
			return err
		}
	}
	return MergeChats(ctx, tx, []ChatID{from, into})
}

const setSuccessorSQL = "update chats set successor_room = $2 where id = $1"

// SetSuccessor stores the room by which the bridge replaced the room of a chat.
func SetSuccessor(ctx context.Context, tx Tx, chat ChatID, room id.RoomID) error {
	return row.Exec(ctx, tx, "note the successor of a room", setSuccessorSQL, chat, room)
}

const replacedBySQL = "select " + chatColumns + ` from chats c join chats n on n.id = $1 and c.id <> n.id
	where c.successor_room = n.room_id and c.bridge_bot = n.bridge_bot and c.kind = n.kind and c.continued_in is null order by c.id`

// ReplacedBy returns the chats whose rooms the bridge replaced by the room of another chat.
func ReplacedBy(ctx context.Context, db DB, chat ChatID) ([]Chat, error) {
	return collectChats(ctx, db, replacedBySQL, chat)
}

const vacateChannelSQL = "update chats set channel_id = left(channel_id, 200) || ' until ' || id where id = $1"

// VacateChannel makes the channel of a chat free for another one, because the bridge gave its room a channel that is not read yet.
func VacateChannel(ctx context.Context, tx Tx, chat ChatID) error {
	return row.Exec(ctx, tx, "free the channel of a chat", vacateChannelSQL, chat)
}

const similarChatsSQL = "select " + chatColumns + ` from chats n join chats c on c.id <> n.id and c.protocol = n.protocol and c.bridge_bot = n.bridge_bot
		and c.kind in ('dm', 'group') and c.continued_in is null
	where n.id = $1 and (c.channel_id = n.channel_id or (n.contact <> '' and c.contact = n.contact)
		or (c.kind = n.kind and c.name_key = n.name_key and (c.room_id is null or c.closed_reason <> ''))
		or exists (select from chat_claims p where p.chat_id = c.id and p.protocol = n.protocol
			and (p.channel_id = n.channel_id or (n.contact <> '' and p.contact = n.contact))))
	order by c.id`

// SimilarChats returns the chats of the same bridge that a new chat may be a continuation of: those that have or had its channel under
// another login or its contact, and those of its name that are closed.
func SimilarChats(ctx context.Context, tx Tx, chat ChatID) ([]Chat, error) {
	return collectChats(ctx, tx, similarChatsSQL, chat)
}
