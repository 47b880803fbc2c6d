-- +goose Up

-- What was asked in a room is looked up at each question there, and tasks of all chats are kept for a month.
create index tasks_chat on tasks (chat_id);

-- +goose Down
-- There is no way back: see 00005.
