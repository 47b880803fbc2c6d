-- +goose Up

-- Each chunk is cut to stems in its own language; part says which chunks stand in one section. Chunks of before are
-- English, and their parts are counted here.
alter table chunk_index add config text not null default 'english', add part int not null default 0;
select set_config('multis.scope', '*', true);
update chunk_index i set part = p.part from (
    select id, sum(changed) over (partition by doc_id order by ord) as part
    from (select id, doc_id, ord, (section is distinct from lag(section, 1, section) over (partition by doc_id order by ord))::int as changed from chunks) c
) p where i.id = p.id and p.part <> 0;

-- In which text search configurations the chunks of a role are; the role '*' counts all of them.
create table corpus_configs (
    role   text not null,
    config text not null,
    chunks bigint not null,
    primary key (role, config)
);
insert into corpus_configs select r.role, 'english', count(*) from chunk_index i, lateral (values (i.role), ('*')) r(role) group by 1;

-- The roles that the caller may read. No scope is an error, and so is a contact's scope with more than a contact's roles.
-- +goose StatementBegin
create or replace function scope_roles() returns text[] language plpgsql stable set search_path = public, pg_temp as $$
declare
    roles text[] := string_to_array(nullif(current_setting('multis.scope', true), ''), ',');
    owner boolean := caller_is_owner();
begin
    if roles is null then
        raise exception 'no scope is set' using errcode = '42501';
    end if;
    if exists (select from unnest(roles) r where not (r = 'public' or left(r, 5) = 'user:' and r <> 'user:' or (r = 'admin' and owner))) then
        raise exception 'the scope is not the caller''s' using errcode = '42501';
    end if;
    return roles;
end $$;
-- +goose StatementEnd

-- Similar words help with typing errors, where the extension for them can be had.
-- +goose StatementBegin
do $$
begin
    create extension if not exists pg_trgm with schema public;
    create index term_stats_similar on term_stats using gin (word gin_trgm_ops) where role = '*';
exception when others then
    raise notice 'typing errors in questions will not be forgiven: %', sqlerrm;
end $$;
-- +goose StatementEnd

-- Up to two words of the caller's index that look like p_word.
-- +goose StatementBegin
create function similar_words(p_roles text[], p_word text) returns table (lexeme text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
begin
    if to_regclass('term_stats_similar') is null then
        return;
    end if;
    return query select c.word, s.ndoc from (
            select t.word from term_stats t where t.role = '*' and t.word % p_word and abs(length(t.word) - length(p_word)) <= 2
            order by similarity(t.word, p_word) desc, t.word limit 20
        ) c, lateral (select sum(t.ndoc)::bigint as ndoc from term_stats t where t.role = any (p_roles) and t.word = c.word) s
        where s.ndoc > 0 and similarity(c.word, p_word) >= 0.4 order by similarity(c.word, p_word) desc, c.word limit 2;
end $$;
-- +goose StatementEnd

-- As before, but the list of roles is taken apart once for a query and not for each row.
alter policy chunks_owner on chunks
    using (current_setting('multis.scope', true) = '*' or role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]));
alter policy chunks_contact on chunks
    using (role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]) and (role = 'public' or role ~ '^user:.'));

drop function search_terms(regconfig, text[]), search_corpus();

-- The lexemes of the given words in the languages of what the caller may read, the four most used of them; none for a stop
-- word, of p_config ('' if the language of the words is not known) or of the language itself. Each comes with the number
-- of chunks it stands in. For a long word that stands nowhere there are similar ones, as guesses.
-- In every row: the number of chunks that p_planned of search_passages runs over, and the numbers that word statistics
-- refer to. The owner's statistics are those of all chunks, a contact's those of its own scope, so that they tell nothing
-- of other chats.
-- +goose StatementBegin
create function search_terms(p_words text[], p_config text)
returns table (word text, lexeme text, ndoc bigint, guess boolean, planned_chunks bigint, stat_chunks bigint, stat_words bigint)
language plpgsql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    roles text[] := scope_roles();
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
        ), counted as (
            select a.word, a.o, a.lexeme, coalesce((select sum(s.ndoc) from term_stats s where s.role = any (roles) and s.word = a.lexeme), 0)::bigint as n from asked a
        ), guessed as (
            select c.word, c.o, g.lexeme, g.ndoc from (select distinct c.word, c.o from counted c group by c.word, c.o having max(c.n) = 0 and length(c.word) >= 5) c,
                lateral similar_words(roles, c.word) g
        )
        select u.word, u.lexeme, u.n, u.guess, planned, chunks, words
        from (select *, false as guess from counted union all select *, true from guessed) u order by u.o, u.guess, u.lexeme;
end $$;
-- +goose StatementEnd

drop function search_passages(tsquery, tsquery, tsquery[], float8[], float8, text[]);

-- The query of search_passages for p_count terms.
-- +goose StatementBegin
create function passages_sql(p_count int, p_owner boolean) returns text language plpgsql stable set search_path = public, pg_temp as $$
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
        with candidates as materialized (select c.id, c.doc_id, c.ord, c.tsv, 1.2 * (0.25 + 0.75 * greatest(c.n_tok, 32) / greatest($5, 32)) as k from (' || candidates || ') c),
        seeds as materialized (select c.doc_id, c.ord from candidates c order by (' || score || ')::float8 desc, c.id limit 40),
        around as materialized (select distinct s.doc_id, s.ord + d as ord from seeds s, generate_series(-2, 2) d)
        select i.id, i.doc_id, i.ord, i.kind, i.config, i.part, i.n_tok, i.author, i.is_question, array[' || counts || ']
        from around a, lateral (select * from chunk_index c where c.doc_id = a.doc_id and c.ord = a.ord limit 1) i where ' || allowed || ' and i.kind = any ($6)';
end $$;
-- +goose StatementEnd

-- Planning the query takes longer than running it where little is public, so the one for contacts and questions of up to
-- eight terms is there as a function, whose plan is kept. All others are planned for their own words.
-- +goose StatementBegin
do $do$
begin
    execute 'create function few_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], text[], int, text[])
        returns table (id bigint, doc_id bigint, ord int, kind text, config text, part int, n_tok int, author text, is_question boolean, frequencies smallint[])
        language plpgsql stable rows 200 set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
        #variable_conflict use_column
        begin return query ' || passages_sql(8, false) || '; end $$';
end $do$;
-- +goose StatementEnd

-- The best 40 passages by BM25 (k1 1.2, b .75, passages shorter than 32 words count as 32), in no particular order, with
-- the two before and the two after each: how often each term stands in them, for the ranking proper.
-- p_planned finds candidates in public passages (all passages, for the owner), p_any in the caller's own, which are few;
-- not more than p_most of each.
-- For one term, ts_rank is (sum of 1/i^2 for i up to the frequency) / 1.6449341, which gives the frequency back exactly.
-- +goose StatementBegin
create function search_passages(p_planned tsquery, p_any tsquery, p_terms tsquery[], p_weights float8[], p_average float8, p_kinds text[], p_most int)
returns table (id bigint, doc_id bigint, ord int, kind text, config text, part int, n_tok int, author text, is_question boolean, frequencies smallint[])
language plpgsql stable security definer rows 200 set search_path = public, pg_temp
set jit = off set max_parallel_workers_per_gather = 0 set work_mem = '64MB' as $$
declare
    roles text[] := scope_roles();
begin
    if cardinality(p_terms) is distinct from cardinality(p_weights) or cardinality(p_terms) not between 1 and 32 then
        raise exception 'between 1 and 32 terms with a weight each are needed' using errcode = '22023';
    end if;
    if cardinality(p_terms) <= 8 and not caller_is_owner() and coalesce((select c.chunks from corpus_stats c where c.role = 'public'), 0) < 1500 then
        return query select * from few_passages(p_planned, p_any, p_terms, p_weights, p_average, p_kinds, roles, p_most, array_remove(roles, 'public'));
        return;
    end if;
    return query execute passages_sql(cardinality(p_terms), caller_is_owner())
        using p_planned, p_any, p_terms, p_weights, p_average, p_kinds, roles, p_most, array_remove(roles, 'public');
end $$;
-- +goose StatementEnd

revoke all on function few_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], text[], int, text[]),
    similar_words(text[], text), search_terms(text[], text), passages_sql(int, boolean),
    search_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], int) from public;
grant execute on function search_terms(text[], text),
    search_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], int) to multis_contact;

-- +goose Down
-- There is no way back: an index in several languages cannot be read by what knew one.
