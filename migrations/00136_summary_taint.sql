-- +goose Up
-- A summary of the owner's own words only must not make his later questions tainted. Of the earlier ones nobody knows.
alter table chat_summaries add column tainted boolean not null default true;
comment on column chat_summaries.tainted is 'It may repeat text that is not the owner''s.';
