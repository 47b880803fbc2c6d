-- +goose Up

-- The tools that a saved task may use; null: all that its agent has.
alter table tasks add column tools text[];

-- +goose Down
alter table tasks drop column tools;
