-- +goose Up

-- Files of contacts, where the configuration has them kept. They go with their message.
create table kept_files (
    message_id bigint primary key references messages on delete cascade,
    data       bytea not null,
    size       bigint not null,
    kept_at    timestamptz not null default now(),
    expires_at timestamptz not null
);
create index kept_files_age on kept_files (kept_at);

-- A message that is deleted takes its file along, whatever deletes it.
-- +goose StatementBegin
create function drop_kept_file() returns trigger language plpgsql as $$
begin
    delete from kept_files where message_id = new.id;
    return null;
end $$;
-- +goose StatementEnd
create trigger messages_redacted after update of redacted_at on messages
    for each row when (new.redacted_at is not null) execute function drop_kept_file();

-- +goose Down
drop trigger messages_redacted on messages;
drop function drop_kept_file;
drop table kept_files;
