-- +goose Up

-- Each turn looks for what was said in its chat last, and for the questions since then. Without these it reads the whole chat.
create index messages_owner_said on messages (chat_id, received_at) where author in ('owner_client', 'owner_phone', 'operator') and kind <> 'reaction';
create index messages_asked on messages (chat_id, answered_at) where author = 'contact' and action = 'answer';
create index messages_clarified on messages (chat_id) where code = 'clarified';
create index outbox_said on outbox (chat_id, (coalesce(sent_at, created_at))) where send_as = 'owner' and event_type = 'm.room.message';
