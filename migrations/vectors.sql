-- What searching by meaning needs, where the extension pgvector (0.8 or later) is there or may be created. This is run at every
-- start, so that pgvector can be installed at any time, or never. The functions are in functions/vectors.sql.
do $$
begin
    if to_regclass('public.chunk_vectors') is not null then
        return;
    end if;
    begin
        create extension if not exists vector with schema public;
    exception when others then
        return;
    end;
    if not exists (select from pg_extension where extname = 'vector' and string_to_array(extversion, '.')::int[] >= '{0,8}')
        or to_regtype('halfvec') is null then
        return;
    end if;

    create table vector_models (
        model      text primary key,
        dimensions int not null,
        done_to    bigint not null default 0
    );
    comment on table vector_models is 'The model that vectors are made with: one row.';
    comment on column vector_models.done_to is 'Chunks up to this one have been embedded, or cannot be.';

    create table chunk_vectors (
        chunk_id bigint primary key references chunks on delete cascade,
        role     text not null,
        kind     text not null,
        model    text not null,
        e        halfvec not null
    ) with (toast_tuple_target = 8160);
    alter table chunk_vectors alter e set storage main;
    -- The vectors of one chat are few, and are compared one by one, which is exact. The public ones and the owner's have an index
    -- each, made by use_vector_model.
    create index chunk_vectors_chats on chunk_vectors (role) where role not in ('public', 'admin');
    comment on table chunk_vectors is 'What a chunk means. As chunk_index it has no policy, and the contact role has no right on it.';
    comment on column chunk_vectors.role is 'Role and kind are those of the chunk, which never change.';
end $$;
