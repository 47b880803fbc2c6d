-- +goose Up

-- A chat lives where its bridge said last. What was said in the room before that still belongs to it.
alter table chats
    add column claimed_at  timestamptz not null default 'epoch', -- when the bridge said so
    add column former_room text,
    add column moved_at    timestamptz;
create index chats_former_room on chats (former_room) where former_room is not null;

-- The room that an encrypted message came in: its key opens it only there.
alter table messages add column parked_in text not null default '';
-- Edits that came before the message they change.
create index messages_edits on messages (relates_to) where code = 'edited';

-- Bots that claim chats of another one: only the owner can tell whether a bridge was set up anew or somebody pretends.
create table bridge_changes (
    id         bigint generated always as identity primary key,
    protocol   text not null,
    old_bot    text not null,
    new_bot    text not null,
    asked_at   timestamptz not null default now(),
    decided_at timestamptz,
    accepted   boolean not null default false,
    unique (protocol, old_bot, new_bot)
);

-- +goose Down
drop table bridge_changes;
drop index messages_edits;
alter table messages drop column parked_in;
alter table chats drop column claimed_at, drop column former_room, drop column moved_at;
