-- +goose Up

create table monitors (
    id            bigint generated always as identity primary key,
    name          text not null unique,
    paused        boolean not null default false,
    next_at       timestamptz not null default now(),
    checked_at    timestamptz,
    failures      int not null default 0,
    error         text not null default '',
    failing_since timestamptz,
    firing        boolean not null default false,
    alerted_at    timestamptz,
    alerts        bigint not null default 0,
    outbox_id     uuid references outbox on delete set null
);
create index monitors_outbox on monitors (outbox_id) where outbox_id is not null;
comment on table monitors is 'The state of the monitors of the configuration.';
comment on column monitors.failures is 'How many checks have failed since the last good one.';
comment on column monitors.error is 'Why the last check failed; empty if it was good.';
comment on column monitors.failing_since is 'When the first of these checks failed.';
comment on column monitors.firing is 'The owner was alerted, and no check has been good since.';
comment on column monitors.outbox_id is 'The last alert, which is edited when the monitor recovers.';
