-- +goose Up

-- Bots that claim rooms as bridges do. Any user of the server could: one that is not confirmed is heard as a contact, and not answered.
-- A bot that is not here had chats before this table was made, and counts as confirmed.
create table bridge_bots (
    id           bigint generated always as identity primary key,
    bot          text not null unique,
    protocol     text not null,
    met_at       timestamptz not null default now(),
    confirmed_at timestamptz, -- null: the owner was asked
    refused_at   timestamptz
);

-- +goose Down
drop table bridge_bots;
