-- +goose Up

-- Parts of a room's timeline that the sync left out and that are still to be fetched: positions only, in the homeserver's words.
create table pending_gaps (
    id       bigint generated always as identity primary key,
    room_id  text not null,
    from_pos text not null, -- it is read backwards from here
    to_pos   text not null,
    noted_at timestamptz not null default now(),
    unique (room_id, to_pos)
);

-- How often a message was edited: edits count against what is stored of one contact.
alter table messages add column edits integer not null default 0;
create index messages_edited on messages (chat_id, edited_at) where edited_at is not null;

-- +goose Down
drop index messages_edited;
alter table messages drop column edits;
drop table pending_gaps;
