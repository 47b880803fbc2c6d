-- +goose Up
-- A reply from a thread of which somebody who may not answer deleted the message, before it was known whether the homeserver has the reply.
alter table outbox add kept boolean not null default false;
comment on column outbox.kept is 'Somebody who may not take it back deleted what it rests on: if it was sent by then, it stays.';
