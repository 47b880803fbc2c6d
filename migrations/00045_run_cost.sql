-- +goose Up

-- What a task cost is summed up with each answer.
create index usage_run on usage (run) where run <> '';

-- +goose Down
drop index usage_run;
