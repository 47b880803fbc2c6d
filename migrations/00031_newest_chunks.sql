-- +goose Up

-- The newest chunks of a role, in the order they are given in.
drop index chunks_recent;
create index chunks_recent on chunks (role, indexed_at desc, doc_id desc, ord);

-- +goose Down
drop index chunks_recent;
create index chunks_recent on chunks (role, indexed_at desc);
