-- +goose Up

alter table learned_answers add corrects_origin text not null default '', add corrects_quote text not null default '', alter corrects_quote set statistics 0;
comment on column learned_answers.corrects_origin is 'Origin of the public document of which the answer corrects a sentence. Empty: it corrects none.';
comment on column learned_answers.corrects_quote is 'That sentence. While it stands in the document, it is not quoted: the answer takes its place.';

alter table unanswered_questions add corrects_origin text not null default '', add corrects_quote text not null default '', alter corrects_quote set statistics 0;
comment on column unanswered_questions.corrects_origin is 'Origin of the public document that the answer contradicts. Empty: it contradicts none.';
comment on column unanswered_questions.corrects_quote is 'What that document says.';

alter table outbox add judged_at timestamptz;
comment on column outbox.judged_at is 'When judged was stored. What the owner wrote, edited or deleted later was not compared.';
