-- +goose Up

-- Who is told of what: the configuration's hooks, written when multis starts.
create table hooks (
    name          text primary key,
    target        text not null,   -- as shown to people: no path, which may be a secret
    events        text[] not null,
    failing_since timestamptz      -- when it was last given up, until it works again
);

-- One row for each event and hook. It names what it is about; what is told is read when it is told, so that what was
-- forgotten meanwhile is not.
create table hook_deliveries (
    id       uuid primary key default gen_random_uuid(),
    hook     text not null,
    event    text not null,
    ref      text not null,
    at       timestamptz not null default now(),
    state    text not null default 'queued' check (state in ('queued', 'delivered', 'failed', 'dropped')),
    attempts int not null default 0,
    status   int not null default 0, -- what the server answered last; 0: nothing
    error    text not null default '',
    done_at  timestamptz
);
create index hook_deliveries_hook on hook_deliveries (hook, at desc);

-- +goose Down
drop table hook_deliveries, hooks;
