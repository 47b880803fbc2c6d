-- +goose Up

create table seen_events (
    event_id text primary key,
    seen_at  timestamptz not null default now()
);
comment on table seen_events is 'Every event that was taken in, so that the second way in (push or sync) and a repeated transaction find it done.';

create table pending_events (
    event_id    text primary key,
    room_id     text not null,
    received_at timestamptz not null default now()
);
create index pending_events_room on pending_events (room_id);
comment on table pending_events is 'Events of rooms that are not described yet. Only ids: the content is fetched once the room is known.';

create table pending_gaps (
    id       bigint generated always as identity primary key,
    room_id  text not null,
    from_pos text not null,
    to_pos   text not null,
    noted_at timestamptz not null default now(),
    unique (room_id, to_pos)
);
comment on table pending_gaps is 'Parts of a room''s timeline that the sync left out and that are still to be fetched, by the homeserver''s positions.';
comment on column pending_gaps.from_pos is 'The gap is read backwards from here.';

create table messages (
    id          bigint generated always as identity primary key,
    chat_id     bigint not null references chats on delete cascade,
    event_id    text not null unique,
    author      text not null,
    sender      text not null,
    kind        text not null,
    body        text not null,
    relates_to  text not null default '',
    attachment  jsonb,
    parked      jsonb,
    ts          timestamptz not null,
    received_at timestamptz not null default now(),
    edited_at   timestamptz,
    redacted_at timestamptz,
    action      text not null,
    code        text not null,
    reason      text not null,
    answered_at timestamptz,
    outbox_id   uuid,
    digested_at timestamptz,
    parked_in   text not null default '',
    unindexed   boolean not null default true,
    edits       integer not null default 0
);
create index messages_chat on messages (chat_id, ts, id);
create index messages_waiting on messages (chat_id, ts, id) where answered_at is null and action in ('answer', 'handoff', 'command');
create index messages_stale on messages (received_at) where code = 'stale' and digested_at is null;
create index messages_parked on messages (chat_id) where parked is not null;
create index messages_parked_session on messages ((parked ->> 'session_id')) where parked is not null;
-- Edits that came before the message they change.
create index messages_edits on messages (relates_to) where code = 'edited';
create index messages_unindexed on messages (id) where unindexed;
create index messages_edited on messages (chat_id, edited_at) where edited_at is not null;
comment on table messages is 'What was said in the chats, each with what was decided about it and why.';
comment on column messages.kind is 'text, notice, image, voice, file, reaction, encrypted, ...';
comment on column messages.relates_to is 'The event that a reaction or a reply points to.';
comment on column messages.parked is 'The encrypted content, until its key comes.';
comment on column messages.parked_in is 'The room that the encrypted message came in: its key opens it only there.';
comment on column messages.action is 'What was decided at admission: archive, answer, handoff, command.';
comment on column messages.code is 'Why, as a stable word.';
comment on column messages.reason is 'Why, as a sentence.';
comment on column messages.answered_at is 'When the turn or command that took the message was done, with or without a reply.';
comment on column messages.edits is 'How often it was edited: edits count against the limit of what is stored of one contact.';
comment on column messages.unindexed is 'message_index does not hold the message as it is now.';

create table kept_files (
    message_id bigint primary key,
    data       bytea not null,
    size       bigint not null,
    kept_at    timestamptz not null default now(),
    expires_at timestamptz not null
);
create index kept_files_age on kept_files (kept_at);
comment on table kept_files is 'Files of contacts, where the configuration has them kept. They are deleted with their message, by triggers and not by a foreign key: row by row, a day''s deletions took three times as long. Whoever inserts here locks the message.';

create table escalations (
    id         bigint generated always as identity primary key,
    chat_id    bigint not null references chats on delete cascade,
    message_id bigint not null,
    why        text not null,
    opened_at  timestamptz not null default now(),
    closed_at  timestamptz,
    told       boolean not null default false,
    rests_on   bigint[] not null default '{}'
);
create unique index escalations_open on escalations (chat_id) where closed_at is null;
create index escalations_message on escalations (message_id);
comment on table escalations is 'Chats that need a person. While one is open, the contact and the owner are told once. Deleted with the message by a trigger, as kept_files is.';
comment on column escalations.told is 'Whether the contact was told that a person takes over: the gate may have forbidden it at first.';
comment on column escalations.rests_on is 'The messages whose words may be in why, because a model may have written it: when one is deleted, why is deleted too.';
