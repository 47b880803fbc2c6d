-- +goose Up

-- A word that stands in a chunk two times or more, or four, has a lexeme for that beside its own, without places. So the
-- chunks that can rank high for a common word are found without looking at all that hold it.
-- +goose StatementBegin
create function with_levels(p_tsv tsvector) returns tsvector language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
    select p_tsv || array_to_tsvector(array(
        select lexeme || mark from unnest(p_tsv), (values (2, '²'), (4, '⁴')) level(least, mark) where cardinality(positions) >= least))
$$;
-- +goose StatementEnd

insert into term_stats (role, word, ndoc)
    select r, lexeme || mark, count(*) from chunk_index i left join uncounted u using (doc_id), unnest(tsv), (values (2, '²'), (4, '⁴')) level(least, mark),
        unnest(array['*', (select c.role from corpus_stats c where c.role = i.role and c.counted)]) r
    where cardinality(positions) >= least and u.doc_id is null and r is not null group by 1, 2;
update chunk_index set tsv = with_levels(tsv);

-- +goose Down
-- There is no way back: see 00005.
