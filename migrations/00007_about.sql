-- +goose Up

-- The messages that a notice quotes: when one of them is deleted, so is the notice.
alter table outbox add column about bigint[] not null default '{}';
create index outbox_about on outbox using gin (about) where about <> '{}';

-- +goose Down
alter table outbox drop column about;
