-- +goose Up

-- What the index holds of a passage, and how many words that is. A word that stands there two times or more, or four, or six,
-- has a lexeme for that beside its own, without places. One look at the words gives it all, and for want of "set" Postgres
-- makes it part of the statement that asks, which takes half as long as with_levels and a count of its own.
-- +goose StatementBegin
create function index_entry(p_config regconfig, p_words text) returns table (tsv tsvector, n_tok int) language sql stable as $$
    select v.tsv operator(pg_catalog.||) pg_catalog.array_to_tsvector(pg_catalog.array_cat(pg_catalog.array_cat(w.two, w.four), w.six)), w.n
    from (select pg_catalog.to_tsvector(p_config, p_words) as tsv offset 0) v, lateral (
        select coalesce(pg_catalog.sum(pg_catalog.cardinality(positions)), 0)::int as n,
            coalesce(pg_catalog.array_agg(lexeme operator(pg_catalog.||) '²') filter (where pg_catalog.cardinality(positions) operator(pg_catalog.>=) 2), '{}') as two,
            pg_catalog.array_agg(lexeme operator(pg_catalog.||) '⁴') filter (where pg_catalog.cardinality(positions) operator(pg_catalog.>=) 4) as four,
            pg_catalog.array_agg(lexeme operator(pg_catalog.||) '⁶') filter (where pg_catalog.cardinality(positions) operator(pg_catalog.>=) 6) as six
        from pg_catalog.unnest(v.tsv)
    ) w
$$;
-- +goose StatementEnd
drop function with_levels(tsvector);

-- A list of a megabyte, some 600 passages, costs a question 2 to 4 ms and is sorted in for half as much a passage as the list
-- of a single document. It only grows so far while several documents are written at the same time.
alter index chunk_index_tsv set (gin_pending_list_limit = 1024);
alter index chunk_index_tsv_public set (gin_pending_list_limit = 1024);

-- +goose Down
-- There is no way back: see 00005.
