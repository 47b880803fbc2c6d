-- Tells the processes of each job that can be done, and of each that will be due later (multis.due). River tells only of inserted jobs that can be
-- done, and leaves out those that follow another of their queue at once. Identical notifications of a transaction are sent once.
create or replace function tell_of_job() returns trigger language plpgsql as $$
begin
    if new.state = 'available' and new.scheduled_at <= now() then
        perform pg_notify('river.river_insert', '{"queue": "' || new.queue || '"}');
    else
        perform pg_notify('multis.due', '');
    end if;
    return null;
end $$;
create or replace trigger tell_of_job after insert or update of state, scheduled_at on river.river_job for each row
    when (new.state in ('available', 'retryable', 'scheduled')) execute function tell_of_job();
