-- Whose words a transaction may read: the scope in the setting multis.scope, a comma-separated list of roles.

-- Whether the caller is the owner of the tables and has not changed to another role. Meant for functions that run with the owner's
-- rights, where current_user is the owner for everybody. It has no search path of its own, so that Postgres can inline it.
create or replace function caller_is_owner() returns boolean language sql stable as $$
    select session_user = current_user and current_setting('role') in ('none', current_user)
$$;

-- The roles that the caller may read. Every role but '*' is the owner's. It is an error to have no scope, or as a contact a scope
-- with other roles than a contact's.
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
