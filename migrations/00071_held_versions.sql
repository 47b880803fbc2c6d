-- +goose Up

-- The versions of the caller's roles, in order: what is held of them is as it is now while these are the same.
-- +goose StatementBegin
create function held_versions() returns bigint[] language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    return array(select c.version from corpus_stats c where c.role = any (roles) order by 1);
end $$;
-- +goose StatementEnd
-- +goose StatementBegin
create function archive_held_versions() returns bigint[] language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
    roles text[] := scope_roles();
begin
    return array(select c.version from message_sizes c where c.role = any (roles) order by 1);
end $$;
-- +goose StatementEnd
revoke all on function held_versions(), archive_held_versions() from public;
grant execute on function held_versions(), archive_held_versions() to multis_contact;

-- +goose Down
-- There is no way back: see 00005.
