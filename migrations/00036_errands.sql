-- +goose Up

-- What a schedule that has the assistant work may use, fixed when it was set, and whether the admin room's conversation goes
-- with it. What a schedule that says something to a chat does beside it.
alter table schedules
    add column session     text not null default 'isolated' check (session in ('main', 'isolated')),
    add column tools       text[] not null default '{}',
    add column tell        boolean not null default false, -- the admin room hears of it, too
    add column best_effort boolean not null default false; -- what does not arrive is no failure

-- +goose Down
alter table schedules drop column session, drop column tools, drop column tell, drop column best_effort;
