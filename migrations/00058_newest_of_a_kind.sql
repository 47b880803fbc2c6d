-- +goose Up

-- The newest chunks of a role and kind: among very many public ones there may be none of what is remembered of chats.
drop index chunks_recent;
create index chunks_recent on chunks (role, kind, indexed_at desc, doc_id desc, ord);

-- +goose Down
drop index chunks_recent;
create index chunks_recent on chunks (role, indexed_at desc, doc_id desc, ord);
