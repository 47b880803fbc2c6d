-- +goose Up

alter table schedules drop constraint schedules_kind_check;
alter table schedules add constraint schedules_kind_check check (kind in ('at', 'every', 'cron', 'rule'));
alter table schedules add column message_id bigint references messages on delete set null;
create index schedules_message on schedules (message_id) where message_id is not null;
comment on column schedules.spec is 'Of every a duration, of cron an expression, of rule a rule of RFC 5545.';
comment on column schedules.zone is 'The IANA zone of the wall clock that cron and rules follow.';
comment on column schedules.message_id is 'The message of the admin room that set it: the schedule is deleted with it.';
