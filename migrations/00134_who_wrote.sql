-- +goose Up
-- A person who answers keeps the assistant quiet, and the reason says who it was.
alter table chats add owner_last_by text not null default '';
comment on column chats.owner_last_by is 'Matrix id of the operator who wrote at owner_last_at. Empty: it was the owner.';
