-- Whose words a transaction may read: the scope in the setting multis.scope, a comma-separated list of roles.

-- Reports whether the caller is the owner of the tables and has not changed to another role. It is for functions with "security definer", where
-- current_user is the owner for every caller. It sets no search path, so that Postgres can inline it.
create or replace function caller_is_owner() returns boolean language sql stable as $$
    select session_user = current_user and current_setting('role') in ('none', current_user)
$$;

-- Returns the roles that the caller may read, from multis.scope. It raises an error if there is no scope, or if a contact's scope has other roles than
-- public and those of chats.
create or replace function scope_roles() returns text[] language plpgsql stable set search_path = public, pg_temp as $$
declare
    roles text[] := string_to_array(nullif(current_setting('multis.scope', true), ''), ',');
begin
    if roles is null then
        raise exception 'no scope is set' using errcode = '42501';
    end if;
    if caller_is_owner() and '*' <> all (roles) then
        return roles;
    end if;
    if exists (select from unnest(roles) r where not (r = 'public' or left(r, 5) = 'user:' and r <> 'user:')) then
        raise exception 'the scope is not the caller''s' using errcode = '42501';
    end if;
    return roles;
end $$;
