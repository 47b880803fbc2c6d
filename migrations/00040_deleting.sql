-- +goose Up

-- What hangs on messages goes with them a statement at a time: row by row, a day's deletions took three times as long. Whoever adds
-- to these tables holds the message.
alter table message_index drop constraint message_index_id_fkey;
alter table kept_files drop constraint kept_files_message_id_fkey;
-- +goose StatementBegin
create function drop_with_messages() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from message_index where id in (select id from gone);
    delete from kept_files where message_id in (select id from gone);
    return null;
end $$;
-- +goose StatementEnd
create trigger messages_gone after delete on messages referencing old table as gone for each statement execute function drop_with_messages();

-- +goose Down
drop trigger messages_gone on messages;
drop function drop_with_messages;
alter table message_index add constraint message_index_id_fkey foreign key (id) references messages on delete cascade;
alter table kept_files add constraint kept_files_message_id_fkey foreign key (message_id) references messages on delete cascade;
