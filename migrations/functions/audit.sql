-- The chain of the audit log.

-- Encodes a value for the hash of an entry: its length, then its bytes.
create or replace function audit_part(p bytea) returns bytea language sql immutable as $$
    select int4send(octet_length(coalesce(p, ''))) || coalesce(p, '')
$$;

-- Returns the bytes of an entry from which its hash is computed. Times are in microseconds.
create or replace function audit_bytes(e audit_entries) returns bytea language sql stable as $$
    select int8send(e.id) || int8send((extract(epoch from e.at) * 1000000)::bigint) || audit_part(convert_to(e.kind, 'UTF8')) || audit_part(convert_to(e.actor, 'UTF8'))
        || audit_part(e.person) || audit_part(convert_to(e.agent, 'UTF8')) || int8send(e.chat_id) || int8send(e.message_id) || int8send(e.task_id)
        || audit_part(convert_to(e.ref, 'UTF8')) || audit_part(convert_to(e.action, 'UTF8')) || audit_part(convert_to(e.outcome, 'UTF8'))
        || audit_part(convert_to(e.rule, 'UTF8')) || audit_part(e.content)
$$;

-- Adds an entry to the hash chain, at the commit of its transaction. audit_head is locked only then, so that no transaction waits for
-- another one before its commit, and the chain is in the order of the commits.
create or replace function audit_link() returns trigger language plpgsql as $$
declare
    last audit_head;
    next bytea;
begin
    select * into strict last from audit_head for update;
    next := sha256(last.hash || int8send(last.seq + 1) || audit_bytes(new));
    insert into audit_chain (seq, entry_id, hash) values (last.seq + 1, new.id, next);
    update audit_head set seq = last.seq + 1, hash = next;
    return null;
end $$;
drop trigger if exists audit_link on audit_entries;
create constraint trigger audit_link after insert on audit_entries deferrable initially deferred for each row execute function audit_link();

-- Returns the actor for new entries, which store.SetActor sets for a transaction. The triggers below write an entry for each change of their
-- tables, whichever part of the program makes it.
create or replace function audit_actor() returns text language sql stable as $$
    select coalesce(nullif(current_setting('multis.actor', true), ''), 'system')
$$;

-- Records each message that is queued, refused, shown as a draft, sent, delivered or dropped, or that failed.
create or replace function audit_outbox() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, chat_id, task_id, ref, action, outcome, rule)
    values ('send', audit_actor(), new.chat_id, coalesce(new.task_id, 0), new.id, new.purpose, new.state, new.code);
    return null;
end $$;
create or replace trigger audit_outbox_insert after insert on outbox for each row execute function audit_outbox();
create or replace trigger audit_outbox_state after update of state on outbox for each row when (old.state <> new.state) execute function audit_outbox();

-- Records each tool call when it begins and when it ends. Model calls are not recorded here but in the table usage.
create or replace function audit_step() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, agent, chat_id, message_id, task_id, action, outcome, rule)
    select 'tool', 'agent', t.agent, t.chat_id, coalesce(t.message_id, 0), t.id, new.name,
        case when new.ended_at is null then 'begun' when new.is_error then 'failed' else 'done' end, new.code
    from tasks t where t.id = new.task_id;
    return null;
end $$;
create or replace trigger audit_step_begin after insert on task_steps for each row when (new.kind = 'tool') execute function audit_step();
create or replace trigger audit_step_end after update of ended_at on task_steps for each row
    when (new.kind = 'tool' and old.ended_at is null and new.ended_at is not null) execute function audit_step();

-- Records each approval when it is requested and when it is decided. For a call that a grant allows, the grant is recorded as the decision.
create or replace function audit_approval() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, agent, chat_id, message_id, task_id, ref, action, outcome, rule)
    select 'approval', audit_actor(), t.agent, t.chat_id, coalesce(new.message_id, 0), t.id, new.id, new.tool,
        case new.allowed when true then 'allowed' when false then 'denied' else 'asked' end, case when new.grant_id is null then new.how else 'grant ' || new.grant_id end
    from tasks t where t.id = new.task_id;
    return null;
end $$;
create or replace trigger audit_approval_insert after insert on approvals for each row execute function audit_approval();
create or replace trigger audit_approval_decide after update of allowed on approvals for each row
    when (old.allowed is distinct from new.allowed) execute function audit_approval();

-- Records each grant when the owner gives or ends it.
create or replace function audit_grant() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, agent, chat_id, ref, action, outcome)
    values ('approval', audit_actor(), new.agent, new.chat_id, 'grant ' || new.id, new.tool, case when new.revoked_at is null then 'granted' else 'revoked' end);
    return null;
end $$;
create or replace trigger audit_grant_insert after insert on approval_grants for each row execute function audit_grant();
create or replace trigger audit_grant_revoke after update of revoked_at on approval_grants for each row
    when (old.revoked_at is null and new.revoked_at is not null) execute function audit_grant();

-- Records each change of a chat's settings. Of labels it records how many there are: their names are words of the owner.
create or replace function audit_chat() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, chat_id, action, outcome)
    select 'mode', audit_actor(), new.id, c.action, c.outcome from (values
        ('mode', old.mode is distinct from new.mode, coalesce(new.mode, 'default')),
        ('delivery', old.delivery is distinct from new.delivery, coalesce(new.delivery, 'default')),
        ('follow_up', old.follow_up_days is distinct from new.follow_up_days, coalesce(new.follow_up_days::text, 'default')),
        ('labels', old.labels <> new.labels, cardinality(new.labels)::text),
        ('unlabelled', old.unlabelled <> new.unlabelled, cardinality(new.unlabelled)::text)) c (action, changed, outcome)
    where c.changed;
    return null;
end $$;
create or replace trigger audit_chat after update of mode, delivery, follow_up_days, labels, unlabelled on chats for each row
    when (old.mode is distinct from new.mode or old.delivery is distinct from new.delivery or old.follow_up_days is distinct from new.follow_up_days or old.labels <> new.labels or old.unlabelled <> new.unlabelled)
    execute function audit_chat();

-- Records that the bridge of a chat claims another channel or room for it, or that another bridge has it.
create or replace function audit_claim() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, chat_id, action, outcome)
    values ('chat', audit_actor(), new.id, 'claim', concat_ws('+',
        case when (old.protocol, old.channel_id, old.receiver) <> (new.protocol, new.channel_id, new.receiver) then 'channel' end,
        case when old.room_id <> new.room_id then 'room' end,
        case when old.bridge_bot <> new.bridge_bot then 'bridge' end));
    return null;
end $$;
create or replace trigger audit_claim after update of protocol, channel_id, receiver, room_id, bridge_bot on chats for each row
    when ((old.protocol, old.channel_id, old.receiver, old.bridge_bot) <> (new.protocol, new.channel_id, new.receiver, new.bridge_bot) or old.room_id <> new.room_id)
    execute function audit_claim();

-- Records each escalation when it is opened, closed and reopened.
create or replace function audit_escalation() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, chat_id, message_id, ref, outcome)
    values ('escalation', audit_actor(), new.chat_id, new.message_id, new.id,
        case when new.closed_at is not null then 'closed' when tg_op = 'UPDATE' then 'reopened' else 'opened' end);
    return null;
end $$;
create or replace trigger audit_escalation_insert after insert on escalations for each row execute function audit_escalation();
create or replace trigger audit_escalation_close after update of closed_at on escalations for each row
    when ((old.closed_at is null) <> (new.closed_at is null)) execute function audit_escalation();

-- Records each change of a setting that a person or a device makes. It leaves out settings that multis itself changes often, such as sync
-- positions.
create or replace function audit_setting() returns trigger language plpgsql as $$
declare
    changed settings := coalesce(new, old);
begin
    insert into audit_entries (kind, actor, action, outcome)
    values (case when changed.key ~ '(_device$|^login:)' then 'login' else 'config' end, audit_actor(), split_part(changed.key, ':', 1),
        case tg_op when 'DELETE' then 'removed' else 'set' end);
    return null;
end $$;
create or replace trigger audit_setting_set after insert or update of value on settings for each row
    when (new.key ~ '^(pause|safe_mode|name|owner_device|bot_device|login:|config[.:])') execute function audit_setting();
create or replace trigger audit_setting_remove after delete on settings for each row
    when (old.key ~ '^(pause|safe_mode|name|owner_device|bot_device|login:|config[.:])') execute function audit_setting();

-- Records each forgetting and erasure.
create or replace function audit_forgetting() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, message_id, ref, action, outcome)
    values ('deletion', audit_actor(), new.command, new.id, new.kind, case when new.done_at is null then 'begun' else 'done' end);
    return null;
end $$;
create or replace trigger audit_forgetting_insert after insert on forgettings for each row execute function audit_forgetting();
create or replace trigger audit_forgetting_done after update of done_at on forgettings for each row
    when (old.done_at is null and new.done_at is not null) execute function audit_forgetting();

-- Records each model hold (no model answers a contact for a time) when it begins, and when the owner lifts it.
create or replace function audit_model_hold() returns trigger language plpgsql as $$
begin
    insert into audit_entries (kind, actor, chat_id, action, outcome)
    values ('injection', audit_actor(), new.chat_id, 'hold', case when old.since = new.since then 'lifted' else 'begun' end);
    return null;
end $$;
create or replace trigger audit_model_hold after insert or update of until on model_holds for each row execute function audit_model_hold();
