-- +goose Up

-- What a look around found, once for each agent and matter. A matter is named by ids alone.
create table heartbeat_matters (
    agent   text not null,
    matter  text not null,   -- unanswered:<message>, escalation:<escalation>, due:<commitment>, task:<task>, item:<which>:<day>
    chat_id bigint references chats on delete cascade,
    told    boolean not null, -- false: it was judged not to matter
    seen_at timestamptz not null default now(),
    primary key (agent, matter)
);
create index heartbeat_matters_old on heartbeat_matters (seen_at);

-- When a model last looked at what the owner wants looked at, and how often it did on that day.
create table heartbeat_looks (
    agent     text primary key,
    day       date not null,
    looks     int not null,
    looked_at timestamptz not null
);

-- +goose Down
drop table heartbeat_looks, heartbeat_matters;
