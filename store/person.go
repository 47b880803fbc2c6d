package store

import (
	"context"
	"slices"

	"multis/store/row"
)

const linkedChatsSQL = `select c.id from chats c join chats p on p.id = $1 where c.id = p.id or c.person = p.person order by c.id`

// LinkedChats returns a chat and the chats that the owner merged with it.
func LinkedChats(ctx context.Context, db DB, chat ChatID) ([]ChatID, error) {
	return row.Values[ChatID](ctx, db, "chats of a person", linkedChatsSQL, chat)
}

const chatsOfPersonSQL = "select " + chatColumns + ` from chats c join chats p on p.id = $1
	where c.id = p.id or c.person = p.person or (c.kind = 'dm' and c.contact <> '' and c.contact = p.contact) order by c.id`

// ChatsOfPerson returns the chats of the same person: those that were merged, and those of the same contact.
func ChatsOfPerson(ctx context.Context, db DB, chat ChatID) ([]Chat, error) {
	return collectChats(ctx, db, chatsOfPersonSQL, chat)
}

const mergeChatsSQL = `update chats set person = $2 where id = any ($1) or person in (select person from chats where id = any ($1))`

// MergeChats merges chats, with all that were merged with them before.
func MergeChats(ctx context.Context, tx Tx, chats []ChatID) error {
	return row.Exec(ctx, tx, "merge chats", mergeChatsSQL, chats, slices.Min(chats))
}

const (
	unmergeChatSQL = "update chats set person = null where id = $1"
	// restOfPersonSQL renumbers the chats that stay merged. If only one is left, it is not merged any more.
	restOfPersonSQL = `with rest as (select id, count(*) over () as n, min(id) over () as first from chats where id = any ($1) and id <> $2)
		update chats c set person = case when rest.n > 1 then rest.first end from rest where c.id = rest.id`
)

// UnmergeChat takes a chat out of its group; the others stay merged.
func UnmergeChat(ctx context.Context, tx Tx, chat ChatID) error {
	merged, err := LinkedChats(ctx, tx, chat)
	if err != nil {
		return err
	}
	if err := row.Exec(ctx, tx, "unmerge chat", unmergeChatSQL, chat); err != nil {
		return err
	}
	return row.Exec(ctx, tx, "unmerge chat", restOfPersonSQL, merged, chat)
}

const messagesOfContactsInOtherChatsSQL = `select m.id from messages m where m.sender in (select contact from chats where id = any ($1) and contact <> '') and m.chat_id <> all ($1)
	and m.redacted_at is null order by m.id`

// MessagesOfContactsInOtherChats returns the messages that the contacts of chats wrote in other chats.
func MessagesOfContactsInOtherChats(ctx context.Context, db DB, chats []ChatID) ([]MessageID, error) {
	return row.Values[MessageID](ctx, db, "messages of contacts in other chats", messagesOfContactsInOtherChatsSQL, chats)
}
