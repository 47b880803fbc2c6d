-- +goose Up

-- What is searched: chunk_index for documents, message_index for what was said in the chats. They hold lexemes and no text.
-- Neither has a policy, because a policy on the table that is searched would keep Postgres from using its text index. The contact
-- role has no right on them, and reaches them through the functions in functions/ only.

create table chunk_index (
    id          bigint primary key references chunks on delete cascade,
    doc_id      bigint not null,
    ord         int not null,
    role        text not null,
    kind        text not null,
    n_tok       int not null,
    author      text not null default '',
    is_question boolean not null default false,
    tsv         tsvector not null,
    config      text not null default 'english',
    part        int not null default 0,
    unique (doc_id, ord)
) with (toast_tuple_target = 8160);
alter table chunk_index alter tsv set storage main;
-- Which lexemes are looked for is decided before Postgres is asked. With statistics it would look through its thousand commonest
-- lexemes for each condition, which takes longer than many a search.
alter table chunk_index alter tsv set statistics 1;
-- Writers put a document's index entries on the pending list and merge it in the same transaction, which sorts them first. A list
-- of a megabyte, some 600 passages, costs a search 2 to 4 ms, and merging it costs half as much per passage as the list of one
-- document. It only grows that long while several documents are written at the same time.
create index chunk_index_tsv on chunk_index using gin (tsv) with (fastupdate = on, gin_pending_list_limit = 1024);
create index chunk_index_tsv_public on chunk_index using gin (tsv) with (fastupdate = on, gin_pending_list_limit = 1024) where role = 'public';
create index chunk_index_role on chunk_index (role);
comment on table chunk_index is 'The index entry of each chunk.';
comment on column chunk_index.n_tok is 'Words, without stop words.';
comment on column chunk_index.author is 'Who said it, normalised like the query. Empty for documents.';
comment on column chunk_index.tsv is 'With positions and without weights: ts_rank gives back how often a lexeme occurs. See index_entry for the lexemes that end in ², ⁴ or ⁶.';
comment on column chunk_index.config is 'The text search configuration that cut the chunk to stems: that of its own language.';
comment on column chunk_index.part is 'Chunks of one section of a document have the same number.';

-- Words are compared byte by byte ("C"): no order of a language is needed, and it is several times faster.
create table term_stats (
    role text collate "C" not null,
    word text collate "C" not null,
    ndoc int not null,
    primary key (role, word)
) with (fillfactor = 80);
comment on table term_stats is 'In how many chunks a word occurs, for each counted role. The role ''*'' counts all chunks.';

create table corpus_stats (
    role    text primary key,
    chunks  bigint not null,
    words   bigint not null,
    version bigint not null default 0,
    counted boolean not null default false
);
comment on table corpus_stats is 'The number of chunks and words of each role. The row of ''*'' counts all, and writers take turns by locking it.';
comment on column corpus_stats.version is 'Changes with each change of the role''s chunks, so that a copy in memory can be checked. A trigger sets it from index_version.';
comment on column corpus_stats.counted is 'Whether term_stats has the role''s words. A role with few chunks is not counted: its words are counted in the index when they are asked for.';

create table corpus_configs (
    role   text not null,
    config text not null,
    chunks bigint not null,
    primary key (role, config)
);
comment on table corpus_configs is 'In which text search configurations the chunks of a role are. The role ''*'' counts all chunks.';

create table uncounted (
    doc_id bigint primary key references documents on delete cascade
);
comment on table uncounted is 'Documents whose words are not in term_stats yet. Many are counted at a time, because they share most of their common words.';

create table message_index (
    id          bigint primary key,
    doc_id      bigint not null,
    ord         int not null,
    role        text not null,
    kind        text not null default 'conv',
    n_tok       int not null,
    author      text not null default '',
    is_question boolean not null default false,
    tsv         tsvector not null,
    config      text not null,
    part        int not null default 0,
    unique (doc_id, ord)
) with (toast_tuple_target = 8160);
alter table message_index alter tsv set storage main;
create index message_index_tsv on message_index using gin (tsv);
create index message_index_role on message_index (role);
comment on table message_index is 'The index entry of each message, to be searched like chunk_index and never together with it. Deleted with the message by a trigger, as kept_files is.';
comment on column message_index.id is 'The message.';
comment on column message_index.doc_id is 'The chat.';
comment on column message_index.ord is 'The order of the messages in the chat.';
comment on column message_index.role is 'That of the chat: user:<chat>.';
comment on column message_index.part is 'The day on which it was said: the messages of one day in a chat are one conversation.';

create table message_terms (
    role text collate "C" not null,
    word text collate "C" not null,
    ndoc int not null,
    primary key (role, word)
) with (fillfactor = 80);
comment on table message_terms is 'term_stats of the messages.';

create table message_sizes (
    role    text primary key,
    chunks  bigint not null,
    words   bigint not null,
    version bigint not null default 0
);
comment on table message_sizes is 'corpus_stats of the messages.';

create table message_configs (
    role   text not null,
    config text not null,
    chunks bigint not null,
    primary key (role, config)
);
comment on table message_configs is 'corpus_configs of the messages.';

create sequence index_version;
comment on sequence index_version is 'Gives corpus_stats and message_sizes their versions.';

insert into corpus_stats (role, chunks, words, version, counted) values ('*', 0, 0, nextval('index_version'), true);
insert into message_sizes (role, chunks, words, version) values ('*', 0, 0, nextval('index_version'));

-- Similar words help with typing errors, where the extension pg_trgm is there or may be created. Without it they are not corrected.
-- +goose StatementBegin
do $$
begin
    create extension if not exists pg_trgm with schema public;
    create index term_stats_similar on term_stats using gin (word gin_trgm_ops) where role = '*';
    create index message_terms_similar on message_terms using gin (word gin_trgm_ops) where role = '*';
exception when others then
    raise notice 'typing errors in questions will not be corrected: %', sqlerrm;
end $$;
-- +goose StatementEnd
