-- Numbers that the index and the ranking keep.

-- Sets a new version at each change of a role's index. A cached copy is valid while the role has its version.
create or replace function next_version() returns trigger language plpgsql as $$
begin
    new.version := nextval('public.index_version');
    return new;
end $$;
create or replace trigger next_version before insert or update on corpus_stats for each row execute function next_version();
create or replace trigger next_version before insert or update on message_sizes for each row execute function next_version();

-- Returns the activation of a passage: ln(1 + the sum of age^-d over its accesses). Ages are in days, at least an hour. The 8 newest accesses
-- count with their exact times, older ones as if they were spread evenly since the first.
create or replace function activation(p_count int, p_first timestamptz, p_recent timestamptz[], p_decay float8 default 0.5) returns float8
language sql stable as $$
    select case when p_count = 0 then 0 else ln(1 + recent.s + case when p_count > cardinality(p_recent) and span.first > span.kept
        then (p_count - cardinality(p_recent)) * (power(span.first, 1 - p_decay) - power(span.kept, 1 - p_decay)) / ((1 - p_decay) * (span.first - span.kept))
        else 0 end) end
    from (select coalesce(sum(power(greatest(date_part('epoch', now() - a) / 86400, 1 / 24.0::float8), -p_decay)), 0) as s from unnest(p_recent) a) recent,
        (select greatest(date_part('epoch', now() - p_first) / 86400, 1 / 24.0::float8) as first,
            greatest(date_part('epoch', now() - p_recent[cardinality(p_recent)]) / 86400, 1 / 24.0::float8) as kept) span
$$;
