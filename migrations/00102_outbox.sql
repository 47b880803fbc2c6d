-- +goose Up

create table outbox (
    id           uuid primary key,
    seq          bigint generated always as identity,
    chat_id      bigint not null references chats on delete cascade,
    send_as      text not null check (send_as in ('owner', 'bot')),
    purpose      text not null,
    event_type   text not null,
    content      jsonb not null,
    code         text not null,
    reason       text not null,
    spans        jsonb not null default '[]',
    addressed    boolean not null default false,
    state        text not null check (state in ('held', 'queued', 'sent', 'delivered', 'failed', 'dropped')),
    room_id      text not null default '',
    event_id     text unique,
    error        text not null default '',
    created_at   timestamptz not null default now(),
    sent_at      timestamptz,
    delivered_at timestamptz,
    about        bigint[] not null default '{}',
    part_of      uuid references outbox,
    rests_on     bigint[] not null default '{}',
    replaces     text not null default ''
);
create index outbox_chat on outbox (chat_id, seq);
create index outbox_queued on outbox (chat_id, seq) where state = 'queued';
create index outbox_held on outbox (created_at) where state = 'held';
create index outbox_created on outbox (created_at);
create index outbox_parts on outbox (part_of) where part_of is not null;
create index outbox_about on outbox using gin (about) where about <> '{}';
create index outbox_rests_on on outbox using gin (rests_on) where rests_on <> '{}';
comment on table outbox is 'The only way out. A row is written with the gate''s decision before anything is sent.';
comment on column outbox.purpose is 'reply, greeting, handover, notice, ...';
comment on column outbox.code is 'The gate''s last decision, as a stable word; reason is the sentence.';
comment on column outbox.spans is 'The quotes that a reply to a contact rests on.';
comment on column outbox.state is 'held is a draft: it is the very event that will be sent, and waits for the owner''s approval.';
comment on column outbox.room_id is 'Where it was sent.';
comment on column outbox.about is 'The messages that it quotes: when one is deleted, it is deleted in its room as well.';
comment on column outbox.rests_on is 'The messages whose words may be in it, quoted or not: when one is deleted, so is the text that is kept here.';
comment on column outbox.part_of is 'The first row of a message that takes several. Null: it is whole, or that first row.';
comment on column outbox.replaces is 'The message that was shown while the answer was made, and that this replaced: what is deleted of one is deleted of the other.';

create table outbox_files (
    outbox_id uuid primary key references outbox on delete cascade,
    data      bytea not null
);
comment on table outbox_files is 'Files that wait to be sent. Once they are, the homeserver has them.';

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
comment on table dialogs is 'Questions to the owner that a number, a word or a reaction answers.';
