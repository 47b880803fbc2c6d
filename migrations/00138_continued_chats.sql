-- +goose Up

alter table chats
    add continued_in bigint references chats on delete set null,
    add successor_room text;
create index chats_continued on chats (continued_in) where continued_in is not null;
comment on column chats.continued_in is 'The chat that this one became part of, because their bridge merged the two. All that was said is there; notes stay here and are read as those of one person. Null: it is a chat of its own.';
comment on column chats.successor_room is 'The room by which the bridge replaced room_id. If that room is another chat''s, this chat continues there. Null: the bridge replaced nothing.';
