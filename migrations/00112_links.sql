-- +goose Up

-- References that were found by equal times, by the spelling of a key or by a name in a JSON text.

alter table outbox add task_id bigint references tasks on delete set null;
update outbox o set task_id = t.id from tasks t where t.chat_id = o.chat_id and t.finished_at = o.created_at;
create index outbox_task on outbox (task_id) where task_id is not null;
comment on column outbox.task_id is 'The task whose answer it is. Null: of none.';

-- A run is deleted before its task. The id stays, so that the task keeps the limits of a run that nobody finds.
alter table tasks add run_id bigint;
update tasks set run_id = substring(key from '^run:(\d{1,18})$')::bigint where kind in ('clock', 'heartbeat');
create index tasks_run on tasks (run_id) where run_id is not null;
comment on column tasks.run_id is 'The run of a schedule that it works for. Null: of none.';

alter table dialogs add message_id bigint, add draft_id uuid;
update dialogs set message_id = (payload->>'Message')::bigint where jsonb_typeof(payload->'Message') = 'number';
update dialogs set draft_id = (payload->>'Out')::uuid where kind = 'draft';
create index dialogs_message on dialogs (message_id) where message_id is not null;
create index dialogs_draft on dialogs (draft_id) where draft_id is not null;
comment on column dialogs.message_id is 'The message that it asks about: when one is deleted, so is the question.';
comment on column dialogs.draft_id is 'The first row of the draft that it asks about.';
