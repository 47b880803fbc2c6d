-- +goose Up

create table canned_answers (
    id         bigint generated always as identity primary key,
    question   text not null check (question <> ''),
    answer     text not null check (answer <> ''),
    created_at timestamptz not null default now()
);
comment on table canned_answers is 'The owner''s own answers to questions of contacts, with variables such as {name}. They are a public document, too.';

create table learned_answers (
    id          bigint generated always as identity primary key,
    question    text not null check (question <> ''),
    answer      text not null check (answer <> ''),
    role        text not null check (role in ('public', 'admin')),
    person      text not null,
    answered_at timestamptz not null,
    created_at  timestamptz not null default now()
);
comment on table learned_answers is 'Answers of people that the owner took into his document "Answers", without personal data.';
comment on column learned_answers.person is 'Matrix id of whoever gave the answer. Empty: it is not known.';

create table unanswered_questions (
    id            bigint generated always as identity primary key,
    escalation_id bigint not null unique,
    chat_id       bigint not null references chats on delete cascade,
    message_ids   bigint[] not null,
    question      text not null,
    answer        text not null,
    person        text not null,
    answered_at   timestamptz not null,
    state         text not null check (state in ('open', 'accepted', 'declined', 'known')),
    changes       bigint references learned_answers on delete cascade,
    created_at    timestamptz not null default now()
);
create index unanswered_messages on unanswered_questions using gin (message_ids);
create index unanswered_chat on unanswered_questions (chat_id);
comment on table unanswered_questions is 'Questions that multis could not answer, with what a person answered. The owner decides whether the answer goes into his documents. The texts are deleted with the messages, and when an answer is accepted.';
comment on column unanswered_questions.state is 'known is one that the documents or an earlier one have already: the owner is not asked.';
comment on column unanswered_questions.changes is 'The learned answer that this one contradicts. Null: it is a new one.';
alter table unanswered_questions alter question set statistics 0, alter answer set statistics 0;
alter table learned_answers alter question set statistics 0, alter answer set statistics 0;
alter table canned_answers alter question set statistics 0, alter answer set statistics 0;

alter table escalations add cause text not null default '';
create index escalations_opened on escalations (opened_at);
comment on column escalations.cause is 'Why a person had to answer, as a stable word: no_answer, keyword, person, ... Empty: it was opened by a program that did not store it.';
