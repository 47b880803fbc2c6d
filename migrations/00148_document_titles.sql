-- +goose Up

alter table documents add title text not null default '', add given_title text not null default '';
alter table documents alter title set statistics 0, alter given_title set statistics 0;
comment on column documents.title is 'Its own title for people: the heading above all of it. Empty: it has none.';
comment on column documents.given_title is 'The title that the owner gave it. Empty: none.';

alter table chunks add shown_title text not null default '';
alter table chunks alter shown_title set statistics 0;
comment on column chunks.shown_title is 'The title of the document as customers read it. Empty: its name.';
