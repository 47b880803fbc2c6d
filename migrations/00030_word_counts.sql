-- +goose Up

-- Writing a document must not mean writing all its words once more for its role. A role with few chunks has no counts: its
-- words are counted in the index itself when they are asked for. A bigger one is counted, with '*', many documents at a time.
alter table corpus_stats add counted boolean not null default false;
update corpus_stats set counted = chunks > 1000 or role = '*';

-- Until now a document that waited in uncounted did so for '*' only.
insert into term_stats (role, word, ndoc)
    select '*', w, count(*) from uncounted join chunk_index i using (doc_id), unnest(tsvector_to_array(i.tsv)) w group by w order by w collate "C"
    on conflict (role, word) do update set ndoc = term_stats.ndoc + excluded.ndoc;
delete from uncounted;
delete from term_stats t using corpus_stats c where c.role = t.role and not c.counted;

-- In how many chunks of p_roles each word stands. Of roles without counts the index is asked. A word that is in no count yet
-- is looked for in the chunks of p_scope that wait to be counted: what was written is searchable at once.
-- +goose StatementBegin
create function word_counts(p_roles text[], p_scope text[], p_words text[]) returns table (word text, ndoc bigint)
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
        ), waiting as (
            select k.w, count(*) as n from known k, uncounted u join chunk_index i using (doc_id) where k.n = 0 and i.role = any (p_scope) and i.tsv @@ k.q group by 1
        )
        select k.w, k.n + coalesce(w.n, 0) from known k left join waiting w using (w);
end $$;
-- +goose StatementEnd

drop function similar_words(text[], text);

-- Up to two words of the caller's index that look like p_word. They are compared byte by byte, but the collation of the words
-- would pass on to all that word_counts compares.
-- +goose StatementBegin
create function similar_words(p_roles text[], p_scope text[], p_word text) returns table (lexeme text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
begin
    if to_regclass('term_stats_similar') is null then
        return;
    end if;
    return query select c.word, c.ndoc from word_counts(p_roles, p_scope, array(
            select t.word collate "default" from term_stats t where t.role = '*' and t.word % p_word and right(t.word, 1) not in ('²', '⁴') and abs(length(t.word) - length(p_word)) <= 2
            order by similarity(t.word, p_word) desc, t.word limit 20
        )) c where c.ndoc > 0 and similarity(c.word, p_word) >= 0.4 order by similarity(c.word, p_word) desc, c.word limit 2;
end $$;
-- +goose StatementEnd

-- As before, with word_counts.
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
        select u.word, u.lexeme, u.n, u.guess, planned, chunks, words
        from (select *, false as guess from counted union all select *, true from guessed) u order by u.o, u.guess, u.lexeme;
end $$;
-- +goose StatementEnd

revoke all on function word_counts(text[], text[], text[]), similar_words(text[], text[], text) from public;

-- +goose Down
-- There is no way back: see 00005.
