-- +goose Up

-- The chat that a saved task may draft a message for.
alter table tasks add column target bigint references chats on delete set null;

-- What a model is asked is long, and written while somebody waits. A server that was built without lz4 goes on as it was.
-- +goose StatementBegin
do $$ begin
    alter table tasks alter column request set compression lz4;
exception when feature_not_supported or invalid_parameter_value then null;
end $$;
-- +goose StatementEnd

-- +goose Down
alter table tasks drop column target;
