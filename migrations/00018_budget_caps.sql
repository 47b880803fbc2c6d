-- +goose Up

-- Caps of agents and runs beside those of days and chats. A budget is named by its cap and whose it is; a run's is not a
-- day's, as it may go on over midnight.
alter table budgets add column cap text, add column subject text,
    add column told smallint not null default 0; -- per cent of the day's cap that the owner was told of
update budgets set cap = case when chat_id = 0 then 'day' else 'chat' end, subject = case when chat_id = 0 then '' else chat_id::text end;
alter table budgets drop constraint budgets_pkey, drop column chat_id,
    alter column cap set not null, alter column subject set not null,
    add constraint budgets_cap check (cap in ('day', 'chat', 'agent', 'run')),
    add primary key (day, cap, subject);

alter table usage add column agent text not null default '', add column run text not null default '',
    add column tokens_cached bigint not null default 0; -- of tokens_in, from the provider's cache

-- +goose Down
alter table usage drop column agent, drop column run, drop column tokens_cached;
delete from budgets where cap in ('agent', 'run');
alter table budgets add column chat_id bigint;
update budgets set chat_id = case when cap = 'day' then 0 else subject::bigint end;
alter table budgets drop constraint budgets_pkey, drop constraint budgets_cap, drop column cap, drop column subject, drop column told,
    alter column chat_id set not null, add primary key (day, chat_id);
