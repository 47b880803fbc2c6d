-- +goose Up

-- Words are compared byte by byte: no order of a language is needed, and it is several times faster.
drop index if exists term_stats_similar;
alter table term_stats alter role type text collate "C", alter word type text collate "C";

-- Whether pg_trgm is there was found out before.
-- +goose StatementBegin
do $$
begin
    create index term_stats_similar on term_stats using gin (word gin_trgm_ops) where role = '*';
exception when undefined_object then
    null;
end $$;
-- +goose StatementEnd

-- Writers put a document's index entries on the pending list and clear it in the same transaction, which sorts them first.
alter index chunk_index_tsv set (fastupdate = on);
alter index chunk_index_tsv_public set (fastupdate = on);

-- Documents whose words do not count under '*' yet. They are counted many at a time, because each of them has the same
-- common words.
create table uncounted (
    doc_id bigint primary key references documents on delete cascade
);

-- What was said in the chats, to be searched like documents and never among them: role is that of the chat, doc_id is the
-- chat, ord its order there. Like chunk_index it is without text and without a right for contacts.
create table message_index (
    id          bigint primary key references messages on delete cascade,
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

create table message_terms (
    role text collate "C" not null,
    word text collate "C" not null,
    ndoc int not null,
    primary key (role, word)
) with (fillfactor = 80);
create table message_sizes (like corpus_stats including all);
create table message_configs (like corpus_configs including all);
insert into message_sizes values ('*', 0, 0);

-- +goose StatementBegin
do $$
begin
    create index message_terms_similar on message_terms using gin (word gin_trgm_ops) where role = '*';
exception when undefined_object then
    null;
end $$;
-- +goose StatementEnd

-- Messages that the archive's index does not hold as they are now.
alter table messages add unindexed boolean not null default true;
create index messages_unindexed on messages (id) where unindexed;

-- However a message leaves the index, its words leave the counts: they must not remember what was deleted.
-- +goose StatementBegin
create function count_messages() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
    sign int := case tg_op when 'INSERT' then 1 else -1 end;
begin
    perform from message_sizes where role = '*' for update; -- writers take turns
    if sign > 0 then
        insert into message_terms (role, word, ndoc)
            select r.role, w.word, count(*) from changed c, lateral (values (c.role), ('*')) r(role), unnest(tsvector_to_array(c.tsv)) w(word)
            group by 1, 2 order by r.role collate "C", w.word collate "C"
            on conflict (role, word) do update set ndoc = message_terms.ndoc + excluded.ndoc;
    else
        with gone as (
            select r.role, w.word, count(*) as n from changed c, lateral (values (c.role), ('*')) r(role), unnest(tsvector_to_array(c.tsv)) w(word) group by 1, 2
        ), dead as (
            delete from message_terms t using gone g where t.role = g.role and t.word = g.word and t.ndoc <= g.n
        )
        update message_terms t set ndoc = t.ndoc - g.n from gone g where t.role = g.role and t.word = g.word and t.ndoc > g.n;
    end if;
    insert into message_sizes (role, chunks, words)
        select r.role, sign * count(*), sign * sum(c.n_tok) from changed c, lateral (values (c.role), ('*')) r(role) group by 1
        on conflict (role) do update set chunks = message_sizes.chunks + excluded.chunks, words = message_sizes.words + excluded.words;
    insert into message_configs (role, config, chunks)
        select r.role, c.config, sign * count(*) from changed c, lateral (values (c.role), ('*')) r(role) group by 1, 2
        on conflict (role, config) do update set chunks = message_configs.chunks + excluded.chunks;
    if sign < 0 then
        delete from message_sizes where chunks = 0 and role <> '*';
        delete from message_configs where chunks = 0;
    end if;
    return null;
end $$;
-- +goose StatementEnd

-- What a message said before it was changed or deleted is not found any more, from that moment.
-- +goose StatementBegin
create function unindex_message() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from message_index where id = new.id;
    new.unindexed := new.redacted_at is null;
    return new;
end $$;
-- +goose StatementEnd
create trigger unindex_changed before update of body, redacted_at on messages for each row
    when (new.body is distinct from old.body or new.redacted_at is distinct from old.redacted_at) execute function unindex_message();

create trigger count_new after insert on message_index referencing new table as changed for each statement execute function count_messages();
create trigger count_old after delete on message_index referencing old table as changed for each statement execute function count_messages();

-- As before, without a search path of its own, which it does not need where it is called and which kept it from being inlined.
create or replace function caller_is_owner() returns boolean language sql stable as $$
    select session_user = current_user and current_setting('role') in ('none', current_user)
$$;

-- As before, but a word that is not counted under '*' yet counts in the owner's own scope.
-- +goose StatementBegin
create or replace function search_terms(p_words text[], p_config text)
returns table (word text, lexeme text, ndoc bigint, guess boolean, planned_chunks bigint, stat_chunks bigint, stat_words bigint)
language plpgsql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    scope text[] := scope_roles();
    roles text[] := scope;
    owner boolean := caller_is_owner();
    configs text[];
    planned bigint;
    chunks bigint;
    words bigint;
begin
    select coalesce(sum(c.chunks) filter (where owner or c.role = 'public'), 0), coalesce(sum(c.chunks), 0), coalesce(sum(c.words), 0)
        into planned, chunks, words from unnest(roles) r join corpus_stats c on c.role = r;
    if owner then
        select c.chunks, c.words into chunks, words from corpus_stats c where c.role = '*';
        roles := '{*}';
    end if;
    select array_agg(c.config) into configs
        from (select s.config from corpus_configs s where s.role = any (roles) group by 1 order by sum(s.chunks) desc, 1 limit 4) c;
    return query with asked as (
            select distinct w.w as word, w.o, l.lexeme
            from unnest(p_words) with ordinality w(w, o), unnest(coalesce(configs, '{english}')) c, unnest(to_tsvector(c::regconfig, w.w)) l
            where p_config = '' or to_tsvector(p_config::regconfig, w.w) <> ''
        ), found as (
            select a.word, a.o, a.lexeme, coalesce((select sum(s.ndoc) from term_stats s where s.role = any (roles) and s.word = a.lexeme), 0)::bigint as n from asked a
        ), counted as (
            select f.word, f.o, f.lexeme, case when f.n > 0 or not owner then f.n
                else coalesce((select sum(s.ndoc) from unnest(scope) r join term_stats s on s.role = r and s.word = f.lexeme), 0)::bigint end as n from found f
        ), guessed as (
            select c.word, c.o, g.lexeme, g.ndoc from (select distinct c.word, c.o from counted c group by c.word, c.o having max(c.n) = 0 and length(c.word) >= 5) c,
                lateral similar_words(roles, c.word) g
        )
        select u.word, u.lexeme, u.n, u.guess, planned, chunks, words
        from (select *, false as guess from counted union all select *, true from guessed) u order by u.o, u.guess, u.lexeme;
end $$;
-- +goose StatementEnd

-- As before, with constants that need no conversion for each row, and without keeping candidates that are read once.
-- +goose StatementBegin
create or replace function passages_sql(p_count int, p_owner boolean) returns text language plpgsql stable set search_path = public, pg_temp as $$
declare
    frequency text := 'coalesce(round(1 / (1.6449341 - 1.6449341 * ts_rank(''{1,1,1,1}'', tsv, $3[%1$s])) - 0.5), 0)';
    score text;
    counts text;
    candidates text;
    -- An owner may name thousands of chats: a hash of them is asked, and the planner does not weigh them one by one.
    allowed text := case when p_owner then 'coalesce(role in (select unnest($7)), false)' else 'role = any ($7)' end;
begin
    select string_agg(format('coalesce($4[%1$s], 0) * (1 - k / (k + ' || frequency || '))', i), ' + '), string_agg(format(frequency || '::smallint', i), ', ')
        into score, counts from generate_series(1, p_count) i;
    if p_owner then
        candidates := 'select * from chunk_index where tsv @@ $1 and ' || allowed || ' and kind = any ($6) limit $8';
    else
        -- 'public' as a literal is what the partial index needs; "offset 0", and one role at a time, keep the caller's few rows
        -- out of the big one.
        candidates := '(select * from chunk_index where role = ''public'' and ''public'' = any ($7) and tsv @@ $1 and kind = any ($6) limit $8)
            union all
            (select own.* from unnest($9) r, lateral (select * from chunk_index where role = r offset 0) own where tsv @@ $2 and kind = any ($6) limit $8)';
    end if;
    -- "limit 1" makes the planner look the neighbours up one by one.
    return '
        with candidates as (select c.id, c.doc_id, c.ord, c.tsv, 1.2::float8 * (0.25::float8 + 0.75::float8 * greatest(c.n_tok, 32) / greatest($5, 32)) as k from (' || candidates || ') c),
        seeds as materialized (select c.doc_id, c.ord from candidates c order by (' || score || ')::float8 desc, c.id limit 40),
        around as materialized (select distinct s.doc_id, s.ord + d as ord from seeds s, generate_series(-2, 2) d)
        select i.id, i.doc_id, i.ord, i.kind, i.config, i.part, i.n_tok, i.author, i.is_question, array[' || counts || ']
        from around a, lateral (select * from chunk_index c where c.doc_id = a.doc_id and c.ord = a.ord limit 1) i where ' || allowed || ' and i.kind = any ($6)';
end $$;
-- +goose StatementEnd

-- The archive has the same functions, over its own tables. few_passages is made anew because it holds the query.
-- +goose StatementBegin
do $do$
declare
    f text;
    code text;
begin
    execute 'create or replace function few_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], text[], int, text[])
        returns table (id bigint, doc_id bigint, ord int, kind text, config text, part int, n_tok int, author text, is_question boolean, frequencies smallint[])
        language plpgsql stable rows 200 set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
        #variable_conflict use_column
        begin return query ' || passages_sql(8, false) || '; end $$';
    foreach f in array array['similar_words(text[], text)', 'search_terms(text[], text)', 'passages_sql(int, boolean)',
        'few_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], text[], int, text[])',
        'search_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], int)'] loop
        code := pg_get_functiondef(f::regprocedure);
        code := replace(replace(replace(replace(code, 'chunk_index', 'message_index'), 'term_stats', 'message_terms'), 'corpus_stats', 'message_sizes'), 'corpus_configs', 'message_configs');
        code := replace(replace(code, 'search_terms', 'archive_terms'), 'search_passages', 'archive_passages');
        code := replace(replace(replace(code, 'similar_words', 'archive_similar_words'), 'few_passages', 'archive_few_passages'), 'passages_sql', 'archive_passages_sql');
        execute code;
    end loop;
end $do$;
-- +goose StatementEnd

revoke all on function archive_few_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], text[], int, text[]),
    archive_similar_words(text[], text), archive_terms(text[], text), archive_passages_sql(int, boolean),
    archive_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], int), count_messages(), unindex_message() from public;
grant execute on function archive_terms(text[], text),
    archive_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], int) to multis_contact;

-- +goose Down
-- There is no way back: see 00005.
