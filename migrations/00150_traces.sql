-- +goose Up

alter table outbox add trace_id text not null default '';
comment on column outbox.trace_id is 'The trace of the job that wrote it; empty if traces were off.';
