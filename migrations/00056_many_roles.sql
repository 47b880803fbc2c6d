-- +goose Up

-- The owner may name thousands of chats. His list is hashed where it is asked for row after row; a contact's is short.
alter policy chunks_owner on chunks
    using (current_setting('multis.scope', true) = '*' or role in (select unnest(string_to_array(current_setting('multis.scope', true), ','))));

-- As before, and every role but '*' is the owner's: nothing else stands for more than itself.
-- +goose StatementBegin
create or replace function scope_roles() returns text[] language plpgsql stable set search_path = public, pg_temp as $$
declare
    roles text[] := string_to_array(nullif(current_setting('multis.scope', true), ''), ',');
begin
    if roles is null then
        raise exception 'no scope is set' using errcode = '42501';
    end if;
    if caller_is_owner() and '*' <> all (roles) then
        return roles;
    end if;
    if exists (select from unnest(roles) r where not (r = 'public' or left(r, 5) = 'user:' and r <> 'user:')) then
        raise exception 'the scope is not the caller''s' using errcode = '42501';
    end if;
    return roles;
end $$;
-- +goose StatementEnd

-- As before, but the sizes of the owner's roles are read in one go.
-- +goose StatementBegin
create or replace function search_terms(p_words text[], p_config text)
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

-- +goose Down
-- There is no way back: see 00005.
