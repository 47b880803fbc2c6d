-- +goose Up

create table model_exams (
    model       text primary key,
    examined_at timestamptz not null,
    summary     text not null,
    card        jsonb not null
);
comment on table model_exams is 'The newest scorecard of each model that multis models exam has examined.';
comment on column model_exams.summary is 'The result in a few words, for people.';
