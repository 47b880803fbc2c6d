-- +goose Up

-- The spaces a chat's room is in, of those that decide who answers. Of other spaces nothing is kept.
alter table chats add spaces text[] not null default '{}';

-- +goose Down
alter table chats drop column spaces;
