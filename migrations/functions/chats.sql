-- Chats: what their bridges said about them before.

-- Keeps the former claim of a chat when its bridge claims something else.
create or replace function keep_claim() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
    insert into chat_claims (chat_id, bridge_bot, protocol, channel_id, receiver, room_id, contact, self_ghost)
        values (old.id, old.bridge_bot, old.protocol, old.channel_id, old.receiver, coalesce(old.room_id, ''), old.contact, old.self_ghost)
        on conflict (chat_id, bridge_bot, protocol, channel_id, receiver, room_id, contact, self_ghost) do update set ended_at = now();
    return null;
end $$;
create or replace trigger keep_claim after update of bridge_bot, protocol, channel_id, receiver, room_id, contact, self_ghost on chats for each row
    when (old.bridge_bot <> '' and (old.bridge_bot, old.protocol, old.channel_id, old.receiver, old.room_id, old.contact, old.self_ghost)
        is distinct from (new.bridge_bot, new.protocol, new.channel_id, new.receiver, new.room_id, new.contact, new.self_ghost))
    execute function keep_claim();
