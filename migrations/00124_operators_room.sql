-- +goose Up

alter table chats add for_operators boolean not null default false;
comment on column chats.for_operators is 'The room has the threads of escalations and nothing else of the admin room. Only rooms of kind admin have it.';
