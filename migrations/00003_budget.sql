-- +goose Up

-- What a day's calls of paid services may still cost is a cap, from the configuration, less what is committed here. One
-- row for the day (chat 0), one for each chat of the day. No reference to chats: money spent stays spent when a chat is erased.
create table budgets (
    day        date not null,                                    -- in the owner's time zone
    chat_id    bigint not null,
    committed  bigint not null default 0 check (committed >= 0), -- what settled calls cost and open ones may, in millionths
    refused_at timestamptz,                                      -- the first refusal, so that it is told once
    primary key (day, chat_id)
);

-- One row per call, written before it is made. A call that never settles, because the process died, counts in full.
create table usage (
    id         bigint generated always as identity primary key,
    day        date not null,
    chat_id    bigint not null,
    purpose    text not null,
    model      text not null,
    reserved   bigint not null check (reserved >= 0), -- millionths
    cost       bigint check (cost >= 0),              -- millionths; null: not settled
    tokens_in  bigint not null default 0,             -- 0: unknown
    tokens_out bigint not null default 0,
    created_at timestamptz not null default now(),
    settled_at timestamptz
);
create index usage_day on usage (day);

-- +goose Down
drop table usage, budgets;
