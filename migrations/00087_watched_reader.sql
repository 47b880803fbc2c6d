-- +goose Up

-- How a watched file was read: one that would be read otherwise now is looked at again.
alter table watched_files add column reader text not null default '';

-- +goose Down
alter table watched_files drop column reader;
