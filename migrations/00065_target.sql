-- +goose Up

-- The chat that a saved task may draft a message for.
alter table tasks add column target bigint references chats on delete set null;

-- +goose Down
alter table tasks drop column target;
