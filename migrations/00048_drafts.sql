-- +goose Up

-- How what is said in a chat goes out: at once, or only after the owner has read it and said yes.
alter table chats add column delivery text not null default 'auto' check (delivery in ('auto', 'draft'));

-- What is held waits for that yes. It is the very event that will be sent.
alter table outbox drop constraint outbox_state_check,
    add constraint outbox_state_check check (state in ('held', 'queued', 'sent', 'delivered', 'failed', 'dropped'));
create index outbox_held on outbox (created_at) where state = 'held';

-- +goose Down
drop index outbox_held;
delete from outbox where state = 'held';
alter table outbox drop constraint outbox_state_check,
    add constraint outbox_state_check check (state in ('queued', 'sent', 'delivered', 'failed', 'dropped'));
alter table chats drop column delivery;
