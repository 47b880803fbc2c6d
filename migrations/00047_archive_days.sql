-- +goose Up

-- What the owner is called in a chat, so that a question that names him finds his own lines.
alter table chats add owner_name text not null default '';

-- The archive knows whose line it is and on which day it was said: it is made anew, in the background.
truncate message_index, message_terms, message_configs, message_sizes;
insert into message_sizes values ('*', 0, 0);
update messages set unindexed = true where redacted_at is null and not unindexed;

-- +goose Down
alter table chats drop column owner_name;
