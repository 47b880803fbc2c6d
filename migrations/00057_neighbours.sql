-- +goose Up

-- As before, and the neighbours of a passage are asked for its own role, which was allowed: a hash of thousands of roles is made once.
-- +goose StatementBegin
create or replace function passages_sql(p_count int, p_sets int[], p_owner boolean) returns text language plpgsql stable set search_path = public, pg_temp as $$
declare
    frequency text := 'coalesce(round(1 / (1.6449341 - 1.6449341 * ts_rank(''{1,1,1,1}'', tsv, $3[%1$s])) - 0.5), 0)';
    score text;
    counts text;
    planned text;
    candidates text;
begin
    select string_agg(format('coalesce($4[%1$s], 0) * (1 - k / (k + ' || frequency || '))', i), ' + '), string_agg(format(frequency || '::smallint', i), ', ')
        into score, counts from generate_series(1, p_count) i;
    select string_agg(whole, ' or ') into planned
        from (select string_agg(format('tsv @@ $1[%s]', o), ' and ' order by o) as whole from unnest(p_sets) with ordinality s(number, o) group by number) s;
    if p_owner then
        -- He may name thousands of chats: a hash of them is asked, and the planner does not weigh them one by one.
        candidates := 'select * from chunk_index where (' || planned || ') and coalesce(role in (select unnest($7)), false) and kind = any ($6) limit $8';
    else
        -- 'public' as a literal is what the partial index needs; "offset 0", and one role at a time, keep the caller's few rows
        -- out of the big one.
        candidates := '(select * from chunk_index where role = ''public'' and ''public'' = any ($7) and (' || planned || ') and kind = any ($6) limit $8)
            union all
            (select own.* from unnest($9) r, lateral (select * from chunk_index where role = r offset 0) own where tsv @@ $2 and kind = any ($6) limit $8)';
    end if;
    -- "limit 1" makes the planner look the neighbours up one by one.
    return '
        with candidates as (select c.id, c.doc_id, c.ord, c.role, c.tsv, 1.2::float8 * (0.25::float8 + 0.75::float8 * greatest(c.n_tok, 32) / greatest($5, 32)) as k from (' || candidates || ') c),
        seeds as materialized (select c.doc_id, c.ord, c.role from candidates c order by (' || score || ')::float8 desc, c.id limit 40),
        around as materialized (select distinct s.doc_id, s.ord + d as ord, s.role from seeds s, generate_series(-2, 2) d)
        select i.id, i.doc_id, i.ord, i.kind, i.config, i.part, i.n_tok, i.author, i.is_question, array[' || counts || ']
        from around a, lateral (select * from chunk_index c where c.doc_id = a.doc_id and c.ord = a.ord limit 1) i where i.role = a.role and i.kind = any ($6)';
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
do $do$
begin
    execute replace(replace(pg_get_functiondef('passages_sql(int, int[], boolean)'::regprocedure), 'chunk_index', 'message_index'), 'passages_sql', 'archive_passages_sql');
end $do$;
-- +goose StatementEnd

-- As before, and what says that a word stands in a chunk six times or more is no word to guess either.
-- +goose StatementBegin
create or replace function similar_words(p_roles text[], p_scope text[], p_word text) returns table (lexeme text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
begin
    if to_regclass('term_stats_similar') is null then
        return;
    end if;
    return query select c.word, c.ndoc from word_counts(p_roles, p_scope, array(
            select t.word collate "default" from term_stats t where t.role = '*' and t.word % p_word and right(t.word, 1) not in ('²', '⁴', '⁶') and abs(length(t.word) - length(p_word)) <= 2
            order by similarity(t.word, p_word) desc, t.word limit 20
        )) c where c.ndoc > 0 and similarity(c.word, p_word) >= 0.4 order by similarity(c.word, p_word) desc, c.word limit 2;
end $$;
-- +goose StatementEnd

-- Which lexemes are looked for is decided before Postgres is asked. It would look through what it knows of the commonest thousand for
-- each condition, which takes longer than many a search.
alter table chunk_index alter tsv set statistics 1;
analyze chunk_index (tsv);

-- +goose Down
-- There is no way back: see 00005.
