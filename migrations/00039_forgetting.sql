-- +goose Up

-- What the owner wants forgotten, and what became of it. It names rows, and never holds what they said.
create table forgettings (
    id         bigint generated always as identity primary key,
    kind       text not null check (kind in ('some', 'chats', 'erase')), -- some rows; all that was said in chats; a contact for good
    doomed     jsonb not null,               -- the ids of what is still to go
    command    bigint not null,              -- the message that asked for it
    counts     jsonb not null default '{}',  -- what has gone so far
    created_at timestamptz not null default now(),
    done_at    timestamptz
);

-- A message that is deleted looks for what refers to it.
create index escalations_message on escalations (message_id);
create index outbox_created on outbox (created_at);

-- As before, but nothing is counted where nothing changed: messages that are deleted one by one have mostly left before.
-- +goose StatementBegin
do $do$
begin
    execute replace(pg_get_functiondef('count_messages()'::regprocedure), 'perform from message_sizes where role = ''*'' for update; -- writers take turns',
        'if not exists (select from changed) then return null; end if;
    perform from message_sizes where role = ''*'' for update; -- writers take turns');
end $do$;
-- +goose StatementEnd

-- What the planner keeps of a column are values of it: texts must not live on there.
alter table messages alter body set statistics 0, alter attachment set statistics 0, alter parked set statistics 0;
alter table outbox alter content set statistics 0, alter spans set statistics 0;
alter table chunks alter content set statistics 0;
alter table notes alter body set statistics 0, alter was set statistics 0, alter subject set statistics 0;
alter table commitments alter what set statistics 0, alter who set statistics 0, alter whom set statistics 0;
alter table tasks alter input set statistics 0, alter request set statistics 0, alter answer set statistics 0, alter error set statistics 0;
alter table task_steps alter arguments set statistics 0, alter text set statistics 0, alter for_user set statistics 0, alter calls set statistics 0,
    alter passages set statistics 0, alter ref set statistics 0, alter handover set statistics 0;
alter table approvals alter arguments set statistics 0;
alter table escalations alter why set statistics 0;

-- +goose Down
drop index outbox_created, escalations_message;
drop table forgettings;
