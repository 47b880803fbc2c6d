-- +goose Up

create table budgets (
    day        date not null,
    committed  bigint not null default 0 check (committed >= 0),
    refused_at timestamptz,
    cap        text not null,
    subject    text not null,
    told       smallint not null default 0,
    constraint budgets_cap check (cap in ('day', 'chat', 'agent', 'run')),
    primary key (day, cap, subject)
);
comment on table budgets is 'What is committed against a cap: what calls of paid services may still cost is the configured cap less this. There is no reference to chats: money that is spent stays spent when a chat is erased.';
comment on column budgets.day is 'In the owner''s time zone. A run has the day -infinity, because it may go on over midnight.';
comment on column budgets.committed is 'What settled calls cost and open ones may, in millionths.';
comment on column budgets.refused_at is 'The first refusal, so that it is told once.';
comment on column budgets.subject is 'Whose cap it is: the chat, agent or run. Empty for the day''s.';
comment on column budgets.told is 'The per cent of the day''s cap that the owner was told of.';

create table usage (
    id            bigint generated always as identity primary key,
    day           date not null,
    chat_id       bigint not null,
    purpose       text not null,
    model         text not null,
    reserved      bigint not null check (reserved >= 0),
    cost          bigint check (cost >= 0),
    tokens_in     bigint not null default 0,
    tokens_out    bigint not null default 0,
    created_at    timestamptz not null default now(),
    settled_at    timestamptz,
    agent         text not null default '',
    run           text not null default '',
    tokens_cached bigint not null default 0
);
create index usage_day on usage (day);
-- What a task cost is summed up with each answer.
create index usage_run on usage (run) where run <> '';
comment on table usage is 'One row per paid call, written before it is made. A call that never settles, because the process died, counts in full.';
comment on column usage.reserved is 'In millionths.';
comment on column usage.cost is 'In millionths. Null: not settled.';
comment on column usage.tokens_in is '0: unknown.';
comment on column usage.tokens_cached is 'Of tokens_in, from the provider''s cache.';
