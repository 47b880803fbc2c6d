-- Notifies the processes of each job that can run now (river.river_insert) and of each that will be due later (multis.due). River itself notifies
-- only of inserted jobs that can run now, and not of one that follows another of its queue at once. Identical notifications of a transaction are sent
-- once.
create or replace function notify_of_job() returns trigger language plpgsql as $$
begin
    if new.state = 'available' and new.scheduled_at <= now() then
        perform pg_notify('river.river_insert', '{"queue": "' || new.queue || '"}');
    else
        perform pg_notify('multis.due', '');
    end if;
    return null;
end $$;
create or replace trigger notify_of_job after insert or update of state, scheduled_at on river.river_job for each row
    when (new.state in ('available', 'retryable', 'scheduled')) execute function notify_of_job();
