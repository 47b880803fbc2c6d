-- +goose Up

-- Messages that wait for the key of their session.
create index messages_parked on messages (chat_id) where parked is not null;
create index messages_parked_session on messages ((parked ->> 'session_id')) where parked is not null;

-- +goose Down
drop index messages_parked, messages_parked_session;
