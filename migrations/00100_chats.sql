-- +goose Up

create table settings (
    key        text primary key,
    value      jsonb not null,
    updated_at timestamptz not null default now()
);
comment on table settings is 'What is decided while the program runs: device ids, sync positions, the pause, the admin room.';

create table chats (
    id              bigint generated always as identity primary key,
    protocol        text not null,
    channel_id      text not null,
    receiver        text not null default '',
    room_id         text unique,
    kind            text not null check (kind in ('dm', 'group', 'space', 'self', 'admin')),
    mode            text check (mode in ('business', 'personal', 'silent', 'off')),
    mode_set_at     timestamptz,
    name            text not null default '',
    contact         text not null default '',
    bridge_bot      text not null default '',
    self_ghost      text not null default '',
    encrypted       text not null default 'unknown' check (encrypted in ('yes', 'no', 'unknown')),
    closed_why      text not null default '',
    owner_last_at   timestamptz,
    paused_until    timestamptz,
    last_message_at timestamptz,
    locked_by       text not null default '',
    locked_until    timestamptz not null default '-infinity',
    created_at      timestamptz not null default now(),
    typing_until    timestamptz,
    held_until      timestamptz,
    features        jsonb not null default '{}',
    claimed_at      timestamptz not null default 'epoch',
    former_room     text,
    moved_at        timestamptz,
    agent           text not null default '',
    person          bigint references chats on delete set null,
    owner_name      text not null default '',
    delivery        text check (delivery in ('auto', 'draft')),
    spaces          text[] not null default '{}',
    name_key        text generated always as
        (lower(regexp_replace(name, '[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]', '', 'g'))) stored,
    unique (protocol, channel_id, receiver)
);
create index chats_former_room on chats (former_room) where former_room is not null;
create index chats_names on chats (protocol, name_key);
create index chats_person on chats (person) where person is not null;
comment on table chats is 'One row per conversation, identified by the bridge''s channel and not by the room, so that a new room for the same channel keeps everything.';
comment on column chats.mode is 'Null: the network''s mode applies, then the profile''s.';
comment on column chats.name_key is 'The name as people see it: in lower case and without characters that do not show. Chats of one network that share it are shown with their numbers, to tell them apart.';
comment on column chats.contact is 'Matrix id of the one contact of a dm.';
comment on column chats.self_ghost is 'The owner''s own ghost, when the bridge has no double puppet.';
comment on column chats.closed_why is 'Why the room cannot be used: tombstoned, left, no longer a portal. Empty while it can.';
comment on column chats.owner_last_at is 'When the owner last wrote there himself.';
comment on column chats.locked_by is 'The job attempt that holds the lease on the chat, until locked_until.';
comment on column chats.typing_until is 'The contact is typing until then: what is being written belongs to the question.';
comment on column chats.held_until is 'The owner reads or types there: no answer before then, because the owner may answer.';
comment on column chats.features is 'What the network behind the chat accepts, as its bridge says (com.beeper.room_features).';
comment on column chats.claimed_at is 'When the bridge said that the chat is in room_id. A chat lives where its bridge said last.';
comment on column chats.former_room is 'The room before room_id. What was said there still belongs to the chat.';
comment on column chats.agent is 'The agent that answers here. Empty: the routing rules decide.';
comment on column chats.person is 'One chat of the same person on another network, as the owner said. All of a person''s chats name the same one; nothing is moved, so it can be undone.';
comment on column chats.owner_name is 'What the owner is called in this chat, so that a question that names the owner finds the owner''s own lines.';
comment on column chats.delivery is 'How an answer goes out: at once (auto), or after the owner approved it (draft). Null: nobody set it; a chat that answers because of the profile or its network begins as config.yaml says, any other with auto.';
comment on column chats.spaces is 'The spaces that hold the chat''s room, of those that the routing rules name. Others are not stored.';

create table bridge_bots (
    id           bigint generated always as identity primary key,
    bot          text not null unique,
    protocol     text not null,
    met_at       timestamptz not null default now(),
    confirmed_at timestamptz,
    refused_at   timestamptz
);
comment on table bridge_bots is 'Bots that claim rooms as bridges do. Any user of the server could: one that is not confirmed is heard as a contact, and not answered. A bot that is not here had chats before this table was made, and counts as confirmed.';
comment on column bridge_bots.confirmed_at is 'Null: the owner was asked.';

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
comment on table bridge_changes is 'Bridge bots that claim the chats of another bot. Only the owner can tell whether a bridge was set up anew or somebody pretends.';

create table bridge_states (
    id         bigint generated always as identity primary key,
    bot        text not null,
    login      text not null default '',
    protocol   text not null,
    why        text not null default '',
    changed_at timestamptz not null,
    down_since timestamptz,
    was_down   timestamptz,
    unique (bot, login)
);
comment on table bridge_states is 'What bridges report about the owner''s logins.';
comment on column bridge_states.login is 'Empty: the report is about no login in particular.';
comment on column bridge_states.why is 'What is wrong. Empty while all is well.';
comment on column bridge_states.down_since is 'Null while all is well.';
comment on column bridge_states.was_down is 'Since when the login was down the time before.';
