-- +goose Up

-- As before, and with a lexeme for a word that stands in a chunk six times or more: four times says little of the commonest.
-- +goose StatementBegin
create or replace function with_levels(p_tsv tsvector) returns tsvector language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select p_tsv || array_to_tsvector(array(
        select lexeme || mark from unnest(p_tsv), (values (2, '²'), (4, '⁴'), (6, '⁶')) level(least, mark) where cardinality(positions) >= least))
$$;
-- +goose StatementEnd
with six as (
    select id, doc_id, role, array_agg(lexeme || '⁶') as words from chunk_index, unnest(tsv) where cardinality(positions) >= 6 group by id
), written as (
    update chunk_index i set tsv = tsv || array_to_tsvector(words) from six e where e.id = i.id
)
insert into term_stats (role, word, ndoc)
    select r, w, count(*) from six e left join uncounted u using (doc_id), unnest(words) w,
        unnest(array['*', (select c.role from corpus_stats c where c.role = e.role and c.counted)]) r
    where u.doc_id is null and r is not null group by 1, 2;
select gin_clean_pending_list('chunk_index_tsv'), gin_clean_pending_list('chunk_index_tsv_public');

-- As before, and in how many chunks each lexeme stands two, four and six times or more; null where so few chunks are searched
-- that all are looked at. Roles without counts are left out of that: all their chunks are looked at, too.
drop function search_terms(text[], text);
-- +goose StatementBegin
create function search_terms(p_words text[], p_config text)
returns table (word text, lexeme text, ndoc bigint, guess boolean, planned_chunks bigint, stat_chunks bigint, stat_words bigint, often bigint[])
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
    return query with asked as materialized (
            select distinct w.w as word, w.o, l.lexeme
            from unnest(p_words) with ordinality w(w, o), unnest(coalesce(configs, '{english}')) c, unnest(to_tsvector(c::regconfig, w.w)) l
            where p_config = '' or to_tsvector(p_config::regconfig, w.w) <> ''
        ), counted as materialized (
            select a.word, a.o, a.lexeme, c.ndoc as n from word_counts(roles, scope, array(select distinct s.lexeme from asked s)) c join asked a on a.lexeme = c.word
        ), guessed as (
            select c.word, c.o, g.lexeme, g.ndoc from (select distinct c.word, c.o from counted c group by c.word, c.o having max(c.n) = 0 and length(c.word) >= 5) c,
                lateral similar_words(roles, scope, c.word) g
        )
        select u.word, u.lexeme, u.n, u.guess, planned, chunks, words, case when planned >= 1500 then array(
            select coalesce((select sum(s.ndoc) from term_stats s where s.role = any (roles) and s.word = u.lexeme || m.mark), 0)::bigint
            from unnest('{²,⁴,⁶}'::text[]) with ordinality m(mark, o) order by m.o) end
        from (select *, false as guess from counted union all select *, true from guessed) u order by u.o, u.guess, u.lexeme;
end $$;
-- +goose StatementEnd

-- The query of search_passages for p_count terms. p_sets says to which set each lexeme of $1 belongs: Postgres looks for the
-- sets one by one, each from its rarest lexeme, which takes half as long as one condition that holds them all.
drop function search_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], int), passages_sql(int, boolean),
    few_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], text[], int, text[]);
drop function archive_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], int), archive_passages_sql(int, boolean),
    archive_few_passages(tsquery, tsquery, tsquery[], float8[], float8, text[], text[], int, text[]);
-- +goose StatementBegin
create function passages_sql(p_count int, p_sets int[], p_owner boolean) returns text language plpgsql stable set search_path = public, pg_temp as $$
declare
    frequency text := 'coalesce(round(1 / (1.6449341 - 1.6449341 * ts_rank(''{1,1,1,1}'', tsv, $3[%1$s])) - 0.5), 0)';
    score text;
    counts text;
    planned text;
    candidates text;
    -- An owner may name thousands of chats: a hash of them is asked, and the planner does not weigh them one by one.
    allowed text := case when p_owner then 'coalesce(role in (select unnest($7)), false)' else 'role = any ($7)' end;
begin
    select string_agg(format('coalesce($4[%1$s], 0) * (1 - k / (k + ' || frequency || '))', i), ' + '), string_agg(format(frequency || '::smallint', i), ', ')
        into score, counts from generate_series(1, p_count) i;
    select string_agg(whole, ' or ') into planned
        from (select string_agg(format('tsv @@ $1[%s]', o), ' and ' order by o) as whole from unnest(p_sets) with ordinality s(number, o) group by number) s;
    if p_owner then
        candidates := 'select * from chunk_index where (' || planned || ') and ' || allowed || ' and kind = any ($6) limit $8';
    else
        -- 'public' as a literal is what the partial index needs; "offset 0", and one role at a time, keep the caller's few rows
        -- out of the big one.
        candidates := '(select * from chunk_index where role = ''public'' and ''public'' = any ($7) and (' || planned || ') and kind = any ($6) limit $8)
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

-- The best 40 passages by BM25 (k1 1.2, b .75, passages shorter than 32 words count as 32), in no particular order, with
-- the two before and the two after each: how often each term stands in them, for the ranking proper.
-- p_planned finds candidates in public passages (all passages, for the owner): those that hold all lexemes of one of its sets,
-- which p_sets numbers. p_any finds them in the caller's own, which are few; not more than p_most of each.
-- For one term, ts_rank is (sum of 1/i^2 for i up to the frequency) / 1.6449341, which gives the frequency back exactly.
-- +goose StatementBegin
create function search_passages(p_planned tsquery[], p_sets int[], p_any tsquery, p_terms tsquery[], p_weights float8[], p_average float8, p_kinds text[], p_most int)
returns table (id bigint, doc_id bigint, ord int, kind text, config text, part int, n_tok int, author text, is_question boolean, frequencies smallint[])
language plpgsql stable security definer rows 200 set search_path = public, pg_temp
set jit = off set max_parallel_workers_per_gather = 0 set work_mem = '64MB' as $$
declare
    roles text[] := scope_roles();
begin
    if cardinality(p_terms) is distinct from cardinality(p_weights) or cardinality(p_terms) not between 1 and 32 then
        raise exception 'between 1 and 32 terms with a weight each are needed' using errcode = '22023';
    end if;
    if cardinality(p_planned) is distinct from cardinality(p_sets) or cardinality(p_sets) not between 1 and 200 then
        raise exception 'between 1 and 200 lexemes with a set each are needed' using errcode = '22023';
    end if;
    return query execute passages_sql(cardinality(p_terms), p_sets, caller_is_owner())
        using p_planned, p_any, p_terms, p_weights, p_average, p_kinds, roles, p_most, array_remove(roles, 'public');
end $$;
-- +goose StatementEnd

-- The archive has the same functions, over its own tables.
-- +goose StatementBegin
do $do$
declare
    f text;
    code text;
begin
    foreach f in array array['passages_sql(int, int[], boolean)', 'search_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int)'] loop
        code := replace(pg_get_functiondef(f::regprocedure), 'chunk_index', 'message_index');
        execute replace(replace(code, 'search_passages', 'archive_passages'), 'passages_sql', 'archive_passages_sql');
    end loop;
end $do$;
-- +goose StatementEnd

revoke all on function search_terms(text[], text), passages_sql(int, int[], boolean), archive_passages_sql(int, int[], boolean),
    search_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int),
    archive_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int) from public;
grant execute on function search_terms(text[], text),
    search_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int),
    archive_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int) to multis_contact;

-- +goose Down
-- There is no way back: see 00005.
