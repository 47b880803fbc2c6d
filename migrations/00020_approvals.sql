-- +goose Up

-- A tool call that waits for a person.
create table approvals (
    id         bigint generated always as identity primary key,
    task_id    bigint not null references tasks on delete cascade,
    call_id    text not null,
    tool       text not null,
    arguments  text not null default '',
    expires_at timestamptz not null,
    allowed    boolean,               -- null: nobody said anything yet
    decided_at timestamptz,
    created_at timestamptz not null default now(),
    unique (task_id, call_id)
);

-- Who answers in a chat; empty leaves it to the routing.
alter table chats add column agent text not null default '';

-- +goose Down
alter table chats drop column agent;
drop table approvals;
