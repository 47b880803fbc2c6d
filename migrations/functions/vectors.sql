-- Searching by meaning. This file is applied only where the tables for it are: see ../vectors.sql.

-- Loads the extension, whose settings are named below.
select '[1]'::halfvec;

-- Returns a vector from its text, wherever the extension is.
create or replace function to_vector(p_text text) returns halfvec language plpgsql immutable set search_path = public, pg_temp as $$
begin
    return p_text::halfvec;
end $$;

-- Selects the model that is in use, and returns whether another one was before. Vectors of other models are ignored until they are replaced.
create or replace function use_vector_model(p_model text, p_dimensions int) returns boolean language plpgsql set search_path = public, pg_temp as $$
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

-- Returns the chunks in the caller's scope whose vectors are nearest to p_vector, with the similarity, up to 1. It returns none if p_model is not in
-- use.
create or replace function search_vectors(p_model text, p_vector text, p_kinds text[], p_limit int)
returns table (id bigint, similarity float8) language plpgsql stable security definer rows 50 set search_path = public, pg_temp
set jit = off set max_parallel_workers_per_gather = 0 set hnsw.ef_search = 100 set hnsw.iterative_scan = 'strict_order' as $$
declare
    roles text[] := scope_roles();
    dims int := (select m.dimensions from vector_models m where m.model = p_model);
    branches text[];
    whose text;
begin
    if p_limit not between 1 and 200 then
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
        using p_vector::halfvec, p_kinds, p_limit, array_remove(array_remove(roles, 'public'), 'admin');
end $$;

revoke all on function to_vector(text), use_vector_model(text, int), search_vectors(text, text, text[], int) from public;
grant execute on function search_vectors(text, text, text[], int) to multis_contact;
