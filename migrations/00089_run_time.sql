-- +goose Up

-- How long a run was worked on so far: its time is one for all attempts.
alter table schedule_runs add column worked interval not null default '0';

-- +goose Down
alter table schedule_runs drop column worked;
