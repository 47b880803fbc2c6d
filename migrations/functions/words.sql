-- The words of documents: how a chunk is indexed, and in how many chunks the words of a query occur.

-- Returns the index entry of a passage and its number of words. A word that occurs at least two, four or six times gets further lexemes with the
-- suffixes ², ⁴ and ⁶, without positions. They find the passages that can rank high for a common word without reading all passages with the
-- word. The function has no "set" clause, so that Postgres inlines it, which takes half the time.
create or replace function index_entry(p_config regconfig, p_words text) returns table (tsv tsvector, n_tok int) language sql stable as $$
    select v.tsv operator(pg_catalog.||) pg_catalog.array_to_tsvector(pg_catalog.array_cat(pg_catalog.array_cat(w.two, w.four), w.six)), w.n
    from (select pg_catalog.to_tsvector(p_config, p_words) as tsv offset 0) v, lateral (
        select coalesce(pg_catalog.sum(pg_catalog.cardinality(positions)), 0)::int as n,
            coalesce(pg_catalog.array_agg(lexeme operator(pg_catalog.||) '²') filter (where pg_catalog.cardinality(positions) operator(pg_catalog.>=) 2), '{}') as two,
            pg_catalog.array_agg(lexeme operator(pg_catalog.||) '⁴') filter (where pg_catalog.cardinality(positions) operator(pg_catalog.>=) 4) as four,
            pg_catalog.array_agg(lexeme operator(pg_catalog.||) '⁶') filter (where pg_catalog.cardinality(positions) operator(pg_catalog.>=) 6) as six
        from pg_catalog.unnest(v.tsv)
    ) w
$$;

-- Returns the number of chunks of p_roles in which each word occurs. For roles whose words are not counted, it reads the index. A word without a count
-- is searched in the uncounted chunks of p_scope, so that new documents are found at once. These chunks are few, and are read once for
-- all such words.
create or replace function word_counts(p_roles text[], p_scope text[], p_words text[]) returns table (word text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
declare
    small text[];
begin
    select array_agg(c.role) into small from unnest(p_roles) r join corpus_stats c on c.role = r where not c.counted;
    -- "offset 0" makes Postgres read each chunk only once, for all words.
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

-- Reports whether two similar words are about equally long, as after a typing error, or one begins or ends with the other, as in a compound.
-- isCompound in knowledge/search/correct.go does the same. The collation of the stored words is "C".
create or replace function fits_length(p_a text, p_b text) returns boolean language sql immutable parallel safe as $$
    select abs(length(p_a) - length(p_b)) <= 2
        or length(p_b) >= 5 and starts_with(p_a collate "C", p_b collate "C") or length(p_a) >= 5 and starts_with(p_b collate "C", p_a collate "C")
        or length(p_b) >= 6 and right(p_a, length(p_b)) collate "C" = p_b collate "C" or length(p_a) >= 6 and right(p_b, length(p_a)) collate "C" = p_a collate "C"
$$;

-- Returns, for each of p_words, up to two similar words of the caller's index. It reads the 200 words of all chats that are most similar, and keeps
-- those that occur in the caller's scope, so that words of other chats do not displace them. All words are counted in one call, because each
-- call reads the uncounted chunks. Lexemes with a frequency suffix are left out. The stored words have the collation "C"; the explicit "default"
-- keeps it out of the comparisons in word_counts.
create or replace function similar_words(p_roles text[], p_scope text[], p_words text[]) returns table (word text, lexeme text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
begin
    if to_regclass('term_stats_similar') is null or to_regprocedure('similarity(text, text)') is null then
        return;
    end if;
    -- The trigram index leaves out words below this similarity. Its default of 0.3 would read six times as many words.
    perform set_config('pg_trgm.similarity_threshold', '0.4', true);
    return query with alike as materialized (
            select w.w as asked, t.word, t.shared from unnest(p_words) w(w), lateral (
                select s.word collate "default" as word, similarity(s.word, w.w) as shared from term_stats s
                where s.role = '*' and s.word % w.w and right(s.word, 1) not in ('²', '⁴', '⁶') and fits_length(s.word, w.w)
                order by shared desc, s.word limit 200) t
        ), known as materialized (
            select c.word, c.ndoc from word_counts(p_roles, p_scope, array(select distinct a.word from alike a)) c where c.ndoc > 0
        )
        select w.w, best.word, best.ndoc from unnest(p_words) w(w), lateral (
            select k.word, k.ndoc from alike a join known k using (word) where a.asked = w.w order by a.shared desc, k.word limit 2) best;
end $$;

-- Returns the lexemes of words in the four most used languages of the caller's scope, each with its document frequency (ndoc). Stop words, of p_config
-- ('' if the language of the words is unknown) or of the respective language, have none. A long word that occurs nowhere gets similar words and
-- compounds as corrections; if there are none, those of its stem, as "battery" for "batery". Only the first 8 such words are
-- corrected, and only 3 where more than a million words are counted (per role), because each takes 8 ms there.
-- planned_chunks is the number of chunks that p_planned of search_passages searches. stat_chunks and stat_words are the sizes that the statistics refer
-- to: for the owner those of all chunks, for a contact those of its scope, so that they reveal nothing about other chats.
-- often has the number of chunks in which the lexeme occurs at least two, four and six times; it is null if all matches are read anyway, because the
-- scope is small. Roles without counts do not count in often, because all of their chunks are read.
create or replace function search_terms(p_words text[], p_config text)
returns table (word text, lexeme text, ndoc bigint, correction boolean, planned_chunks bigint, stat_chunks bigint, stat_words bigint, often bigint[])
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
    if owner then
        select coalesce(sum(c.chunks), 0) into planned from corpus_stats c where coalesce(c.role in (select unnest(scope)), false);
        select c.chunks, c.words into chunks, words from corpus_stats c where c.role = '*';
        roles := '{*}';
    else
        select coalesce(sum(c.chunks) filter (where c.role = 'public'), 0), coalesce(sum(c.chunks), 0), coalesce(sum(c.words), 0)
            into planned, chunks, words from unnest(roles) r join corpus_stats c on c.role = r;
    end if;
    select array_agg(c.config) into configs
        from (select s.config from corpus_configs s where s.role = any (roles) group by 1 order by sum(s.chunks) desc, 1 limit 4) c;
    return query with asked as materialized (
            select distinct w.w as word, w.o, l.lexeme
            from unnest(p_words) with ordinality w(w, o), unnest(coalesce(configs, '{english}')) c, unnest(to_tsvector(c::regconfig, w.w)) l
            where p_config = '' or to_tsvector(p_config::regconfig, w.w) <> ''
        ), counted as materialized (
            select a.word, a.o, a.lexeme, c.ndoc as n from word_counts(roles, scope, array(select distinct s.lexeme from asked s)) c join asked a on a.lexeme = c.word
        ), mistyped as materialized (
            select c.word, min(c.lexeme) as lexeme, min(c.o) as o from counted c group by c.word
                having max(c.n) = 0 and length(c.word) >= 5 order by min(c.o)
                limit case when (select p.reltuples from pg_class p where p.oid = 'term_stats'::regclass) > 1000000 then 3 else 8 end
        ), near_words as materialized (
            select s.* from similar_words(roles, scope, array(select m.word from mistyped m)) s
        ), near_stems as materialized (
            select m.word, s.lexeme, s.ndoc from mistyped m join similar_words(roles, scope,
                array(select distinct u.lexeme from mistyped u where u.lexeme <> u.word and u.word not in (select f.word from near_words f))) s on s.word = m.lexeme
            where m.word not in (select f.word from near_words f)
        ), corrected as (
            select m.word, m.o, s.lexeme, s.ndoc from mistyped m join (select * from near_words union all select * from near_stems) s using (word)
        )
        select u.word, u.lexeme, u.n, u.correction, planned, chunks, words, case when planned >= 1500 then array(
            select coalesce((select sum(s.ndoc) from term_stats s where s.role = any (roles) and s.word = u.lexeme || m.mark), 0)::bigint
            from unnest('{²,⁴,⁶}'::text[]) with ordinality m(mark, o) order by m.o) end
        from (select *, false as correction from counted union all select *, true from corrected) u order by u.o, u.correction, u.lexeme;
end $$;

revoke all on function fits_length(text, text), word_counts(text[], text[], text[]), similar_words(text[], text[], text[]), search_terms(text[], text) from public;
grant execute on function search_terms(text[], text) to multis_contact;
