-- +goose Up

-- The numbers of the desk read these messages of a period only. In most chats they are few among many.
create index messages_desk on messages (chat_id, ts) where kind <> 'reaction' and (author in ('owner_client', 'owner_phone', 'operator')
    or author = 'contact' and (action in ('answer', 'escalate') or answered_at is not null));
