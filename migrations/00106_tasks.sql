-- +goose Up

create table tasks (
    id          bigint generated always as identity primary key,
    parent_id   bigint references tasks on delete cascade,
    key         text not null unique,
    kind        text not null,
    chat_id     bigint not null references chats on delete cascade,
    message_id  bigint,
    about       bigint[] not null default '{}',
    agent       text not null default '',
    model       text not null default '',
    state       text not null default 'pending'
        check (state in ('pending', 'authorized', 'executing', 'monitoring', 'completed', 'failed', 'killed', 'timeout')),
    attempt     int not null default 0,
    input       text not null default '',
    request     jsonb,
    answer      text not null default '',
    error       text not null default '',
    live_event  text not null default '',
    stop_why    text not null default '',
    forgotten   boolean not null default false,
    cost        bigint not null default 0,
    created_at  timestamptz not null default now(),
    started_at  timestamptz,
    finished_at timestamptz,
    tools       text[],
    continues   bigint references tasks on delete set null,
    target      bigint references chats on delete set null
);
create index tasks_about on tasks using gin (about);
create index tasks_open on tasks (id) where finished_at is null;
create index tasks_finished on tasks (finished_at);
-- What was asked in a room is looked up at each question there, and tasks of all chats are kept for a month.
create index tasks_chat on tasks (chat_id);
-- A request is long, and written while somebody waits. A server that was built without lz4 keeps its default.
-- +goose StatementBegin
do $$
begin
    alter table tasks alter column request set compression lz4;
exception when feature_not_supported or invalid_parameter_value then null;
end $$;
-- +goose StatementEnd
comment on table tasks is 'One piece of work of a model, from the question to the answer. All it did is in its steps, so that it continues after a crash where it stopped.';
comment on column tasks.key is 'What is worked on: the same work is the same task.';
comment on column tasks.message_id is 'The message that asked.';
comment on column tasks.about is 'The messages in the prompt: when one is deleted, it is deleted here too.';
comment on column tasks.attempt is 'Who works on it: an older attempt writes nothing any more.';
comment on column tasks.request is 'The first request to the model, with the passages in it.';
comment on column tasks.live_event is 'The event that shows the progress in the room.';
comment on column tasks.stop_why is 'Why the task is to stop. Empty: it is not.';
comment on column tasks.forgotten is 'A message in it was deleted, and its texts with it.';
comment on column tasks.cost is 'In millionths.';
comment on column tasks.tools is 'The tools that a saved task may use. Null: all that its agent has.';
comment on column tasks.continues is 'The task that this one continues: an agent wrote to the agent that had done it.';
comment on column tasks.target is 'The chat that a saved task may draft a message for.';

create table task_steps (
    task_id    bigint not null references tasks on delete cascade,
    seq        int not null,
    kind       text not null check (kind in ('model', 'tool')),
    name       text not null,
    call_id    text not null default '',
    arguments  text not null default '',
    effect     boolean not null default false,
    text       text not null default '',
    for_user   text not null default '',
    calls      jsonb,
    passages   jsonb,
    is_error   boolean not null default false,
    code       text not null default '',
    retriable  boolean not null default false,
    ref        text not null default '',
    handover   text not null default '',
    tokens_in  bigint not null default 0,
    tokens_out bigint not null default 0,
    cost       bigint not null default 0,
    started_at timestamptz not null default now(),
    ended_at   timestamptz,
    fence      text not null default '',
    asked      text not null default '',
    primary key (task_id, seq)
);
create unique index task_steps_call on task_steps (task_id, call_id) where kind = 'tool';
comment on table task_steps is 'Each call of a model and of a tool, written before it is made and after.';
comment on column task_steps.name is 'Of the tool or the model.';
comment on column task_steps.effect is 'The call has a side effect: it is not repeated when nobody knows whether it was done.';
comment on column task_steps.text is 'What the model said, or what the tool returned to it.';
comment on column task_steps.calls is 'The tool calls that the model asked for.';
comment on column task_steps.passages is 'What an answer may cite.';
comment on column task_steps.cost is 'In millionths.';
comment on column task_steps.fence is 'The word that fenced a tool''s result: a replay asks the model the very same again.';
comment on column task_steps.asked is 'A digest of what the model was asked, for a replay.';

create table approvals (
    id         bigint generated always as identity primary key,
    task_id    bigint not null references tasks on delete cascade,
    call_id    text not null,
    tool       text not null,
    arguments  text not null default '',
    expires_at timestamptz not null,
    allowed    boolean,
    decided_at timestamptz,
    created_at timestamptz not null default now(),
    unique (task_id, call_id)
);
comment on table approvals is 'A tool call that waits for a person.';
comment on column approvals.allowed is 'Null: nobody decided yet.';

create table heartbeat_matters (
    agent   text not null,
    matter  text not null,
    chat_id bigint references chats on delete cascade,
    told    boolean not null,
    seen_at timestamptz not null default now(),
    primary key (agent, matter)
);
create index heartbeat_matters_old on heartbeat_matters (seen_at);
-- Several agents may find the same matter; the owner is told by one.
create unique index heartbeat_matters_told on heartbeat_matters (matter) where told;
comment on table heartbeat_matters is 'What a heartbeat found, once for each agent and matter.';
comment on column heartbeat_matters.matter is 'Named by ids alone: unanswered:<message>, escalation:<escalation>, due:<commitment>, task:<task>, item:<which>:<day>.';
comment on column heartbeat_matters.told is 'False: it was judged not to matter.';

create table heartbeat_looks (
    agent     text primary key,
    day       date not null,
    looks     int not null,
    looked_at timestamptz not null
);
comment on table heartbeat_looks is 'When a model last checked the owner''s list for an agent, and how often it did on that day.';
