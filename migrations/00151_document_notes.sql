-- +goose Up

alter table documents add notes text[] not null default '{}';
comment on column documents.notes is 'What of the source was not read, or may be wrong; a sentence each.';
