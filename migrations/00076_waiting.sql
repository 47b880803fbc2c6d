-- +goose Up

-- As before, but the chunks that wait to be counted, which are few, are read once for all the words that are in no count yet. To look for
-- each such word among all chunks of p_scope took a hundred milliseconds where there are a million.
-- +goose StatementBegin
create or replace function word_counts(p_roles text[], p_scope text[], p_words text[]) returns table (word text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
declare
    small text[];
begin
    select array_agg(c.role) into small from unnest(p_roles) r join corpus_stats c on c.role = r where not c.counted;
    -- "offset 0" has each chunk read once, for all the words.
    return query with asked as materialized (
            select w, ('''' || replace(replace(w, '\', '\\'), '''', '''''') || '''')::tsquery as q from unnest(p_words) w
        ), counted as materialized (
            select a.w, a.q, coalesce((select sum(s.ndoc) from term_stats s where s.role = any (p_roles) and s.word = a.w), 0)::bigint as n from asked a
        ), alive as (
            select m.w, count(*) as n from unnest(small) r, lateral (select tsv from chunk_index where role = r offset 0) i,
                lateral (select a.w from asked a where i.tsv @@ a.q offset 0) m group by 1
        ), known as materialized (
            select c.w, c.q, c.n + coalesce(a.n, 0) as n from counted c left join alive a using (w)
        ), missing as materialized (
            select string_agg(k.q::text, ' | ')::tsquery as q from known k where k.n = 0 having count(*) > 0
        ), waiting as materialized (
            select i.tsv from missing m, uncounted u, lateral (select role, tsv from chunk_index where doc_id = u.doc_id offset 0) i
            where i.tsv @@ m.q and coalesce(i.role in (select unnest(p_scope)), false)
        )
        select k.w, case when k.n > 0 then k.n else (select count(*) from waiting i where i.tsv @@ k.q) end from known k;
end $$;
-- +goose StatementEnd

-- +goose Down
-- There is no way back: see 00005.
