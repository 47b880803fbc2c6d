-- +goose Up

alter table schedules add unless_reply boolean not null default false;
comment on column schedules.unless_reply is 'The message is not sent if the contact has written since the schedule was set.';
