-- +goose Up

-- As before, but at most 8 words of a question are compared with all others, those that come first: a message of 400 words that nobody
-- knows took the server five seconds. A word that looks like no other is compared by its stem: "batery" is the battery.
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
            '(select c.word, min(c.lexeme) as lexeme, min(c.o) as o from counted c group by c.word
                having max(c.n) = 0 and length(c.word) >= 5 order by min(c.o) limit 8) c,');
        code := replace(code, 'lateral similar_words(roles, scope, c.word) g', 'lateral (
                    with same as materialized (select * from similar_words(roles, scope, c.word))
                    select * from same union all select s.* from similar_words(roles, scope, c.lexeme) s where not exists (select from same)) g');
        code := replace(code, 'lateral archive_similar_words(roles, c.word) g', 'lateral (
                    with same as materialized (select * from archive_similar_words(roles, c.word))
                    select * from same union all select s.* from archive_similar_words(roles, c.lexeme) s where not exists (select from same)) g');
        if code not like '%limit 8) c,%' or code not like '%from same)) g%' then
            raise exception '% is not what this migration changes', f;
        end if;
        execute code;
    end loop;
end $do$;
-- +goose StatementEnd

-- +goose Down
-- There is no way back: see 00005.
