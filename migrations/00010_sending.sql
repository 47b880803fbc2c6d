-- +goose Up

-- What the network behind a chat takes, as its bridge says.
alter table chats add column features jsonb not null default '{}';

-- The first row of a letter that takes several; null for one that is whole.
alter table outbox add column part_of uuid references outbox;
create index outbox_parts on outbox (part_of) where part_of is not null;

-- Files that wait to be sent. Once they are, the homeserver has them.
create table outbox_files (
    outbox_id uuid primary key references outbox on delete cascade,
    data      bytea not null
);

-- +goose Down
drop table outbox_files;
alter table outbox drop column part_of;
alter table chats drop column features;
