-- +goose Up

-- What the owner wants to hear of: a page that changes, or other programs that call in.
create table watches (
    id            bigint generated always as identity primary key,
    name          text not null unique,
    kind          text not null check (kind in ('page', 'inbox')),
    address       text not null default '',           -- of a page
    every         bigint not null default 0,          -- of a page, in seconds
    token         bytea,                              -- of an inbox: the hash of what its callers must know
    validator     text not null default '',           -- how the page's server recognises the version that was seen
    seen          text,                               -- the text of that version; null: none yet
    next_at       timestamptz not null default now(), -- when to look again
    checked_at    timestamptz,
    changed_at    timestamptz,                        -- when there was last something to tell
    failures      int not null default 0,             -- since it last worked
    error         text not null default '',
    created_at    timestamptz not null default now()
);

-- Calls that carried an id, so that one made twice is told once.
create table watch_calls (
    watch_id bigint not null references watches on delete cascade,
    key      text not null,
    at       timestamptz not null default now(),
    primary key (watch_id, key)
);

-- +goose Down
drop table watch_calls, watches;
