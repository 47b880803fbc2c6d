-- +goose Up

-- How far a chat is remembered. fresh counts the messages since the last capture; the window of a conversation begins at
-- window_from, because what was before it is in the notes.
create table chat_memory (
    chat_id     bigint primary key references chats on delete cascade,
    fresh       int not null default 0,
    fresh_at    timestamptz not null default now(), -- when the newest of them came
    captured_to bigint not null default 0,          -- the last message that was looked at
    window_from timestamptz,
    retry_at    timestamptz not null default '-infinity', -- after a capture failed, no other before
    failures    int not null default 0
) with (fillfactor = 70);
create index chat_memory_fresh on chat_memory (fresh_at) where fresh >= 6;

-- What one capture wrote: once for a chat and the last message it saw.
create table note_sections (
    id           bigint generated always as identity primary key,
    chat_id      bigint not null references chats on delete cascade,
    role         text not null check (role = 'admin' or role ~ '^user:.'),
    last_message bigint not null,
    created_at   timestamptz not null default now(),
    unique (chat_id, last_message)
);
create index note_sections_role on note_sections (role, id desc);

-- One thing that is known. valid_from and valid_to say when it was so; created_at when it was learned. A note without a
-- section was written by hand.
create table notes (
    id            bigint generated always as identity primary key,
    role          text not null check (role = 'admin' or role ~ '^user:.'),
    chat_id       bigint not null references chats on delete cascade,
    section_id    bigint references note_sections on delete cascade,
    kind          text not null check (kind in ('decision', 'action', 'preference', 'fact', 'tone', 'note')),
    subject       text not null default '', -- folded; two notes of one subject and role are not both valid
    body          text not null,
    was           text not null default '', -- what it took the place of
    sources       bigint[] not null default '{}', -- messages
    valid_from    timestamptz not null,
    valid_to      timestamptz,
    superseded_by bigint references notes on delete set null,
    pruned_at     timestamptz, -- no longer in every prompt; searching finds what it says
    created_at    timestamptz not null default now()
);
create index notes_valid on notes (role, id desc) where valid_to is null;
create index notes_subject on notes (role, subject) where valid_to is null and subject <> '';
create index notes_sources on notes using gin (sources);
create index notes_section on notes (section_id);

-- Who promised what to whom by when. For the owner alone: a contact has no right on it.
create table commitments (
    id         bigint generated always as identity primary key,
    chat_id    bigint not null references chats on delete cascade,
    note_id    bigint references notes on delete set null,
    message_id bigint not null references messages on delete cascade,
    who        text not null,
    whom       text not null default '',
    what       text not null,
    due_at     timestamptz,
    state      text not null default 'open' check (state in ('open', 'done', 'dropped')),
    snoozed_to timestamptz,
    nudged_at  timestamptz,
    created_at timestamptz not null default now(),
    unique (message_id, what)
);
create index commitments_open on commitments (due_at) where state = 'open';

-- Row-level security as on chunks: what is not in the transaction's scope is not there.
alter table notes enable row level security;
alter table notes force row level security;
create policy notes_owner on notes to current_user
    using (current_setting('multis.scope', true) = '*' or role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]))
    with check (current_setting('multis.scope', true) = '*' or role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]));
create policy notes_contact on notes for select to multis_contact
    using (role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]) and role ~ '^user:.');
grant select on notes to multis_contact;

-- +goose Down
drop table commitments, notes, note_sections, chat_memory;
