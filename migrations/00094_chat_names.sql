-- +goose Up

-- What a chat is called as people see it: without capital letters and without characters that do not show. Chats of one network that
-- share it are shown with their numbers, to tell them apart.
alter table chats add column name_key text generated always as
    (lower(regexp_replace(name, '[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]', '', 'g'))) stored;
create index chats_names on chats (protocol, name_key);

-- +goose Down
-- There is no way back: see 00005.
