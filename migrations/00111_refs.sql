-- +goose Up

-- What a quote or a hit refers to was one number: the id of a chunk, or that of a message below zero. Now it is {"kind": ..., "id": ...}.

-- +goose StatementBegin
create function ref_of(old jsonb) returns jsonb language sql immutable as $$
    select case when old::bigint < 0 then jsonb_build_object('kind', 'message', 'id', -old::bigint)
        else jsonb_build_object('kind', 'chunk', 'id', old::bigint) end
$$;
-- +goose StatementEnd

-- The document of a message was its chat.
-- +goose StatementBegin
create function hit_with_ref(old jsonb) returns jsonb language sql immutable as $$
    select old - 'ChunkID' - 'DocumentID' || case when (old->'ChunkID')::bigint < 0
        then jsonb_build_object('Ref', ref_of(old->'ChunkID'), 'DocumentID', 0, 'ChatID', old->'DocumentID')
        else jsonb_build_object('Ref', ref_of(old->'ChunkID'), 'DocumentID', old->'DocumentID', 'ChatID', 0) end
$$;
-- +goose StatementEnd

update outbox set spans = (select jsonb_agg(s - 'chunk' || jsonb_build_object('ref', ref_of(s->'chunk')) order by n) from jsonb_array_elements(spans) with ordinality e(s, n))
    where jsonb_path_exists(spans, '$[*].chunk');

update task_steps set passages = (select jsonb_agg(hit_with_ref(h) order by n) from jsonb_array_elements(passages) with ordinality e(h, n))
    where jsonb_path_exists(passages, '$[*].ChunkID');

update tasks set request = jsonb_set(request, '{passages}', (select jsonb_agg(hit_with_ref(h) order by n) from jsonb_array_elements(request->'passages') with ordinality e(h, n)))
    where jsonb_path_exists(request, '$.passages[*].ChunkID');

drop function hit_with_ref, ref_of;
