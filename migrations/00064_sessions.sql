-- +goose Up

-- The piece of work that a task goes on with: an agent wrote to the one who had done it.
alter table tasks add column continues bigint references tasks on delete set null;

-- +goose Down
alter table tasks drop column continues;
