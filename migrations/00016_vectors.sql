-- +goose Up

-- Makes what searching by meaning needs, where the extension pgvector (0.8 or later) is there or may be made, and tells
-- whether it is there. It is called at every start, so that pgvector can be installed at any time, or never.
-- +goose StatementBegin
create function make_vectors() returns boolean language plpgsql set search_path = public, pg_temp as $make$
begin
    if to_regclass('chunk_vectors') is not null then
        return true;
    end if;
    begin
        create extension if not exists vector with schema public;
    exception when others then
        return false;
    end;
    if not exists (select from pg_extension where extname = 'vector' and string_to_array(extversion, '.')::int[] >= '{0,8}')
        or to_regtype('halfvec') is null then
        return false;
    end if;
    perform '[1]'::halfvec; -- loads the extension, whose settings are named below

    -- The models that vectors are made with; one is in use. Chunks up to done_to have been looked at.
    create table vector_models (
        model      text primary key,
        dimensions int not null,
        done_to    bigint not null default 0
    );
    -- What a chunk means. Role and kind are those of the chunk, which never change. As chunk_index it has no policy, and
    -- contacts have no right on it.
    create table chunk_vectors (
        chunk_id bigint primary key references chunks on delete cascade,
        role     text not null,
        kind     text not null,
        model    text not null,
        e        halfvec not null
    ) with (toast_tuple_target = 8160);
    alter table chunk_vectors alter e set storage main;
    -- What belongs to one chat is little, and is compared one by one: that is exact. What is public, and what is the owner's,
    -- has an index of its own, made by use_vector_model.
    create index chunk_vectors_chats on chunk_vectors (role) where role not in ('public', 'admin');

    -- Makes a model the one in use, and tells whether it was another. Vectors of another stay until they are replaced, and
    -- are not looked at.
    create function use_vector_model(p_model text, p_dimensions int) returns boolean language plpgsql set search_path = public, pg_temp as $$
    declare
        whose text;
        known int;
    begin
        perform pg_advisory_xact_lock(1299542130);
        select dimensions into known from vector_models where model = p_model;
        if known = p_dimensions and to_regclass('chunk_vectors_admin') is not null then
            return false;
        end if;
        drop index if exists chunk_vectors_public, chunk_vectors_admin;
        if known is distinct from p_dimensions then
            delete from chunk_vectors where model = p_model;
        end if;
        delete from vector_models;
        insert into vector_models values (p_model, p_dimensions);
        foreach whose in array '{public,admin}'::text[] loop
            execute format('create index chunk_vectors_%1$s on chunk_vectors using hnsw ((e::halfvec(%2$s)) halfvec_cosine_ops) where role = %1$L and model = %3$L and vector_dims(e) = %2$s',
                whose, p_dimensions, p_model);
        end loop;
        return true;
    end $$;
    revoke all on function use_vector_model(text, int) from public;

    -- The chunks whose meaning is nearest to p_vector in what the caller may read, and how near, up to 1. A model that is not
    -- in use finds nothing.
    create function search_vectors(p_model text, p_vector text, p_kinds text[], p_most int)
    returns table (id bigint, similarity float8) language plpgsql stable security definer rows 50 set search_path = public, pg_temp
    set jit = off set max_parallel_workers_per_gather = 0 set hnsw.ef_search = 100 set hnsw.iterative_scan = 'strict_order' as $$
    declare
        roles text[] := scope_roles();
        dims int := (select m.dimensions from vector_models m where m.model = p_model);
        branches text[];
        whose text;
    begin
        if p_most not between 1 and 200 then
            raise exception 'between 1 and 200 chunks can be asked for' using errcode = '22023';
        end if;
        if dims is distinct from vector_dims(p_vector::halfvec) then
            return;
        end if;
        foreach whose in array '{public,admin}'::text[] loop
            if whose = any (roles) then
                -- Role and model as literals are what the partial indexes need.
                branches := branches || format('(select chunk_id, e::halfvec(%1$s) <=> $1::halfvec(%1$s) as far from chunk_vectors
                    where role = %2$L and model = %3$L and vector_dims(e) = %1$s and kind = any ($2) order by e::halfvec(%1$s) <=> $1::halfvec(%1$s) limit $3)', dims, whose, p_model);
            end if;
        end loop;
        branches := branches || format('(select own.chunk_id, own.e <=> $1 as far from unnest($4) r,
            lateral (select * from chunk_vectors where role = r and role not in (''public'', ''admin'') offset 0) own where own.model = %L and vector_dims(own.e) = %s and own.kind = any ($2) order by 2 limit $3)', p_model, dims);
        return query execute 'select chunk_id, (1 - far)::float8 from (' || array_to_string(branches, ' union all ') || ') found order by far, chunk_id limit $3'
            using p_vector::halfvec, p_kinds, p_most, array_remove(array_remove(roles, 'public'), 'admin');
    end $$;
    revoke all on function search_vectors(text, text, text[], int) from public;
    grant execute on function search_vectors(text, text, text[], int) to multis_contact;
    return true;
end $make$;
-- +goose StatementEnd
revoke all on function make_vectors() from public;

-- +goose Down
drop function if exists search_vectors(text, text, text[], int);
drop function if exists use_vector_model(text, int);
drop table if exists chunk_vectors, vector_models;
drop function make_vectors();
