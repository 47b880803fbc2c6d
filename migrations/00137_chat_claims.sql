-- +goose Up

create table chat_claims (
    chat_id    bigint not null references chats on delete cascade,
    bridge_bot text not null,
    protocol   text not null,
    channel_id text not null,
    receiver   text not null,
    room_id    text not null,
    contact    text not null,
    self_ghost text not null,
    ended_at   timestamptz not null default now(),
    primary key (chat_id, bridge_bot, protocol, channel_id, receiver, room_id, contact, self_ghost)
);
create index chat_claims_channel on chat_claims (protocol, channel_id);
comment on table chat_claims is 'What bridges said about a chat before they said what its row says: its former channels, rooms and ghosts. A chat keeps its id when its bridge renames any of them.';
comment on column chat_claims.ended_at is 'When the bridge said something else.';

comment on table chats is 'One row per conversation. The room and the channel that its bridge says it has can both change, and it keeps everything: see chat_claims.';
