-- +goose Up

create index schedules_unless_reply on schedules (chat_id) where unless_reply and next_at is not null;
