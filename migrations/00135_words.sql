-- +goose Up

-- One word for each idea in what is stored. A program of before cannot use this schema: this is the last change of its kind before the first release.

-- What a text was made from is its sources, and what it shows of messages is its quotes.
alter table tasks rename about to sources;
comment on column tasks.sources is 'The messages that the task has read: when one is deleted, the texts of the task are deleted too.';
alter index tasks_about rename to tasks_sources;
alter table outbox rename rests_on to sources;
comment on column outbox.sources is 'The messages that the text was made from, quoted or not: when one is deleted, so is the text that is kept here.';
alter index outbox_rests_on rename to outbox_sources;
alter table outbox rename about to quotes;
alter index outbox_about rename to outbox_quotes;
alter table outbox rename spans to citations;
comment on column outbox.citations is 'The quotes from documents that a reply to a contact rests on.';
alter table chat_summaries rename about to sources;
comment on column chat_summaries.sources is 'The messages that the summary was made from.';
alter index chat_summaries_about rename to chat_summaries_sources;
alter table escalations rename rests_on to sources;
comment on column escalations.sources is 'The messages that reason and proposal were made from, because a model may have written them: when one is deleted, both are deleted too.';
alter table escalations rename found to citations;

-- A reason is a sentence about why something is as it is.
alter table escalations rename why to reason;
alter table chats rename closed_why to closed_reason;
comment on column chats.closed_reason is 'Why the room cannot be used: tombstoned, left, no longer a portal. Empty while it can.';
alter table bridge_states rename why to reason;
alter table tasks rename stop_why to stop_reason;
alter table task_steps rename handover to end_reason;

-- Who is notified.
alter table escalations rename told to contact_notified;
comment on column escalations.contact_notified is 'Whether the contact was notified that a person will answer: the gate may have forbidden it at first.';
alter table budgets rename told to notified_percent;
comment on column budgets.notified_percent is 'The per cent of the day''s cap that the owner was notified of.';
alter table schedules rename tell to notify;
comment on column schedules.notify is 'The admin room is notified as well.';
alter table messages rename digested_at to notified_at;
comment on column messages.notified_at is 'When the owner was notified of the message, because it came too late to be answered.';
alter table commitments rename nudged_at to reminded_at;

-- A schedule has an action and executions.
alter table schedules rename does to action;
alter table schedules rename constraint schedules_does_check to schedules_action_check;
comment on column schedules.action is 'What is done: body is sent (say), or given to the assistant (ask), or names an upkeep or the agent of a heartbeat.';
alter table schedule_runs rename to schedule_executions;
alter table schedule_executions rename constraint schedule_runs_pkey to schedule_executions_pkey;
alter table schedule_executions rename constraint schedule_runs_schedule_id_due_at_key to schedule_executions_schedule_id_due_at_key;
alter table schedule_executions rename constraint schedule_runs_schedule_id_fkey to schedule_executions_schedule_id_fkey;
alter table schedule_executions rename constraint schedule_runs_state_check to schedule_executions_state_check;
alter index schedule_runs_out rename to schedule_executions_outbox;
alter index schedule_runs_old rename to schedule_executions_started;
alter sequence schedule_runs_id_seq rename to schedule_executions_id_seq;
alter table tasks rename run_id to execution_id;
comment on column tasks.execution_id is 'The execution of a schedule that the task works for. Null: of none.';
alter index tasks_run rename to tasks_execution;
update tasks set key = regexp_replace(key, '^run:', 'execution:') where key like 'run:%';
update tasks set kind = 'schedule' where kind = 'clock';

-- The states of a task are those of a queue.
alter table tasks drop constraint tasks_state_check;
update tasks set state = case state when 'authorized' then 'queued' when 'executing' then 'running' else 'waiting' end where state in ('authorized', 'executing', 'monitoring');
alter table tasks add constraint tasks_state_check check (state in ('pending', 'queued', 'running', 'waiting', 'completed', 'failed', 'killed', 'timeout'));
alter table tasks rename live_event to progress_event;
alter table task_steps rename asked to request_digest;

-- A heartbeat finds something, and a webhook takes requests.
alter table heartbeat_matters rename to heartbeat_findings;
alter table heartbeat_findings rename matter to finding;
alter table heartbeat_findings rename told to notified;
alter table heartbeat_findings rename constraint heartbeat_matters_pkey to heartbeat_findings_pkey;
alter table heartbeat_findings rename constraint heartbeat_matters_chat_id_fkey to heartbeat_findings_chat_id_fkey;
alter index heartbeat_matters_old rename to heartbeat_findings_seen;
alter index heartbeat_matters_told rename to heartbeat_findings_notified;
comment on column heartbeat_findings.finding is 'Named by ids alone: unanswered:<message>, escalation:<escalation>, due:<commitment>, task:<task>, item:<which>:<day>.';
comment on column heartbeat_findings.notified is 'False: it was judged not to matter.';
alter table watch_calls rename to webhook_requests;
alter table webhook_requests rename constraint watch_calls_pkey to webhook_requests_pkey;
alter table webhook_requests rename constraint watch_calls_watch_id_fkey to webhook_requests_watch_id_fkey;
comment on table webhook_requests is 'Requests to a webhook that carried an id, so that the owner is notified once of a request that is made twice.';
alter table watches drop constraint watches_kind_check;
update watches set kind = 'webhook' where kind = 'inbox';
alter table watches add constraint watches_kind_check check (kind in ('page', 'webhook'));
comment on table watches is 'What the owner wants to be notified of: a page that changes, or requests of other programs to a webhook.';
comment on column watches.token is 'Of a webhook: the hash of the secret that its callers must know.';

-- Escalation is the only word for a conversation that is passed to a person, and transcription that for a voice note that becomes a text.
drop index messages_waiting;
update messages set action = case action when 'handoff' then 'escalate' else 'transcribe' end where action in ('handoff', 'listen');
create index messages_waiting on messages (chat_id, ts, id) where answered_at is null and action in ('answer', 'escalate', 'command');
comment on column messages.action is 'What was decided at admission: archive, transcribe, answer, escalate, command.';
update outbox set purpose = 'escalation' where purpose = 'handover';
update outbox set drafted_as = 'escalation' where drafted_as = 'handover';
comment on column outbox.purpose is 'reply, greeting, escalation, notice, ...';
update hook_deliveries set event = 'resolved' where event = 'handoff';
update settings set value = '"escalate"' where key = 'config:budget.at_cap' and value = '"handover"';

-- The codes of decisions.
update messages set code = c.now from (values ('listening', 'transcribing'), ('heard', 'transcribed'), ('unheard', 'transcription_failed'), ('owner_here', 'owner_active'),
    ('cap_minute', 'minute_limit'), ('cap_day', 'day_limit'), ('taken_back', 'quote_deleted'), ('draft_stale', 'draft_outdated'), ('handed_over', 'escalated')) c (was, now) where code = c.was;
update outbox set code = c.now from (values ('owner_here', 'owner_active'), ('cap_minute', 'minute_limit'), ('cap_day', 'day_limit'), ('taken_back', 'quote_deleted'),
    ('draft_stale', 'draft_outdated'), ('handed_over', 'escalated')) c (was, now) where code = c.was;
alter table unanswered_questions drop constraint unanswered_questions_state_check;
update unanswered_questions set state = 'not_asked' where state = 'known';
alter table unanswered_questions add constraint unanswered_questions_state_check check (state in ('open', 'accepted', 'declined', 'not_asked'));
comment on column unanswered_questions.state is 'not_asked: the owner is not asked, because the documents or an earlier question have the answer already.';

-- Settings.
update settings set key = s.now from (values ('since', 'sync_token'), ('bot_since', 'bot_sync_token'), ('keyless_since', 'keyless_sync_token'), ('keys_gone', 'keys_unreadable')) s (was, now) where key = s.was;
update settings set key = 'skill_notified:' || substring(key from 12) where key like 'told\_skill:%';

-- The kind of a job is the name of its arguments in the program, and an argument has one name in all kinds. A job that may exist only once has a hash
-- of its kind and arguments, which is made anew: see river's dbunique. A new database has no jobs yet.
-- +goose StatementBegin
do $$
begin
    if to_regclass('river.river_job') is null then
        return;
    end if;
    create function job_key(kind text, args jsonb) returns bytea language sql as $f$
        select sha256(convert_to('&kind=' || kind || '&args={' || coalesce(string_agg(to_json(key)::text || ':' || value::text, ',' order by key collate "C"), '') || '}', 'UTF8'))
            from jsonb_each(case jsonb_typeof(args) when 'object' then args - case when kind in ('tell', 'notice') then 'page' else '' end else '{}' end)
    $f$;
    create temporary table renamed_kinds on commit drop as select * from (values ('bridges', 'check_bridges'), ('remember', 'find_captures'), ('draft', 'present_draft'),
        ('escalation', 'update_escalation'), ('thread_file', 'copy_file'), ('thread_reply', 'change_reply'), ('run', 'execution'), ('folders', 'index_folders'),
        ('hook', 'deliver_hook'), ('archive', 'index_messages'), ('keep', 'keep_file'), ('digest', 'late_messages'), ('tell', 'notice'), ('quiet_chats', 'check_quiet_chats'),
        ('nudge', 'remind_commitments'), ('child', 'subtask'), ('watch', 'check_page')) k (was, now);
    create temporary table renamed_args on commit drop as select * from (values ('send', 'out', 'outbox'), ('retract', 'out', 'outbox'), ('undelivered', 'out', 'outbox'), ('draft', 'out', 'outbox'),
        ('run', 'run', 'execution'), ('tell', 'about', 'subject'), ('decrypt', 'ask', 'key_requests'), ('embed', 'again', 'retry_failed'), ('index', 'said', 'role_set_at'),
        ('history', 'done', 'notify_only'), ('history', 'quiet', 'no_notice'), ('pin', 'news', 'result'), ('pin', 'left', 'tries_left'), ('task', 'lost', 'give_up')) a (kind, was, now);
    create temporary table renamed_topics on commit drop as select * from (values ('device', 'session_replaced'), ('room_closed', 'admin_room_closed'), ('edit', 'edit_ignored'),
        ('keys_gone', 'keys_unavailable'), ('keys_back', 'keys_available'), ('push_moves', 'push_resumed'), ('sync_moves', 'sync_resumed'), ('unread', 'undecryptable'),
        ('bridge', 'bridge_replaced')) t (was, now);
    create temporary table renamed_jobs on commit drop as
        select j.id, coalesce(k.now, j.kind) as kind, coalesce(e.args, '{}') as args, j.unique_key = job_key(j.kind, j.args) as is_keyed
        from river.river_job j left join renamed_kinds k on k.was = j.kind cross join lateral (
            select jsonb_object_agg(coalesce(a.now, o.key), coalesce(to_jsonb(t.now), o.value)) as args
                from jsonb_each(case jsonb_typeof(j.args) when 'object' then j.args else '{}' end) o
            left join renamed_args a on a.kind = j.kind and a.was = o.key
            left join renamed_topics t on j.kind = 'tell' and o.key = 'topic' and to_jsonb(t.was) = o.value) e;
    update river.river_job j set kind = r.kind, args = r.args, unique_key = case when r.is_keyed then job_key(r.kind, r.args) else j.unique_key end,
        queue = case j.queue when 'child' then 'subtask' when 'archive' then 'message_index' when 'run' then 'execution' else j.queue end
        from renamed_jobs r where r.id = j.id;
    drop function job_key;
    drop trigger if exists tell_of_job on river.river_job;
end $$;
-- +goose StatementEnd
