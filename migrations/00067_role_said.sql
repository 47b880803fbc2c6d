-- +goose Up

-- When somebody said who may see a document, and the files of a watched folder: of two who say it, the later one is right, whatever
-- is done first.
alter table documents add column role_said_at timestamptz not null default now();
alter table watched_folders add column said_at timestamptz not null default now();

-- +goose Down
-- There is no way back: see 00005.
