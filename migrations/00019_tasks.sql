-- +goose Up

-- One piece of work of a model, from the question to the answer. Everything it did is in its steps, so that it goes on after a crash
-- where it stopped.
create table tasks (
    id          bigint generated always as identity primary key,
    parent_id   bigint references tasks on delete cascade,
    key         text not null unique,          -- what is worked on: the same work is the same task
    kind        text not null,                 -- ask, turn
    chat_id     bigint not null references chats on delete cascade,
    message_id  bigint,                        -- that asked
    about       bigint[] not null default '{}', -- messages that stand in the prompt: deleted, they are deleted here too
    agent       text not null default '',
    model       text not null default '',
    state       text not null default 'pending'
        check (state in ('pending', 'authorized', 'executing', 'monitoring', 'completed', 'failed', 'killed', 'timeout')),
    attempt     int not null default 0,        -- who works on it: an older attempt writes nothing any more
    input       text not null default '',
    request     jsonb,                         -- the first request to the model, with the passages in it
    answer      text not null default '',
    error       text not null default '',
    live_event  text not null default '',      -- the message that shows how far it is
    stop_why    text not null default '',      -- somebody wants it to end
    forgotten   boolean not null default false, -- a message in it was deleted: its texts are gone
    cost        bigint not null default 0,     -- millionths
    created_at  timestamptz not null default now(),
    started_at  timestamptz,
    finished_at timestamptz
);
create index tasks_about on tasks using gin (about);
create index tasks_open on tasks (id) where finished_at is null;
create index tasks_finished on tasks (finished_at);

-- Each call of a model and of a tool, written before it is made and after.
create table task_steps (
    task_id    bigint not null references tasks on delete cascade,
    seq        int not null,
    kind       text not null check (kind in ('model', 'tool')),
    name       text not null,             -- of the tool or the model
    call_id    text not null default '',  -- of a tool call
    arguments  text not null default '',
    effect     boolean not null default false, -- it is not repeated when nobody knows whether it was done
    text       text not null default '',  -- what the model said, or read
    for_user   text not null default '',
    calls      jsonb,                     -- what the model wants called
    passages   jsonb,                     -- what an answer may cite
    is_error   boolean not null default false,
    code       text not null default '',
    retriable  boolean not null default false,
    ref        text not null default '',
    handover   text not null default '',
    tokens_in  bigint not null default 0,
    tokens_out bigint not null default 0,
    cost       bigint not null default 0, -- millionths
    started_at timestamptz not null default now(),
    ended_at   timestamptz,
    primary key (task_id, seq)
);
create unique index task_steps_call on task_steps (task_id, call_id) where kind = 'tool';

-- +goose Down
drop table task_steps, tasks;
