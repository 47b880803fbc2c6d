-- +goose Up

-- As before, but at most 8 stems of a question are compared with all words, those of the words that come first, and none if the question
-- is in a language that is not searched. A message of 400 words that nobody knows took the server five seconds. Stems are compared with
-- stems: "batery" is the battery.
-- +goose StatementBegin
do $do$
declare
    f text;
    before text;
    code text;
begin
    foreach f in array array['search_terms(text[], text)', 'archive_terms(text[], text)'] loop
        before := pg_get_functiondef(f::regprocedure);
        code := replace(before,
            '(select distinct c.word, c.o from counted c group by c.word, c.o having max(c.n) = 0 and length(c.word) >= 5) c,',
            '(select c.word, c.lexeme, min(c.o) as o from counted c where length(c.word) >= 5 and (p_config = '''' or p_config = any (configs))
                    and not exists (select from counted k where k.word = c.word and k.n > 0)
                group by c.word, c.lexeme order by min(c.o), c.lexeme limit 8) c,');
        code := replace(replace(code, 'similar_words(roles, scope, c.word) g', 'similar_words(roles, scope, c.lexeme) g'), 'similar_words(roles, c.word) g', 'similar_words(roles, c.lexeme) g');
        if code = before or code not like '%c.lexeme) g%' or code not like '%limit 8) c,%' then
            raise exception '% is not what this migration changes', f;
        end if;
        execute code;
    end loop;
end $do$;
-- +goose StatementEnd

-- +goose Down
-- There is no way back: see 00005.
