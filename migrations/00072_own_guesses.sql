-- +goose Up

-- As before, but ten times as many of everybody's words are gone through for those of the caller, and only words that look enough alike:
-- other chats' words must not take the place of the caller's own.
-- +goose StatementBegin
create or replace function similar_words(p_roles text[], p_scope text[], p_word text) returns table (lexeme text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
begin
    if to_regclass('term_stats_similar') is null then
        return;
    end if;
    return query select c.word, c.ndoc from word_counts(p_roles, p_scope, array(
            select t.word collate "default" from term_stats t where t.role = '*' and t.word % p_word and right(t.word, 1) not in ('²', '⁴', '⁶')
                and abs(length(t.word) - length(p_word)) <= 2 and similarity(t.word, p_word) >= 0.4
            order by similarity(t.word, p_word) desc, t.word limit 200
        )) c where c.ndoc > 0 order by similarity(c.word, p_word) desc, c.word limit 2;
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create or replace function archive_similar_words(p_roles text[], p_word text) returns table (lexeme text, ndoc bigint)
language plpgsql stable set search_path = public, pg_temp as $$
begin
    if to_regclass('message_terms_similar') is null then
        return;
    end if;
    return query select c.word, s.ndoc from (
            select t.word from message_terms t where t.role = '*' and t.word % p_word
                and abs(length(t.word) - length(p_word)) <= 2 and similarity(t.word, p_word) >= 0.4
            order by similarity(t.word, p_word) desc, t.word limit 200
        ) c, lateral (select sum(t.ndoc)::bigint as ndoc from message_terms t where t.role = any (p_roles) and t.word = c.word) s
        where s.ndoc > 0 order by similarity(c.word, p_word) desc, c.word limit 2;
end $$;
-- +goose StatementEnd

-- +goose Down
-- There is no way back: see 00005.
