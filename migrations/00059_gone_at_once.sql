-- +goose Up

-- As with the other tables before: of the time that old messages took to go, more than half went into looking, a message at a time, for
-- what needs a person and what was promised. Whoever adds to these tables holds the message.
alter table escalations drop constraint escalations_message_id_fkey;
alter table commitments drop constraint commitments_message_id_fkey;
-- +goose StatementBegin
create or replace function drop_with_messages() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from message_index where id in (select id from gone);
    delete from kept_files where message_id in (select id from gone);
    delete from escalations where message_id in (select id from gone);
    delete from commitments where message_id in (select id from gone);
    return null;
end $$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
create or replace function drop_with_messages() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from message_index where id in (select id from gone);
    delete from kept_files where message_id in (select id from gone);
    return null;
end $$;
-- +goose StatementEnd
alter table escalations add constraint escalations_message_id_fkey foreign key (message_id) references messages on delete cascade;
alter table commitments add constraint commitments_message_id_fkey foreign key (message_id) references messages on delete cascade;
