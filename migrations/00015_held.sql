-- +goose Up

-- A role's passages are held in memory by those who search them often. The version says whether they are still the same.
create sequence index_version;
alter table corpus_stats add version bigint not null default 0;
alter table message_sizes add version bigint not null default 0;
-- +goose StatementBegin
create function next_version() returns trigger language plpgsql as $$
begin
    new.version := nextval('public.index_version');
    return new;
end $$;
-- +goose StatementEnd
create trigger next_version before insert or update on corpus_stats for each row execute function next_version();
create trigger next_version before insert or update on message_sizes for each row execute function next_version();

-- How much there is of each of the caller's roles, and in which languages.
-- +goose StatementBegin
create function held_sizes() returns table (role text, version bigint, chunks bigint, words bigint, configs text[], config_chunks bigint[])
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    return query select c.role, c.version, c.chunks, c.words,
            (select array_agg(f.config order by f.config) from corpus_configs f where f.role = c.role),
            (select array_agg(f.chunks order by f.config) from corpus_configs f where f.role = c.role)
        from corpus_stats c where c.role = any (roles);
end $$;
-- +goose StatementEnd

-- The index entries of those of p_roles that are the caller's.
-- +goose StatementBegin
create function held_passages(p_roles text[])
returns table (role text, version bigint, id bigint, doc_id bigint, ord int, kind text, config text, part int, n_tok int, author text, is_question boolean, tsv tsvector)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    return query select i.role, c.version, i.id, i.doc_id, i.ord, i.kind, i.config, i.part, i.n_tok, i.author, i.is_question, i.tsv
        from unnest(p_roles) r join corpus_stats c on c.role = r join chunk_index i on i.role = r where r = any (roles) order by i.role, i.doc_id, i.ord;
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
do $do$
declare
    f text;
    code text;
begin
    foreach f in array array['held_sizes()', 'held_passages(text[])'] loop
        code := pg_get_functiondef(f::regprocedure);
        code := replace(replace(replace(code, 'chunk_index', 'message_index'), 'corpus_stats', 'message_sizes'), 'corpus_configs', 'message_configs');
        execute replace(replace(code, 'held_sizes', 'archive_held_sizes'), 'held_passages', 'archive_held_passages');
    end loop;
end $do$;
-- +goose StatementEnd

revoke all on function held_sizes(), held_passages(text[]), archive_held_sizes(), archive_held_passages(text[]) from public;
grant execute on function held_sizes(), held_passages(text[]), archive_held_sizes(), archive_held_passages(text[]) to multis_contact;

-- +goose Down
drop function held_sizes, held_passages, archive_held_sizes, archive_held_passages;
drop function next_version cascade;
alter table corpus_stats drop column version;
alter table message_sizes drop column version;
drop sequence index_version;
