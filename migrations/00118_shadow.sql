-- +goose Up

alter table chats drop constraint chats_delivery_check;
alter table chats add constraint chats_delivery_check check (delivery in ('auto', 'draft', 'shadow'));
alter table chats add auto_offered_at timestamptz;
comment on column chats.auto_offered_at is 'When the owner was asked, once, whether what the chat''s shadow answers say may be sent from now on.';

alter table outbox drop constraint outbox_state_check;
alter table outbox add constraint outbox_state_check check (state in ('draft', 'queued', 'sent', 'delivered', 'failed', 'dropped', 'shadow'));
alter table outbox add mark text not null default '' check (mark in ('', 'good', 'bad'));
create index outbox_shadow on outbox (chat_id, created_at) where state = 'shadow';
comment on column outbox.mark is 'What the owner thinks of a shadow answer.';
