-- +goose Up

create table audit_entries (
    id         bigint generated always as identity primary key,
    at         timestamptz not null default now(),
    kind       text not null,
    actor      text not null,
    person     bytea,
    agent      text not null default '',
    chat_id    bigint not null default 0,
    message_id bigint not null default 0,
    task_id    bigint not null default 0,
    ref        text not null default '',
    action     text not null default '',
    outcome    text not null,
    rule       text not null default '',
    content    bytea
);
create index audit_entries_at on audit_entries (at);
create index audit_entries_chat on audit_entries (chat_id, at) where chat_id <> 0;
create index audit_entries_task on audit_entries (task_id) where task_id <> 0;
comment on table audit_entries is 'The audit log: what was done and decided, written in the transaction of the effect. It holds ids and keyed hashes, never texts, so that forgetting a person leaves it as it is. It refers to no other table.';
comment on column audit_entries.kind is 'What happened: see audit.Kind.';
comment on column audit_entries.actor is 'Who did it: see audit.Actor.';
comment on column audit_entries.person is 'The keyed hash of a Matrix id.';
comment on column audit_entries.agent is 'The id of the agent that acted. Empty: none.';
comment on column audit_entries.chat_id is '0: none. So it is with the other ids.';
comment on column audit_entries.ref is 'The id of another row, such as an outbox message.';
comment on column audit_entries.action is 'The name of the command, tool, setting or mode.';
comment on column audit_entries.rule is 'The rule that decided.';
comment on column audit_entries.content is 'The keyed hash of what it was about, such as the text that was sent or the arguments of a tool.';

create table audit_chain (
    seq      bigint primary key check (seq > 0),
    entry_id bigint not null unique,
    hash     bytea not null
);
comment on table audit_chain is 'The order of the audit log. Each hash covers the entry and the hash before it: see audit_link().';
comment on column audit_chain.seq is 'The position, counted from 1 without gaps in the order of the commits.';

create table audit_head (
    only_row boolean primary key default true check (only_row),
    seq      bigint not null,
    hash     bytea not null
) with (fillfactor = 50);
comment on table audit_head is 'The last link of the audit log: one row, locked while a transaction commits its entries.';
insert into audit_head (seq, hash) values (0, '\x');

create table audit_checkpoints (
    seq       bigint primary key,
    hash      bytea not null,
    at        timestamptz not null default now(),
    signature bytea not null
);
comment on table audit_checkpoints is 'Where the audit log was pruned: entries up to seq are gone, and the next link continues from hash.';
comment on column audit_checkpoints.signature is 'HMAC-SHA-256 with a key that is not in the database.';

-- The program itself may only add. Pruning takes the right to delete for its own transaction: see store.PruneAudit.
-- +goose StatementBegin
do $$ begin
    execute format('revoke update, delete, truncate on audit_entries, audit_chain, audit_checkpoints from %I', current_user);
end $$;
-- +goose StatementEnd
