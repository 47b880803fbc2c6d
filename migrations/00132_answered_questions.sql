-- +goose Up
-- A person answers without an escalation, too, and may contradict a document then.
alter table unanswered_questions alter escalation_id drop not null, add question_id bigint unique;
comment on column unanswered_questions.escalation_id is 'The escalation of the question. Null: it was not escalated.';
comment on column unanswered_questions.question_id is 'The last message of a question that was not escalated. Null: it was escalated. Most have no text, and only say that the answer was looked at.';
