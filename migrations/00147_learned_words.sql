-- +goose Up

create table learned_words (
    id       bigint generated always as identity primary key,
    chunk_id bigint not null references chunks on delete cascade,
    quote    text not null check (quote <> ''),
    words    text[] not null check (cardinality(words) > 0),
    asks     text not null,
    sources  bigint[] not null default '{}'
);
alter table learned_words alter quote set statistics 0, alter words set statistics 0;
create index learned_words_chunk on learned_words (chunk_id);
create index learned_words_sources on learned_words using gin (sources) where sources <> '{}';
comment on table learned_words is 'Words of questions for which the owner picked a quote of a public passage. They end with the passage: when its document is removed, gets another role, or has another text there.';
comment on column learned_words.quote is 'What was picked: a part of the passage.';
comment on column learned_words.words is 'A set, as questions and passages are compared: in lower case and without accents, numbers and names.';
comment on column learned_words.asks is 'The type of value that the question asked for, such as price. Empty: none.';
comment on column learned_words.sources is 'The message that the words are from, if one of them is neither in the lexicon nor in a public document: they are deleted with it. Empty: nothing says who asked.';

-- A contact is answered by the words of the passages that he may see: the policy of chunks holds in the subquery.
alter table learned_words enable row level security;
create policy learned_words_contact on learned_words for select to multis_contact using (exists (select from chunks c where c.id = chunk_id));
grant select on learned_words to multis_contact;
