-- +goose Up

alter table approvals
    add card       bigint,
    add tier       text not null default 'confirm' check (tier in ('confirm', 'exec', 'pin')),
    add target     text not null default '',
    add grantable  boolean not null default false,
    add unattended boolean not null default false,
    add how        text not null default '' check (how in ('', 'reaction', 'text', 'reply', 'grant', 'continued', 'expired', 'unreachable', 'redacted')),
    add reason     text not null default '',
    add message_id bigint,
    add grant_id   bigint,
    add used_at    timestamptz,
    add hinted     boolean not null default false;
comment on column approvals.card is 'The first approval on the message that asks: one message asks about up to ten calls. Null: this one.';
comment on column approvals.tier is 'confirm is decided by a reaction or text, exec by text only, pin by text and the PIN.';
comment on column approvals.target is 'What the call is about, as rules see it: domains or paths, one a line. Empty: nothing that rules can name.';
comment on column approvals.grantable is 'Whether further calls like it can be allowed for some hours.';
comment on column approvals.unattended is 'Nobody waits for the answer: after a yes the call is made by a task of its own.';
comment on column approvals.how is 'How it was decided. Empty: it is open, or was decided before this was stored.';
comment on column approvals.reason is 'Why it was denied: the owner''s words, or the program''s.';
comment on column approvals.message_id is 'The message or the reaction that decided. If it is deleted before the call is made, the call is not made.';
comment on column approvals.grant_id is 'The grant under which it was allowed without a question.';
comment on column approvals.used_at is 'When the call was begun.';
comment on column approvals.hinted is 'The owner was told that a reaction does not decide it.';
comment on column approvals.binding is 'SHA-256 of the tool, its arguments, the chat, and the folder, program and scripts that the call runs, as the owner was asked.';
create index approvals_card on approvals (card) where card is not null;
create index approvals_message on approvals (message_id) where message_id is not null;
create index approvals_created on approvals (created_at);

create table approval_grants (
    id          bigint generated always as identity primary key,
    approval_id bigint not null references approvals on delete cascade,
    chat_id     bigint not null references chats on delete cascade,
    agent       text not null,
    tool        text not null,
    target      text not null default '',
    created_at  timestamptz not null,
    expires_at  timestamptz not null check (expires_at > created_at and expires_at <= created_at + interval '8 hours'),
    revoked_at  timestamptz,
    uses        int not null default 0
);
create index approval_grants_open on approval_grants (chat_id, tool) where revoked_at is null;
create index approval_grants_approval on approval_grants (approval_id);
comment on table approval_grants is 'Calls that the owner allowed for some hours: of one agent, in one chat, of one tool, about one target.';
comment on column approval_grants.approval_id is 'The approval with which it was given.';
comment on column approval_grants.uses is 'How many calls were made under it.';
