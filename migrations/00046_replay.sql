-- +goose Up

-- What a replay needs to ask a model the very same again: the word that fenced a tool's result, and a digest of what the model was asked.
alter table task_steps add column fence text not null default '', add column asked text not null default '';

-- +goose Down
alter table task_steps drop column fence, drop column asked;
