-- +goose Up

create table injection_scores (
    message_id bigint primary key,
    chat_id    bigint not null references chats on delete cascade,
    patterns   smallint not null,
    scope      smallint not null,
    rate       smallint not null,
    judge      smallint not null,
    verdict    text not null check (verdict in ('allow', 'flag', 'block')),
    scored_at  timestamptz not null default now()
);
create index injection_scores_chat on injection_scores (chat_id, scored_at);
comment on table injection_scores is 'How much a contact''s message looks like an attempt to give the assistant orders, from 0 to 100 by layer: see policy.ScoreInjection. It holds no text. Messages that score 0 have no row. Deleted with the message by a trigger, as kept_files is.';

create table model_holds (
    chat_id  bigint not null references chats on delete cascade,
    sender   text not null,
    until    timestamptz not null,
    since    timestamptz not null default now(),
    primary key (chat_id, sender)
);
comment on table model_holds is 'Contacts whose messages no model answers until a time, because several of them were flagged within a day. When the owner lifts a hold, its time is over.';
alter table tasks add tainted boolean not null default false;
comment on column tasks.tainted is 'A model read text of others for it, so the answer may repeat such text.';

comment on column model_holds.sender is 'The Matrix id of the contact: in a group it is one of many.';
