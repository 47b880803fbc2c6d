-- +goose Up

alter table chats
    add column typing_until timestamptz, -- the contact is writing: what is being written belongs to the question
    add column held_until   timestamptz; -- the owner reads or writes there: he may answer himself

-- +goose Down
alter table chats drop column typing_until, drop column held_until;
