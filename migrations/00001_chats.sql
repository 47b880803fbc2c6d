-- +goose Up

-- What is decided while running: device ids, sync positions, the pause, the admin room.
create table settings (
    key        text primary key,
    value      jsonb not null,
    updated_at timestamptz not null default now()
);

-- One row per conversation, keyed by the bridge channel so that a new room for the same channel keeps everything.
create table chats (
    id              bigint generated always as identity primary key,
    protocol        text not null,
    channel_id      text not null,
    receiver        text not null default '',
    room_id         text unique,
    kind            text not null check (kind in ('dm', 'group', 'space', 'self', 'admin')),
    mode            text check (mode in ('business', 'personal', 'silent', 'off')), -- null: network, then profile decide
    mode_set_at     timestamptz,
    name            text not null default '',
    contact         text not null default '', -- Matrix id of the one contact of a dm
    bridge_bot      text not null default '',
    self_ghost      text not null default '', -- the owner's own ghost, when the bridge has no double puppet
    encrypted       text not null default 'unknown' check (encrypted in ('yes', 'no', 'unknown')),
    closed_why      text not null default '', -- tombstoned, left, no longer a portal; '' while usable
    owner_last_at   timestamptz,              -- when the owner last wrote there himself
    paused_until    timestamptz,
    last_message_at timestamptz,
    locked_by       text not null default '',
    locked_until    timestamptz not null default '-infinity',
    created_at      timestamptz not null default now(),
    unique (protocol, channel_id, receiver)
);

-- Every event that was taken in, so that the second door and a repeated transaction find it done.
create table seen_events (
    event_id text primary key,
    seen_at  timestamptz not null default now()
);

-- Events of rooms that nobody has described yet: ids only, the content is fetched once the room is known.
create table pending_events (
    event_id    text primary key,
    room_id     text not null,
    received_at timestamptz not null default now()
);
create index pending_events_room on pending_events (room_id);

create table messages (
    id          bigint generated always as identity primary key,
    chat_id     bigint not null references chats on delete cascade,
    event_id    text not null unique,
    author      text not null,
    sender      text not null,
    kind        text not null, -- text, notice, image, voice, file, reaction, encrypted, ...
    body        text not null,
    relates_to  text not null default '', -- the event a reaction or reply points to
    attachment  jsonb,
    parked      jsonb,         -- the encrypted content, until a key comes
    ts          timestamptz not null,
    received_at timestamptz not null default now(),
    edited_at   timestamptz,
    redacted_at timestamptz,
    action      text not null, -- what was decided at admission: archive, answer, handoff, command
    code        text not null, -- why, as a stable word
    reason      text not null, -- why, as a sentence
    answered_at timestamptz,   -- when the turn or command that took it was done, with or without a reply
    outbox_id   uuid,
    digested_at timestamptz
);
create index messages_chat on messages (chat_id, ts, id);
create index messages_waiting on messages (chat_id, ts, id) where answered_at is null and action in ('answer', 'handoff', 'command');
create index messages_stale on messages (received_at) where code = 'stale' and digested_at is null;

-- The only way out. A row is written with the gate's decision before anything is sent.
create table outbox (
    id           uuid primary key,
    seq          bigint generated always as identity,
    chat_id      bigint not null references chats on delete cascade,
    send_as      text not null check (send_as in ('owner', 'bot')),
    purpose      text not null, -- reply, greeting, handover, notice, ...
    event_type   text not null,
    content      jsonb not null,
    code         text not null, -- the gate's last word, as a stable word
    reason       text not null,
    spans        jsonb not null default '[]', -- the quotes a reply to a contact rests on
    addressed    boolean not null default false,
    state        text not null check (state in ('queued', 'sent', 'delivered', 'failed', 'dropped')),
    room_id      text not null default '', -- where it was sent
    event_id     text unique,
    error        text not null default '',
    created_at   timestamptz not null default now(),
    sent_at      timestamptz,
    delivered_at timestamptz
);
create index outbox_chat on outbox (chat_id, seq);
create index outbox_queued on outbox (chat_id, seq) where state = 'queued';

-- Questions to the owner that a number, a word or a reaction answers.
create table dialogs (
    id         bigint generated always as identity primary key,
    chat_id    bigint not null references chats on delete cascade,
    kind       text not null,
    payload    jsonb not null,
    outbox_id  uuid not null,
    expires_at timestamptz not null,
    done_at    timestamptz,
    created_at timestamptz not null default now()
);
create index dialogs_open on dialogs (chat_id, id) where done_at is null;

-- A chat that needs a person: told once to the contact and once to the owner while it is open.
create table escalations (
    id         bigint generated always as identity primary key,
    chat_id    bigint not null references chats on delete cascade,
    message_id bigint not null references messages on delete cascade,
    why        text not null,
    opened_at  timestamptz not null default now(),
    closed_at  timestamptz
);
create unique index escalations_open on escalations (chat_id) where closed_at is null;

-- A transaction in a contact's name sees the messages of its own chats and nothing else.
alter table messages enable row level security;
create policy messages_contact on messages for select to multis_contact
    using ('user:' || chat_id = any (string_to_array(current_setting('multis.scope', true), ',')));
grant select on messages to multis_contact;

-- +goose Down
drop table escalations, dialogs, outbox, messages, pending_events, seen_events, chats, settings;
