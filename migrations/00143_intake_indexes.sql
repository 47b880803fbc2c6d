-- +goose Up

-- What is counted and looked for with each message: its cost must not grow with what was said in the chat.
create index messages_sender on messages (chat_id, sender, ts) where code <> 'flood';
create index outbox_counted on outbox (chat_id, created_at) where send_as = 'owner' and state in ('queued', 'sent', 'delivered', 'failed');
drop index outbox_answers;
create index outbox_answers on outbox (chat_id, state) where seen_id > 0 and state in ('draft', 'queued', 'dropped', 'failed');
create index dialogs_drafts on dialogs (draft_id) where kind = 'draft' and done_at is null;
