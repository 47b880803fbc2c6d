-- +goose Up

-- The second wall between chats: what a transaction may read, whatever its query says. The scope is a comma-separated list of
-- roles in the setting multis.scope, set for one transaction. Unset or empty, it names no row. '*' is for backups by the owner of
-- the tables. The contact role sees neither '*' nor 'admin', whatever the setting says. Where the owner is also a member of the
-- contact role, both policies apply, and the second adds nothing to the first. The functions that search take the scope from the
-- same setting: see scope_roles.

alter table messages enable row level security;
create policy messages_contact on messages for select to multis_contact
    using ('user:' || chat_id = any (string_to_array(current_setting('multis.scope', true), ',')));
grant select on messages to multis_contact;

alter table chat_summaries enable row level security;
create policy chat_summaries_contact on chat_summaries for select to multis_contact
    using ('user:' || chat_id = any (string_to_array(current_setting('multis.scope', true), ',')));
grant select on chat_summaries to multis_contact;

-- "force" binds the owner of the tables as well. In a subquery the list is taken apart once for a query and not for each row.
-- The owner may name thousands of chats, and his list is hashed ("in"); a contact's is short.
alter table chunks enable row level security;
alter table chunks force row level security;
create policy chunks_owner on chunks to current_user
    using (current_setting('multis.scope', true) = '*' or role in (select unnest(string_to_array(current_setting('multis.scope', true), ','))))
    with check (current_setting('multis.scope', true) = '*' or role = any (string_to_array(current_setting('multis.scope', true), ',')));
create policy chunks_contact on chunks for select to multis_contact
    using (role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]) and (role = 'public' or role ~ '^user:.'));
grant select on chunks to multis_contact;

alter table notes enable row level security;
alter table notes force row level security;
create policy notes_owner on notes to current_user
    using (current_setting('multis.scope', true) = '*' or role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]))
    with check (current_setting('multis.scope', true) = '*' or role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]));
create policy notes_contact on notes for select to multis_contact
    using (role = any ((select string_to_array(current_setting('multis.scope', true), ','))::text[]) and role ~ '^user:.');
grant select on notes to multis_contact;

-- The planner's statistics of a column are values of it. Of columns that hold texts there are none: what was deleted must not
-- live on there.
alter table messages alter body set statistics 0, alter attachment set statistics 0, alter parked set statistics 0;
alter table outbox alter content set statistics 0, alter spans set statistics 0, alter error set statistics 0;
alter table dialogs alter payload set statistics 0;
alter table escalations alter why set statistics 0;
alter table chunks alter content set statistics 0;
alter table notes alter body set statistics 0, alter was set statistics 0, alter subject set statistics 0;
alter table chat_summaries alter body set statistics 0;
alter table commitments alter what set statistics 0, alter who set statistics 0, alter whom set statistics 0;
alter table tasks alter input set statistics 0, alter request set statistics 0, alter answer set statistics 0, alter error set statistics 0;
alter table task_steps alter arguments set statistics 0, alter text set statistics 0, alter for_user set statistics 0, alter calls set statistics 0,
    alter passages set statistics 0, alter ref set statistics 0, alter handover set statistics 0;
alter table approvals alter arguments set statistics 0;
