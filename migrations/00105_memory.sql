-- +goose Up

create table chat_memory (
    chat_id     bigint primary key references chats on delete cascade,
    fresh       int not null default 0,
    fresh_at    timestamptz not null default now(),
    captured_to bigint not null default 0,
    window_from timestamptz,
    retry_at    timestamptz not null default '-infinity',
    failures    int not null default 0
) with (fillfactor = 70);
create index chat_memory_fresh on chat_memory (fresh_at) where fresh >= 6;
comment on table chat_memory is 'Up to where a chat is captured in notes.';
comment on column chat_memory.fresh is 'Messages since the last capture.';
comment on column chat_memory.fresh_at is 'When the newest of them came.';
comment on column chat_memory.captured_to is 'The last message that was captured.';
comment on column chat_memory.window_from is 'The conversation''s window begins here, because what was before it is in the notes.';
comment on column chat_memory.retry_at is 'After a capture failed, there is none before this time.';

create table note_sections (
    id           bigint generated always as identity primary key,
    chat_id      bigint not null references chats on delete cascade,
    role         text not null check (role = 'admin' or role ~ '^user:.'),
    last_message bigint not null,
    created_at   timestamptz not null default now(),
    unique (chat_id, last_message)
);
create index note_sections_role on note_sections (role, id desc);
comment on table note_sections is 'What one capture wrote: once for a chat and the last message it read.';

create table notes (
    id            bigint generated always as identity primary key,
    role          text not null check (role = 'admin' or role ~ '^user:.'),
    chat_id       bigint not null references chats on delete cascade,
    section_id    bigint references note_sections on delete cascade,
    kind          text not null check (kind in ('decision', 'action', 'preference', 'fact', 'tone', 'note')),
    subject       text not null default '',
    body          text not null,
    was           text not null default '',
    sources       bigint[] not null default '{}',
    valid_from    timestamptz not null,
    valid_to      timestamptz,
    superseded_by bigint references notes on delete set null,
    pruned_at     timestamptz,
    created_at    timestamptz not null default now()
);
create index notes_valid on notes (role, id desc) where valid_to is null;
create index notes_subject on notes (role, subject) where valid_to is null and subject <> '';
create index notes_sources on notes using gin (sources);
create index notes_section on notes (section_id);
comment on table notes is 'One thing that is known. valid_from and valid_to say when it was true; created_at when it was learned. Row-level security on it is part of the second wall between chats.';
comment on column notes.section_id is 'Null: the note was written by hand.';
comment on column notes.subject is 'Normalised. Two notes of one subject and role are not both valid.';
comment on column notes.was is 'The text that this one replaced.';
comment on column notes.sources is 'The messages it was taken from.';
comment on column notes.pruned_at is 'Since when it is not in every prompt any more. A search still finds what it says.';

create table commitments (
    id         bigint generated always as identity primary key,
    chat_id    bigint not null references chats on delete cascade,
    note_id    bigint references notes on delete set null,
    message_id bigint not null,
    who        text not null,
    whom       text not null default '',
    what       text not null,
    due_at     timestamptz,
    state      text not null default 'open' check (state in ('open', 'done', 'dropped')),
    snoozed_to timestamptz,
    nudged_at  timestamptz,
    created_at timestamptz not null default now(),
    shown_in   uuid,
    unique (message_id, what)
);
create index commitments_open on commitments (due_at) where state = 'open';
create index commitments_snoozed on commitments (snoozed_to) where state = 'open';
create index commitments_shown on commitments (shown_in) where shown_in is not null;
comment on table commitments is 'Who promised what to whom by when. For the owner alone: a contact has no right on it. Deleted with the message by a trigger, as kept_files is.';
comment on column commitments.shown_in is 'The outbox row that last showed this commitment alone: a reaction to it is about the commitment.';

create table chat_summaries (
    chat_id    bigint primary key references chats on delete cascade,
    body       text not null,
    about      bigint[] not null,
    until      timestamptz not null,
    created_at timestamptz not null default now()
);
create index chat_summaries_about on chat_summaries using gin (about);
comment on table chat_summaries is 'What was said in a chat before the part of its conversation that is still read word for word.';
comment on column chat_summaries.about is 'The messages whose words may be in it.';
comment on column chat_summaries.until is 'The time of the last of them.';

create table forgettings (
    id         bigint generated always as identity primary key,
    kind       text not null check (kind in ('some', 'chats', 'erase')),
    doomed     jsonb not null,
    command    bigint not null,
    counts     jsonb not null default '{}',
    created_at timestamptz not null default now(),
    done_at    timestamptz
);
comment on table forgettings is 'What the owner wants deleted, and how far that is. It names rows, and never holds what they said.';
comment on column forgettings.kind is 'some rows; all that was said in chats; erase a contact for good.';
comment on column forgettings.doomed is 'The deletion set: the ids of what is still to be deleted.';
comment on column forgettings.command is 'The message that asked for it.';
comment on column forgettings.counts is 'What has been deleted so far.';
