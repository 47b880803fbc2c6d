-- +goose Up

-- Whether the contact was told that a person takes over: the gate may have forbidden it when the chat was handed over.
alter table escalations add column told boolean not null default false;

-- +goose Down
alter table escalations drop column told;
