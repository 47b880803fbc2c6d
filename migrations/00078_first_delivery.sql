-- +goose Up

-- Null: nobody set it. Then a chat that answers because of the profile or its network begins as config.yaml says, any other with auto.
alter table chats alter column delivery drop not null, alter column delivery drop default;
update chats set delivery = null where delivery = 'auto';

-- +goose Down
update chats set delivery = 'auto' where delivery is null;
alter table chats alter column delivery set default 'auto', alter column delivery set not null;
