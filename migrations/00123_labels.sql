-- +goose Up

alter table chats
    add labels text[] not null default '{}' check (cardinality(labels) <= 50),
    add unlabelled text[] not null default '{}' check (cardinality(unlabelled) <= 50);
comment on column chats.labels is 'The labels that the owner gave, or that words of a contact gave. Those of the rules about networks and names are not stored.';
comment on column chats.unlabelled is 'The labels that the owner took from the chat, so that no rule gives them again.';
