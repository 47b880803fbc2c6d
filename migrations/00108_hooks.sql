-- +goose Up

create table hooks (
    name          text primary key,
    target        text not null,
    events        text[] not null,
    failing_since timestamptz
);
comment on table hooks is 'Who is told of what: the configuration''s hooks, written when multis starts.';
comment on column hooks.target is 'As shown to people: without the path, which may be a secret.';
comment on column hooks.failing_since is 'When a delivery was last given up, until one works again.';

create table hook_deliveries (
    id       uuid primary key default gen_random_uuid(),
    hook     text not null,
    event    text not null,
    ref      text not null,
    at       timestamptz not null default now(),
    state    text not null default 'queued' check (state in ('queued', 'delivered', 'failed', 'dropped')),
    attempts int not null default 0,
    status   int not null default 0,
    error    text not null default '',
    done_at  timestamptz
);
create index hook_deliveries_hook on hook_deliveries (hook, at desc);
comment on table hook_deliveries is 'One row for each event and hook. It names what it is about, and the content is read at delivery, so that what was deleted meanwhile is not sent.';
comment on column hook_deliveries.status is 'The HTTP status that the server answered last. 0: none.';

create table watches (
    id         bigint generated always as identity primary key,
    name       text not null unique,
    kind       text not null check (kind in ('page', 'inbox')),
    address    text not null default '',
    every      bigint not null default 0,
    token      bytea,
    validator  text not null default '',
    seen       text,
    next_at    timestamptz not null default now(),
    checked_at timestamptz,
    changed_at timestamptz,
    failures   int not null default 0,
    error      text not null default '',
    created_at timestamptz not null default now()
);
comment on table watches is 'What the owner wants to be told of: a page that changes, or webhooks that other programs call (inbox).';
comment on column watches.address is 'Of a page.';
comment on column watches.every is 'Of a page, in seconds.';
comment on column watches.token is 'Of an inbox: the hash of the secret that its callers must know.';
comment on column watches.validator is 'How the page''s server recognises the version that was seen.';
comment on column watches.seen is 'The text of that version. Null: none yet.';
comment on column watches.next_at is 'When to check again.';
comment on column watches.changed_at is 'When there was last something to tell.';
comment on column watches.failures is 'Since it last worked.';

create table watch_calls (
    watch_id bigint not null references watches on delete cascade,
    key      text not null,
    at       timestamptz not null default now(),
    primary key (watch_id, key)
);
comment on table watch_calls is 'Webhook calls that carried an id, so that a call that is made twice is told once.';
