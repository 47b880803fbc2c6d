-- A shadow answer is never sent: no row of the outbox leaves that state, and none enters it later.
create or replace function keep_shadow() returns trigger language plpgsql as $$
begin
    raise exception 'a shadow answer stays one: outbox row % cannot go from % to %', old.id, old.state, new.state using errcode = 'check_violation';
end $$;
create or replace trigger keep_shadow before update of state on outbox for each row
    when (old.state is distinct from new.state and 'shadow' in (old.state, new.state)) execute function keep_shadow();
