-- +goose Up

-- How the server recognises the version of a page that was indexed, so that it is not fetched again unchanged.
alter table documents add column validator text not null default '';

-- +goose Down
alter table documents drop column validator;
