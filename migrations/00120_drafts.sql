-- +goose Up

alter table outbox add seen_id bigint not null default 0;
comment on column outbox.seen_id is 'The newest message of the chat that an answer has seen. 0: it answers nothing. A draft that answers is withdrawn when the chat goes on: see withdraw_drafts().';
create index outbox_answers on outbox (chat_id) where seen_id > 0 and state in ('draft', 'queued', 'dropped', 'failed');
create index outbox_replaces on outbox (replaces) where replaces <> '';
