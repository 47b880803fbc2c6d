-- +goose Up

-- Chats of one person on several networks, as the owner said: each names the same one of them. Nothing moves, so that it can be undone.
alter table chats add column person bigint references chats on delete set null;
create index chats_person on chats (person) where person is not null;

-- +goose Down
alter table chats drop column person;
