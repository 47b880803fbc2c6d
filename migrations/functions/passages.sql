-- Functions that read an index. This file is applied twice: as it is for documents, and with these names for messages:
--
--   chunk_index     message_index         search_passages   search_message_passages
--   corpus_stats    message_sizes         passages_sql      message_passages_sql
--   corpus_configs  message_configs       role_...          message_role_...
--
-- The list is messageNames in ../functions.go.

-- Returns the SQL of search_passages for p_count terms. The sets of $1 are evaluated one by one, each from its rarest lexeme, until $11 matches are found: the
-- best sets come first. A set has up to three conditions, because Postgres skips the later ones where an earlier one does not match. A set of fewer
-- lexemes repeats the first, which is looked up once. "offset 0" keeps the planner from evaluating them in another order.
create or replace function passages_sql(p_count int, p_owner boolean) returns text language plpgsql stable set search_path = public, pg_temp as $$
declare
    frequency text := 'coalesce(round(1 / (1.6449341 - 1.6449341 * ts_rank(''{1,1,1,1}'', tsv, $3[%1$s])) - 0.5), 0)';
    score text;
    counts text;
    sets text := '(select l[1] as first, coalesce(l[2], l[1]) as second, coalesce((select string_agg(''('' || o::text || '')'', ''&'')::tsquery from unnest(l[3:]) o), l[1]) as rest
        from (select number, array_agg(lexeme order by o) as l from unnest($1, $10) with ordinality u(lexeme, number, o) group by number) u order by number) s';
    candidates text;
begin
    select string_agg(format('coalesce($4[%1$s], 0) * (1 - k / (k + ' || frequency || '))', i), ' + '), string_agg(format(frequency || '::smallint', i), ', ')
        into score, counts from generate_series(1, p_count) i;
    if p_owner then
        -- The owner's scope may have thousands of roles. The subquery makes Postgres hash them, and keeps the planner from estimating each of them.
        candidates := 'select c.* from ' || sets || ', lateral (select * from chunk_index
            where tsv @@ s.first and tsv @@ s.second and tsv @@ s.rest and coalesce(role in (select unnest($7)), false) and kind = any ($6) offset 0) c limit $11';
    else
        -- The partial index on public passages requires the literal 'public'. "offset 0", and one role at a time, make Postgres read a contact's few
        -- rows directly instead of through the large text index.
        candidates := '(select c.* from ' || sets || ', lateral (select * from chunk_index
                where role = ''public'' and ''public'' = any ($7) and tsv @@ s.first and tsv @@ s.second and tsv @@ s.rest and kind = any ($6) offset 0) c limit $11)
            union all
            (select own.* from unnest($9) r, lateral (select * from chunk_index where role = r offset 0) own where tsv @@ $2 and kind = any ($6) limit $8)';
    end if;
    -- A passage that matches several sets is found several times. The neighbours of a passage must have its role, which the scope allows. "limit 1" makes the
    -- planner look them up one by one.
    return '
        with candidates as (select c.id, c.doc_id, c.ord, c.role, c.tsv, 1.2::float8 * (0.25::float8 + 0.75::float8 * greatest(c.n_tok, 32) / greatest($5, 32)) as k from (' || candidates || ') c),
        seeds as materialized (select distinct (' || score || ')::float8 as score, c.id, c.doc_id, c.ord, c.role from candidates c order by 1 desc, c.id limit 40),
        around as materialized (select distinct s.doc_id, s.ord + d as ord, s.role from seeds s, generate_series(-2, 2) d)
        select i.id, i.doc_id, i.ord, i.kind, i.config, i.part, i.n_tok, i.author, i.is_question, array[' || counts || ']
        from around a, lateral (select * from chunk_index c where c.doc_id = a.doc_id and c.ord = a.ord limit 1) i where i.role = a.role and i.kind = any ($6)';
end $$;

-- The constants of BM25 here and in passages_sql are also in knowledge/search/rank.go (k1, b, minPassageWords): change both.
-- Returns the best 40 passages by BM25 (k1 1.2, b .75, passages shorter than 32 words count as 32), in no particular order, with the two passages before
-- and after each. The caller ranks them by the frequencies of the terms.
-- p_planned finds candidates among public passages (for the owner: all passages): those that have all lexemes of one set. p_sets has the set number
-- of each lexeme. No further set is evaluated once p_enough passages are found. p_any finds candidates among a contact's own passages, which are few, at most
-- p_limit. If p_any is null, the contact's own passages are left out, because a second connection reads them.
-- For one term, ts_rank is (sum of 1/i^2 for i up to the frequency) / 1.6449341, which gives the frequency back exactly.
create or replace function search_passages(p_planned tsquery[], p_sets int[], p_any tsquery, p_terms tsquery[], p_weights float8[], p_average float8, p_kinds text[], p_limit int, p_enough int)
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
    return query execute passages_sql(cardinality(p_terms), caller_is_owner())
        using p_planned, p_any, p_terms, p_weights, p_average, p_kinds, roles, p_limit, case when p_any is null then '{}' else array_remove(roles, 'public') end, p_sets, p_enough;
end $$;

-- Returns the size of each of the caller's roles, in all and by language. The program decides by it whether to cache the index entries in memory.
create or replace function role_sizes() returns table (role text, version bigint, chunks bigint, words bigint, configs text[], config_chunks bigint[])
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    return query select c.role, c.version, c.chunks, c.words,
            (select array_agg(f.config order by f.config) from corpus_configs f where f.role = c.role),
            (select array_agg(f.chunks order by f.config) from corpus_configs f where f.role = c.role)
        from corpus_stats c where c.role = any (roles);
end $$;

-- Returns the index entries of those of p_roles that the caller may read, for the cache in memory.
create or replace function role_passages(p_roles text[])
returns table (role text, version bigint, id bigint, doc_id bigint, ord int, kind text, config text, part int, n_tok int, author text, is_question boolean, tsv tsvector)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    return query select i.role, c.version, i.id, i.doc_id, i.ord, i.kind, i.config, i.part, i.n_tok, i.author, i.is_question, i.tsv
        from unnest(p_roles) r join corpus_stats c on c.role = r join chunk_index i on i.role = r where r = any (roles) order by i.role, i.doc_id, i.ord;
end $$;

-- Returns the sorted versions of the caller's roles. The cache in memory is valid while they are the same.
create or replace function role_versions() returns bigint[] language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    return array(select c.version from corpus_stats c where c.role = any (roles) order by 1);
end $$;

revoke all on function passages_sql(int, boolean), role_sizes(), role_passages(text[]), role_versions(),
    search_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int, int) from public;
grant execute on function role_sizes(), role_passages(text[]), role_versions(),
    search_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int, int) to multis_contact;
