-- +goose Up

alter table outbox add judged text not null default '' check (judged in ('', 'same', 'near', 'different'));
comment on column outbox.judged is 'What a model said about how close a shadow answer was to the owner''s. Empty: none was asked.';
