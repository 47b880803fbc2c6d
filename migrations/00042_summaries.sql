-- +goose Up

-- What was said in a chat before the part of its conversation that is still read word for word. about are the messages whose
-- words may be in it, until is the time of the last of them.
create table chat_summaries (
    chat_id    bigint primary key references chats on delete cascade,
    body       text not null,
    about      bigint[] not null,
    until      timestamptz not null,
    created_at timestamptz not null default now()
);
create index chat_summaries_about on chat_summaries using gin (about);

alter table chat_summaries enable row level security;
create policy chat_summaries_contact on chat_summaries for select to multis_contact
    using ('user:' || chat_id = any (string_to_array(current_setting('multis.scope', true), ',')));
grant select on chat_summaries to multis_contact;

-- A summary goes with each message in it that is changed or deleted, however that happens. What is left is read word for word again.
-- +goose StatementBegin
create function drop_summaries() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from chat_summaries where about @> array[old.id];
    return null;
end $$;
-- +goose StatementEnd
create trigger summary_changed after update of body, redacted_at on messages for each row
    when (new.body is distinct from old.body or new.redacted_at is distinct from old.redacted_at) execute function drop_summaries();
-- +goose StatementBegin
create function drop_summaries_of() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from chat_summaries s where exists (select from gone) and s.about && (select array_agg(id) from gone);
    return null;
end $$;
-- +goose StatementEnd
create trigger summary_gone after delete on messages referencing old table as gone for each statement execute function drop_summaries_of();

-- +goose Down
drop trigger summary_changed on messages;
drop trigger summary_gone on messages;
drop function drop_summaries, drop_summaries_of;
drop table chat_summaries;
