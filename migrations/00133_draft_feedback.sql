-- +goose Up
-- A no to a draft may say what is wrong with it, and the next draft is written by that.
alter table outbox add feedback_id bigint references messages on delete set null;
comment on column outbox.feedback_id is 'The message in which the owner said what the next draft should have otherwise. Null: he said nothing.';
create index outbox_feedback on outbox (chat_id, seq) where feedback_id is not null;
