-- +goose Up

-- As before, and without p_any the caller's own passages are left out: two connections share a search, and one of them looks through those.
-- +goose StatementBegin
create or replace function search_passages(p_planned tsquery[], p_sets int[], p_any tsquery, p_terms tsquery[], p_weights float8[], p_average float8, p_kinds text[], p_most int)
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
        using p_planned, p_any, p_terms, p_weights, p_average, p_kinds, roles, p_most, case when p_any is null then '{}' else array_remove(roles, 'public') end;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
do $do$
begin
    execute replace(replace(replace(pg_get_functiondef('search_passages(tsquery[], int[], tsquery, tsquery[], float8[], float8, text[], int)'::regprocedure),
        'chunk_index', 'message_index'), 'search_passages', 'archive_passages'), 'passages_sql', 'archive_passages_sql');
end $do$;
-- +goose StatementEnd

-- +goose Down
-- There is no way back: see 00005.
