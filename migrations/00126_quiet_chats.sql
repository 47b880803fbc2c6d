-- +goose Up

alter table chats
    add follow_up_days integer check (follow_up_days between 0 and 30),
    add followed_up_at timestamptz;
comment on column chats.follow_up_days is 'After how many days of the contact''s silence a follow-up is drafted; 0: never. Null: the owner set none, so a label or the configuration decides.';
comment on column chats.followed_up_at is 'When a follow-up was drafted last. There is one in each silence of the contact.';

alter table outbox add drafted_as text not null default '';
comment on column outbox.drafted_as is 'The purpose of an approved draft before the owner approved it as it stood. Empty: it was no draft, or a person wrote it.';

create table ratings (
    outbox_id uuid primary key references outbox on delete cascade,
    chat_id   bigint not null references chats on delete cascade,
    contact   text not null,
    asked_at  timestamptz not null,
    value     text not null default '' check (value in ('', 'good', 'bad')),
    given_by  text not null default '',
    given_at  timestamptz
);
create index ratings_asked on ratings (chat_id, asked_at);
create index ratings_given on ratings (given_at) where value <> '';
comment on table ratings is 'The questions whether a conversation helped, and what the contact said.';
comment on column ratings.contact is 'Matrix id of the contact who was asked. Nobody else can rate.';
comment on column ratings.given_by is 'The event by which it was rated, a reaction or a message. When it is deleted, so is the rating.';
