-- Messages: how they are indexed and searched, and what is deleted together with them.
-- The functions in passages.sql exist a second time for messages, under other names.

-- Returns up to two words of the caller's index that are similar to p_word.
create or replace function similar_message_words(p_roles text[], p_word text) returns table (lexeme text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
begin
    if to_regclass('message_terms_similar') is null or to_regprocedure('similarity(text, text)') is null then
        return;
    end if;
    perform set_config('pg_trgm.similarity_threshold', '0.4', true); -- as in similar_words
    return query select c.word, s.ndoc from (
            select t.word from message_terms t where t.role = '*' and t.word % p_word
                and fits_length(t.word, p_word)
            order by similarity(t.word, p_word) desc, t.word limit 200
        ) c, lateral (select sum(t.ndoc)::bigint as ndoc from message_terms t where t.role = any (p_roles) and t.word = c.word) s
        where s.ndoc > 0 order by similarity(c.word, p_word) desc, c.word limit 2;
end $$;

-- search_terms for the message index. Here the words of all roles are counted (see count_messages). For the owner, a word that has no count under
-- '*' is counted in the owner's own scope.
create or replace function search_message_terms(p_words text[], p_config text)
returns table (word text, lexeme text, ndoc bigint, correction boolean, planned_chunks bigint, stat_chunks bigint, stat_words bigint)
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
        into planned, chunks, words from unnest(roles) r join message_sizes c on c.role = r;
    if owner then
        select c.chunks, c.words into chunks, words from message_sizes c where c.role = '*';
        roles := '{*}';
    end if;
    select array_agg(c.config) into configs
        from (select s.config from message_configs s where s.role = any (roles) group by 1 order by sum(s.chunks) desc, 1 limit 4) c;
    return query with asked as (
            select distinct w.w as word, w.o, l.lexeme
            from unnest(p_words) with ordinality w(w, o), unnest(coalesce(configs, '{english}')) c, unnest(to_tsvector(c::regconfig, w.w)) l
            where p_config = '' or to_tsvector(p_config::regconfig, w.w) <> ''
        ), found as (
            select a.word, a.o, a.lexeme, coalesce((select sum(s.ndoc) from message_terms s where s.role = any (roles) and s.word = a.lexeme), 0)::bigint as n from asked a
        ), counted as (
            select f.word, f.o, f.lexeme, case when f.n > 0 or not owner then f.n
                else coalesce((select sum(s.ndoc) from unnest(scope) r join message_terms s on s.role = r and s.word = f.lexeme), 0)::bigint end as n from found f
        ), corrected as (
            select c.word, c.o, g.lexeme, g.ndoc from (select c.word, min(c.lexeme) as lexeme, min(c.o) as o from counted c group by c.word
                    having max(c.n) = 0 and length(c.word) >= 5 order by min(c.o) limit 8) c,
                lateral (
                    with same as materialized (select * from similar_message_words(roles, c.word))
                    select * from same union all select s.* from similar_message_words(roles, c.lexeme) s where c.lexeme <> c.word and not exists (select from same)) g
        )
        select u.word, u.lexeme, u.n, u.correction, planned, chunks, words
        from (select *, false as correction from counted union all select *, true from corrected) u order by u.o, u.correction, u.lexeme;
end $$;

revoke all on function similar_message_words(text[], text), search_message_terms(text[], text) from public;
grant execute on function search_message_terms(text[], text) to multis_contact;

-- Updates the word counts and sizes when rows are added to the index or deleted from it. A trigger does this, so that no way of deleting a message
-- can leave its words in the counts. It returns at once if no row has changed, which is frequent: most deleted messages have left the index before.
create or replace function count_messages() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
    sign int := case tg_op when 'INSERT' then 1 else -1 end;
begin
    if not exists (select from changed) then return null; end if;
    perform from message_sizes where role = '*' for update; -- writers take turns
    if sign > 0 then
        insert into message_terms (role, word, ndoc)
            select r.role, w.word, count(*) from changed c, lateral (values (c.role), ('*')) r(role), unnest(tsvector_to_array(c.tsv)) w(word)
            group by 1, 2 order by r.role collate "C", w.word collate "C"
            on conflict (role, word) do update set ndoc = message_terms.ndoc + excluded.ndoc;
    else
        with gone as (
            select r.role, w.word, count(*) as n from changed c, lateral (values (c.role), ('*')) r(role), unnest(tsvector_to_array(c.tsv)) w(word) group by 1, 2
        ), dead as (
            delete from message_terms t using gone g where t.role = g.role and t.word = g.word and t.ndoc <= g.n
        )
        update message_terms t set ndoc = t.ndoc - g.n from gone g where t.role = g.role and t.word = g.word and t.ndoc > g.n;
    end if;
    insert into message_sizes (role, chunks, words)
        select r.role, sign * count(*), sign * sum(c.n_tok) from changed c, lateral (values (c.role), ('*')) r(role) group by 1
        on conflict (role) do update set chunks = message_sizes.chunks + excluded.chunks, words = message_sizes.words + excluded.words;
    insert into message_configs (role, config, chunks)
        select r.role, c.config, sign * count(*) from changed c, lateral (values (c.role), ('*')) r(role) group by 1, 2
        on conflict (role, config) do update set chunks = message_configs.chunks + excluded.chunks;
    if sign < 0 then
        delete from message_sizes where chunks = 0 and role <> '*';
        delete from message_configs where chunks = 0;
    end if;
    return null;
end $$;
create or replace trigger count_new after insert on message_index referencing new table as changed for each statement execute function count_messages();
create or replace trigger count_old after delete on message_index referencing old table as changed for each statement execute function count_messages();

-- Removes a changed or deleted message from the index at once, so that its old text is not found.
create or replace function unindex_message() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from message_index where id = new.id;
    new.unindexed := new.redacted_at is null;
    return new;
end $$;
create or replace trigger unindex_changed before update of body, redacted_at on messages for each row
    when (new.body is distinct from old.body or new.redacted_at is distinct from old.redacted_at) execute function unindex_message();

revoke all on function count_messages(), unindex_message() from public;

-- Deletes the kept file and the injection scores of a message when it is redacted.
create or replace function drop_kept_file() returns trigger language plpgsql as $$
begin
    delete from kept_files where message_id = new.id;
    delete from injection_scores where message_id = new.id;
    return null;
end $$;
create or replace trigger messages_redacted after update of redacted_at on messages
    for each row when (new.redacted_at is not null) execute function drop_kept_file();

-- Deletes the rows that belong to deleted messages, once per statement. This takes a third of the time of foreign keys, which delete row by row.
create or replace function drop_with_messages() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from message_index where id in (select id from gone);
    delete from kept_files where message_id in (select id from gone);
    delete from injection_scores where message_id in (select id from gone);
    delete from escalations where message_id in (select id from gone);
    delete from commitments where message_id in (select id from gone);
    return null;
end $$;
create or replace trigger messages_gone after delete on messages referencing old table as gone for each statement execute function drop_with_messages();

-- Deletes the summaries that contain a changed or deleted message. The remaining messages are then read word for word again.
create or replace function drop_summaries() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from chat_summaries where sources @> array[old.id];
    return null;
end $$;
create or replace trigger summary_changed after update of body, redacted_at on messages for each row
    when (new.body is distinct from old.body or new.redacted_at is distinct from old.redacted_at) execute function drop_summaries();

create or replace function drop_summaries_of() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from chat_summaries s where exists (select from gone) and s.sources && (select array_agg(id) from gone);
    return null;
end $$;
create or replace trigger summary_gone after delete on messages referencing old table as gone for each statement execute function drop_summaries_of();

-- Deletes the words that were learned from a changed or deleted message.
create or replace function drop_learned_words() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from learned_words where sources <> '{}' and sources @> array[old.id];
    return null;
end $$;
create or replace trigger learned_words_changed after update of body, redacted_at on messages for each row
    when (new.body is distinct from old.body or new.redacted_at is distinct from old.redacted_at) execute function drop_learned_words();

create or replace function drop_learned_words_of() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    delete from learned_words where exists (select from gone) and sources <> '{}' and sources && (select array_agg(id) from gone);
    return null;
end $$;
create or replace trigger learned_words_gone after delete on messages referencing old table as gone for each statement execute function drop_learned_words_of();
