-- Refuses to change the state of an outbox row from or to 'shadow', so that a shadow answer is never sent.
create or replace function keep_shadow() returns trigger language plpgsql as $$
begin
    raise exception 'a shadow answer stays one: outbox row % cannot go from % to %', old.id, old.state, new.state using errcode = 'check_violation';
end $$;
create or replace trigger keep_shadow before update of state on outbox for each row
    when (old.state is distinct from new.state and 'shadow' in (old.state, new.state)) execute function keep_shadow();

-- Withdraws drafts of answers: those of a chat, or one by its first row. No other function does. A draft is outdated when a newer message, an edit, a
-- deletion or a person's own answer comes after it was made; the triggers below withdraw it in the same transaction, and also when the mode or the
-- delivery changes. An approved draft of which nothing is sent yet is withdrawn as well. With p_again, the messages that it answers wait for a turn again;
-- a draft that only says that a person will answer stays then. A draft whose send failed keeps its state, and is not sent again. The states are a list
-- so that Postgres sees that the index outbox_answers has all of these rows: this runs with every message.
create or replace function withdraw_drafts(p_chat bigint, p_first uuid, p_code text, p_reason text, p_again boolean) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
    gone uuid[];
begin
    with open as (
        select o.id, coalesce(o.part_of, o.id) as first from outbox o
        where o.chat_id = p_chat and o.seen_id > 0 and o.state in ('draft', 'queued') and (o.state = 'draft' or o.purpose = 'draft')
            and (p_first is null or coalesce(o.part_of, o.id) = p_first) and (o.purpose <> 'escalation' or not p_again)
            and not exists (select from outbox p where p.part_of = o.part_of and p.state not in ('draft', 'queued'))
        order by o.seq for update
    ), dropped as (
        update outbox o set state = 'dropped', code = case o.state when 'queued' then 'draft_late' else p_code end, reason = p_reason
            from open where o.id = open.id returning o.id, open.first
    ), files as (
        delete from outbox_files where outbox_id in (select id from dropped)
    )
    select array_agg(distinct first) into gone from dropped;
    update outbox set code = p_code, reason = p_reason where chat_id = p_chat and seen_id > 0 and state = 'failed' and purpose = 'draft' and code <> p_code;
    if p_again and gone is not null then
        update messages set answered_at = null, outbox_id = null
            where chat_id = p_chat and outbox_id = any (gone) and redacted_at is null and action in ('answer', 'escalate');
    end if;
end $$;

create or replace function withdraw_by_message() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    if new.author in ('owner_client', 'owner_phone', 'operator') and new.redacted_at is null then
        perform withdraw_drafts(new.chat_id, null, 'draft_answered', 'A person answered in the chat.', false);
    else
        perform withdraw_drafts(new.chat_id, null, 'draft_outdated', 'Something was written, changed or deleted in the chat after it was drafted.', true);
    end if;
    return null;
end $$;
create or replace trigger withdraw_new after insert on messages for each row
    when (new.author not in ('multis_owner', 'multis_bot', 'bridge_bot') and new.kind <> 'reaction' and new.code <> 'backfill') execute function withdraw_by_message();
create or replace trigger withdraw_changed after update of body, redacted_at on messages for each row
    when (new.author not in ('multis_owner', 'multis_bot', 'bridge_bot') and new.kind <> 'reaction'
        and (new.body is distinct from old.body or new.redacted_at is distinct from old.redacted_at)) execute function withdraw_by_message();

create or replace function withdraw_by_mode() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    perform withdraw_drafts(new.id, null, 'draft_mode', 'The mode or the delivery of the chat was changed.', false);
    return null;
end $$;
-- Other labels may bring other settings, so the answer is drafted again.
create or replace function withdraw_by_labels() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    perform withdraw_drafts(new.id, null, 'draft_mode', 'The labels of the chat were changed.', true);
    return null;
end $$;
create or replace trigger withdraw_labels after update of labels, unlabelled on chats for each row
    when (new.labels <> old.labels or new.unlabelled <> old.unlabelled) execute function withdraw_by_labels();
create or replace trigger withdraw_mode after update of mode, delivery on chats for each row
    when (new.mode is distinct from old.mode or new.delivery is distinct from old.delivery) execute function withdraw_by_mode();

-- Withdraws the drafts of a chat when a person sends a text through multis, such as a reply in the thread of an escalation, because that is an answer
-- like one that is written in the chat. Only such a text has the purpose 'operator', or has the purpose 'draft' but is queued at once and has no
-- seen_id. An edit of it (replaces) is no new answer.
create or replace function withdraw_by_operator() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    perform withdraw_drafts(new.chat_id, null, 'draft_answered', 'A person answered in the chat.', false);
    return null;
end $$;
create or replace trigger withdraw_operator after insert on outbox for each row
    when (new.state = 'queued' and (new.purpose = 'operator' or (new.purpose = 'draft' and new.seen_id = 0 and new.replaces = ''))) execute function withdraw_by_operator();

revoke all on function withdraw_drafts(bigint, uuid, text, text, boolean), withdraw_by_message(), withdraw_by_mode(), withdraw_by_labels(), withdraw_by_operator() from public;
